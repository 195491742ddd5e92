// TABLE of what the examples of each provider need: a model, a dialect, an SDK.
import type { Dialect } from './snippet-code.ts'
import type { SDKS } from './snippet-sdks.ts'

/** What the examples of a provider need. */
export interface Row {
  /** The provider's id; null for all others, which speak OpenAI's API. */
  id: string | null
  /** Names of its models. */
  models: RegExp
  /** An optional prefix of the names. */
  prefix?: string
  /** The example's model, if the key allows it. */
  model: string
  /** Other models, for a key that allows only another family. */
  others?: readonly string[]
  dialect: Dialect
  /** The provider's own SDK, or OpenAI's where the provider recommends that. */
  sdk: keyof typeof SDKS
  /** The AI SDK's provider. */
  ai: { package: string; create: string; settings: readonly string[] }
}

const ai = (name: string, create: string, ...settings: string[]): Row['ai'] => ({
  package: name.startsWith('@') ? name : `@ai-sdk/${name}`,
  create,
  settings,
})

/** TABLE of providers, in the order of preference. */
export const ROWS: readonly [Row, ...Row[]] = [
  {
    id: 'google',
    models: /^(?:models\/)?(?:gemini|gemma)/,
    prefix: 'models/',
    model: 'gemini-2.5-flash',
    others: ['gemini-2.5-pro', 'gemini-2.5-flash-lite', 'gemini-2.0-flash', 'gemma-3-27b-it'],
    dialect: 'gemini',
    sdk: 'google',
    ai: ai('google', 'createGoogleGenerativeAI'),
  },
  {
    id: 'openai',
    models: /^(?:gpt|o\d|chatgpt)/,
    model: 'gpt-5-mini',
    others: ['gpt-4o-mini', 'gpt-4.1-mini', 'gpt-5', 'gpt-4o', 'gpt-4.1', 'o4-mini', 'o3'],
    dialect: 'responses',
    sdk: 'responses',
    ai: ai('openai', 'createOpenAI'),
  },
  {
    id: 'anthropic',
    models: /^claude/,
    model: 'claude-sonnet-5',
    others: ['claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-opus-4-5'],
    dialect: 'messages',
    sdk: 'anthropic',
    ai: ai('anthropic', 'createAnthropic'),
  },
  {
    id: 'vertex',
    models: /^(?:publishers\/google\/models\/)?gemini/,
    prefix: 'publishers/google/models/',
    model: 'gemini-2.5-flash',
    dialect: 'gemini',
    sdk: 'vertex',
    ai: ai('google-vertex', 'createVertex'),
  },
  {
    id: 'azure',
    models: /./,
    model: 'gpt-5-mini',
    dialect: 'responses',
    sdk: 'responses',
    ai: ai('azure', 'createAzure'),
  },
  {
    id: 'mistral',
    models: /^(?:mi|co|pi|open-mi|ministral|magistral|devstral)/,
    model: 'mistral-small-latest',
    dialect: 'chat',
    sdk: 'mistral',
    ai: ai('mistral', 'createMistral'),
  },
  {
    id: 'xai',
    models: /^grok/,
    model: 'grok-4',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('xai', 'createXai'),
  },
  {
    id: 'deepseek',
    models: /^deepseek/,
    model: 'deepseek-chat',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('deepseek', 'createDeepSeek'),
  },
  {
    id: 'groq',
    models: /./,
    model: 'llama-3.3-70b-versatile',
    dialect: 'chat',
    sdk: 'groq',
    ai: ai('groq', 'createGroq'),
  },
  {
    id: 'cohere',
    models: /^(?:command|c4ai|aya)/,
    model: 'command-a-03-2025',
    dialect: 'cohere',
    sdk: 'cohere',
    ai: ai('cohere', 'createCohere'),
  },
  {
    id: 'perplexity',
    models: /^sonar/,
    model: 'sonar',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('perplexity', 'createPerplexity'),
  },
  {
    id: 'fireworks',
    models: /^accounts\//,
    model: 'accounts/fireworks/models/llama-v3p3-70b-instruct',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('fireworks', 'createFireworks'),
  },
  {
    id: 'together',
    models: /\//,
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('togetherai', 'createTogetherAI'),
  },
  {
    id: 'openrouter',
    models: /\//,
    model: 'openai/gpt-5-mini',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('@openrouter/ai-sdk-provider', 'createOpenRouter'),
  },
  {
    id: 'cerebras',
    models: /./,
    model: 'llama-3.3-70b',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('cerebras', 'createCerebras'),
  },
  {
    id: 'bedrock',
    models: /\./,
    model: 'amazon.nova-lite-v1:0',
    dialect: 'converse',
    sdk: 'bedrock',
    ai: ai('amazon-bedrock', 'createAmazonBedrock', "region: '<region>',"),
  },
  {
    id: null,
    models: /./,
    model: '',
    dialect: 'chat',
    sdk: 'chat',
    ai: ai('openai-compatible', 'createOpenAICompatible', "name: 'provider',"),
  },
]
