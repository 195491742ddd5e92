// Code that works as it stands, for whoever has just made a key.
import type { Snippet } from './ui/bits.tsx'

interface Example {
  /** Beginnings of model names that this example is for. */
  models: RegExp
  model: string
  endpoint: (model: string) => string
  body: (model: string) => unknown
  /** The AI SDK's provider. */
  sdk: { package: string; create: string }
}

/** TABLE of examples by the kind of model; the last one is for whatever no row knows. */
const EXAMPLES: readonly [Example, ...Example[]] = [
  {
    models: /^(?:models\/)?gemini/,
    model: 'gemini-2.5-flash',
    endpoint: (model) => `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent`,
    body: () => ({ contents: [{ parts: [{ text: 'Say hello.' }] }] }),
    sdk: { package: '@ai-sdk/google', create: 'createGoogleGenerativeAI' },
  },
  {
    models: /^claude/,
    model: 'claude-sonnet-4-5',
    endpoint: () => 'https://api.anthropic.com/v1/messages',
    body: (model) => ({ model, max_tokens: 256, messages: [{ role: 'user', content: 'Say hello.' }] }),
    sdk: { package: '@ai-sdk/anthropic', create: 'createAnthropic' },
  },
  {
    models: /^(?:gpt|o\d|chatgpt)/,
    model: 'gpt-5-mini',
    endpoint: () => 'https://api.openai.com/v1/responses',
    body: (model) => ({ model, input: 'Say hello.' }),
    sdk: { package: '@ai-sdk/openai', create: 'createOpenAI' },
  },
]

/** The snippets for a key that may reach these models. */
export function keySnippets(secret: string, models: readonly string[] | null, origin = location.origin): Snippet[] {
  const named = models?.find((model) => EXAMPLES.some(({ models }) => models.test(model)))
  const example = EXAMPLES.find(({ models }) => named !== undefined && models.test(named)) ?? EXAMPLES[0]
  const model = named === undefined || named.includes('*') ? example.model : named
  const gemini = EXAMPLES[0].models.test(model) ? model : EXAMPLES[0].model
  return [
    { title: 'curl', code: curl(secret, example, model, origin) },
    { title: '@proxy-sdk/core', code: core(secret, example, model, origin) },
    { title: '@proxy-sdk/genai', code: wrapped('genai', 'createProxyGenai', secret, gemini, origin) },
    { title: '@proxy-sdk/genai-express', code: wrapped('genai-express', 'createProxyExpress', secret, gemini, origin) },
  ]
}

function curl(secret: string, { endpoint, body }: Example, model: string, origin: string): string {
  return `curl '${origin}/proxy?url=${encodeURIComponent(endpoint(model))}' \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body(model))}'`
}

function core(secret: string, { sdk }: Example, model: string, origin: string): string {
  return lines(
    `import { ${sdk.create} } from '${sdk.package}'`,
    "import { createProxyFetch, PROXY_MANAGED } from '@proxy-sdk/core'",
    "import { streamText } from 'ai'",
    '',
    `const provider = ${sdk.create}({`,
    '  apiKey: PROXY_MANAGED,',
    `  fetch: createProxyFetch({ proxyUrl: '${origin}', apiKey: '${secret}' }),`,
    '})',
    ...call(model),
  )
}

function wrapped(name: string, create: string, secret: string, model: string, origin: string): string {
  return lines(
    `import { ${create} } from '@proxy-sdk/${name}'`,
    "import { streamText } from 'ai'",
    '',
    `const provider = ${create}({ proxyUrl: '${origin}', apiKey: '${secret}' })`,
    ...call(model),
  )
}

function call(model: string): string[] {
  return ['', `const { textStream } = streamText({ model: provider('${model}'), prompt: 'Say hello.' })`, 'for await (const text of textStream) process.stdout.write(text)']
}

const lines = (...all: string[]): string => all.join('\n')
