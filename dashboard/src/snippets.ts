// Code that works as it stands, for whoever has just made a key.
import type { Snippet } from './ui/bits.tsx'

interface Example {
  /** Beginnings of model names that this example is for. */
  models: RegExp
  /** What may stand before such a name and means the same. */
  prefix?: string
  model: string
  endpoint: (model: string) => string
  /** What the endpoint wants besides a key and a body. */
  headers?: readonly string[]
  body: (model: string) => unknown
  /** The AI SDK's provider. */
  sdk: { package: string; create: string; settings?: readonly string[] }
}

/** TABLE of examples by the kind of model; the last one is for whatever no row knows. */
const EXAMPLES: readonly [Example, ...Example[]] = [
  {
    models: /^(?:models\/)?gemini/,
    prefix: 'models/',
    model: 'gemini-2.5-flash',
    endpoint: (model) => `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent`,
    body: () => ({ contents: [{ parts: [{ text: 'Say hello.' }] }] }),
    sdk: { package: '@ai-sdk/google', create: 'createGoogleGenerativeAI' },
  },
  {
    models: /^claude/,
    model: 'claude-sonnet-5',
    endpoint: () => 'https://api.anthropic.com/v1/messages',
    headers: ['anthropic-version: 2023-06-01'],
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
  {
    models: /./,
    model: '',
    endpoint: () => 'https://<the provider>/v1/chat/completions',
    body: (model) => ({ model, messages: [{ role: 'user', content: 'Say hello.' }] }),
    sdk: { package: '@ai-sdk/openai-compatible', create: 'createOpenAICompatible', settings: ["name: 'provider',", "baseURL: 'https://<the provider>/v1',"] },
  },
]

/**
 * The snippets for a key.
 *
 * @param scope the models that it may reach; null is every model
 * @param seen models that requests have named
 */
export function keySnippets(secret: string, scope: readonly string[] | null, seen: readonly string[], origin = location.origin): Snippet[] {
  const choices = EXAMPLES.flatMap((example) => {
    const model = modelOf(example, scope, seen)
    return model === null ? [] : [{ example, model }]
  })
  const { example, model } = choices.find(({ model }) => !isPlaceholder(model)) ?? choices[0] ?? { example: EXAMPLES[0], model: EXAMPLES[0].model }
  const gemini = modelOf(EXAMPLES[0], scope, seen) ?? '<a Gemini model that the key allows>'
  return [
    { title: 'curl', code: curl(secret, example, model, origin) },
    { title: '@proxy-sdk/core', code: core(secret, example, model, origin) },
    { title: '@proxy-sdk/genai', code: wrapped('genai', 'createProxyGenai', secret, gemini, origin) },
    { title: '@proxy-sdk/genai-express', code: wrapped('genai-express', 'createProxyExpress', secret, gemini, origin) },
  ]
}

/** A model for an example that the key may reach; where we know none, what a person has to put there; null where the key may reach none of that kind. */
function modelOf({ models, prefix = '', model }: Example, scope: readonly string[] | null, seen: readonly string[]): string | null {
  if (scope === null) return model
  const plain = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name)
  const own = scope.filter((entry) => models.test(entry))
  const known = [model, ...own.filter((entry) => !entry.includes('*')), ...seen.filter((name) => models.test(name))].filter((name) => name !== '').map(plain)
  const allowed = known.find((name) => scope.some((entry) => fits(entry, name) || fits(entry, prefix + name)))
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

function curl(secret: string, { endpoint, headers = [], body }: Example, model: string, origin: string): string {
  // What a person has to put there stays readable.
  const url = encodeURIComponent(endpoint(model)).replaceAll(/%3C.*?%3E/g, decodeURIComponent)
  const all = [`Authorization: Bearer ${secret}`, 'Content-Type: application/json', ...headers].map((header) => `  -H '${header}'`)
  return [`curl ${quoted(`${origin}/proxy?url=${url}`)}`, ...all, `  -d ${quoted(JSON.stringify(body(model)))}`].join(' \\\n')
}

function core(secret: string, { sdk }: Example, model: string, origin: string): string {
  return lines(
    `import { ${sdk.create} } from '${sdk.package}'`,
    "import { createProxyFetch, PROXY_MANAGED } from '@proxy-sdk/core'",
    "import { streamText } from 'ai'",
    '',
    `const provider = ${sdk.create}({`,
    ...(sdk.settings ?? []).map((line) => `  ${line}`),
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

/** A text as one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const lines = (...all: string[]): string => all.join('\n')
