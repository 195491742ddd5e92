// Code that works as it stands, for whoever has just made a key: for a provider that is ready, and
// a model that the key allows.
import type { Key, Model, Provider } from './api/shapes.ts'
import { curl, python, typescript, wrapped, type Dialect, type Snippet } from './snippet-code.ts'

interface Row {
  /** The provider's id; null is every other one, whose server speaks OpenAI's dialect. */
  id: string | null
  /** Names of its models. */
  models: RegExp
  /** What may stand before such a name and means the same. */
  prefix?: string
  /** The model of the example where the key allows it. */
  model: string
  dialect: Dialect
  /** The AI SDK's provider. */
  sdk: { package: string; create: string; settings?: readonly string[] }
}

const sdk = (name: string, create: string, ...settings: string[]): Row['sdk'] =>
  ({ package: `@ai-sdk/${name}`, create, settings })

/** TABLE of providers, in the order in which they are proposed. */
const ROWS: readonly [Row, ...Row[]] = [
  {
    id: 'google', models: /^(?:models\/)?(?:gemini|gemma)/, prefix: 'models/',
    model: 'gemini-2.5-flash', dialect: 'gemini', sdk: sdk('google', 'createGoogleGenerativeAI'),
  },
  {
    id: 'openai', models: /^(?:gpt|o\d|chatgpt)/,
    model: 'gpt-5-mini', dialect: 'responses', sdk: sdk('openai', 'createOpenAI'),
  },
  {
    id: 'anthropic', models: /^claude/,
    model: 'claude-sonnet-5', dialect: 'messages', sdk: sdk('anthropic', 'createAnthropic'),
  },
  {
    id: 'vertex', models: /^(?:publishers\/google\/models\/)?gemini/, prefix: 'publishers/google/models/',
    model: 'gemini-2.5-flash', dialect: 'gemini', sdk: sdk('google-vertex', 'createVertex'),
  },
  {
    id: 'azure', models: /./, model: 'gpt-5-mini', dialect: 'responses',
    sdk: sdk('azure', 'createAzure', "resourceName: '<resource>',"),
  },
  {
    id: 'mistral', models: /^(?:mi|co|pi|open-mi|ministral|magistral|devstral)/,
    model: 'mistral-small-latest', dialect: 'chat', sdk: sdk('mistral', 'createMistral'),
  },
  { id: 'xai', models: /^grok/, model: 'grok-4', dialect: 'chat', sdk: sdk('xai', 'createXai') },
  {
    id: 'deepseek', models: /^deepseek/,
    model: 'deepseek-chat', dialect: 'chat', sdk: sdk('deepseek', 'createDeepSeek'),
  },
  {
    id: 'groq', models: /./,
    model: 'llama-3.3-70b-versatile', dialect: 'chat', sdk: sdk('groq', 'createGroq'),
  },
  {
    id: 'cohere', models: /^(?:command|c4ai|aya)/,
    model: 'command-a-03-2025', dialect: 'cohere', sdk: sdk('cohere', 'createCohere'),
  },
  { id: 'perplexity', models: /^sonar/, model: 'sonar', dialect: 'chat', sdk: sdk('perplexity', 'createPerplexity') },
  {
    id: 'fireworks', models: /^accounts\//, model: 'accounts/fireworks/models/llama-v3p3-70b-instruct',
    dialect: 'chat', sdk: sdk('fireworks', 'createFireworks'),
  },
  {
    id: 'together', models: /\//, model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    dialect: 'chat', sdk: sdk('togetherai', 'createTogetherAI'),
  },
  {
    id: 'cerebras', models: /./,
    model: 'llama-3.3-70b', dialect: 'chat', sdk: sdk('cerebras', 'createCerebras'),
  },
  {
    id: 'bedrock', models: /\./, model: 'amazon.nova-lite-v1:0', dialect: 'converse',
    sdk: sdk('amazon-bedrock', 'createAmazonBedrock', "region: '<region>',"),
  },
  {
    id: null, models: /./, model: '', dialect: 'chat',
    sdk: sdk('openai-compatible', 'createOpenAICompatible', "name: 'provider',", "baseURL: '<base>',"),
  },
]

/** A provider that a key may call, with one of its models. */
export interface Choice {
  provider: Pick<Provider, 'id' | 'name' | 'base' | 'ready'>
  /** In angle brackets where a person has to put one. */
  model: string
  row: Row
}

type Scope = Pick<Key, 'models' | 'providers'>

/**
 * What the snippets of a key can be for, the best first: providers that are ready, and models that
 * are known. Where none of its providers is ready, the ones that could be.
 *
 * @param seen models that requests have named
 */
export function choicesFor(scope: Scope, all: readonly Provider[], seen: readonly Model[]): Choice[] {
  const allowed = all.filter(({ id }) => scope.providers === null || scope.providers.includes(id))
  const choices = allowed.flatMap((provider) => {
    const row = ROWS.find(({ id }) => id === provider.id) ?? ROWS.find(({ id }) => id === null) ?? ROWS[0]
    const known = seen.filter((model) => model.provider === provider.id).map(({ id }) => id)
    const model = modelOf(row, scope.models, known)
    return model === null ? [] : [{ provider, model, row }]
  })
  const ready = choices.filter(({ provider }) => provider.ready)
  const rank = ({ model, row }: Choice): number => (isPlaceholder(model) ? ROWS.length : 0) + ROWS.indexOf(row)
  return (ready.length > 0 ? ready : choices).sort((a, b) => rank(a) - rank(b))
}

/**
 * A model for an example that the key may reach; where we know none, what a person has to put
 * there; null where the key may reach none of that kind.
 */
function modelOf({ models, prefix = '', model }: Row, scope: readonly string[] | null, seen: readonly string[]): string | null {
  const plain = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name)
  if (scope === null) return model || (seen[0] ?? '<a model>')
  const own = scope.filter((entry) => models.test(entry) || /^[*]/.test(entry))
  const named = [...own.filter((entry) => !entry.includes('*')), ...seen]
  const known = [model, ...named].filter((name) => name !== '').map(plain)
  const fitting = (name: string): boolean => scope.some((entry) => fits(entry, name) || fits(entry, prefix + name))
  const allowed = known.find(fitting)
  if (allowed !== undefined) return allowed
  return own[0] === undefined ? null : `<a model like ${plain(own[0])}>`
}

const isPlaceholder = (model: string): boolean => model.startsWith('<')

/** Whether a name fits an entry of a key's models, in which `*` stands for anything. */
function fits(entry: string, name: string): boolean {
  const pieces = entry.split('*')
  const last = pieces.pop() ?? ''
  if (pieces.length === 0) return name === entry
  if (!name.startsWith(pieces[0] ?? '')) return false
  let at = 0
  for (const piece of pieces) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.endsWith(last) && name.length - last.length >= at
}

/** TABLE of packages of ours that wrap a provider whole. */
const PACKAGES: Readonly<Record<string, readonly [name: string, create: string]>> = {
  google: ['genai', 'createProxyGenai'],
  vertex: ['genai-express', 'createProxyExpress'],
}

/** The snippets for a choice, each one complete. @param page the page that calls must come from; null: any */
export function snippetsOf({ provider, model, row }: Choice, secret: string, streaming: boolean, origin: string, page: string | null): Snippet[] {
  const base = provider.base.replaceAll(/\{(\w+)\}/g, '<$1>')
  const call = { origin, secret, base, model, dialect: row.dialect, streaming, page }
  const own = PACKAGES[provider.id]
  return [
    { title: 'curl', code: curl(call) },
    { title: 'TypeScript', code: typescript(call, withBase(row.sdk, base)) },
    { title: 'Python', code: python(call) },
    ...(own === undefined ? [] : [{ title: `@proxy-sdk/${own[0]}`, code: wrapped(call, ...own) }]),
  ]
}

/** The settings of a provider whose address has parts of its own. */
function withBase({ settings = [], ...sdk }: Row['sdk'], base: string) {
  const [, resource = '<resource>'] = /^https:\/\/([\w-]+)\.openai\.azure/.exec(base) ?? []
  const [, region = '<region>'] = /runtime\.([\w-]+)\.amazonaws/.exec(base) ?? []
  const filled = settings.map((line) => line.replace('<base>', base).replace('<resource>', resource).replace('<region>', region))
  return { ...sdk, settings: filled }
}
