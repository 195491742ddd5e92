// Generates code for a call through the proxy: curl, TypeScript and Python, with the provider's
// base URL behind the proxy.
import type { Usage } from './snippet-sdks.ts'

/** A titled piece of code. */
export interface Snippet {
  title: string
  code: string
}

/** The API that generates text. */
export type Dialect = 'gemini' | 'responses' | 'messages' | 'chat' | 'cohere' | 'converse'

/** What a snippet calls: address, key, model and dialect. */
export interface Call {
  /** The proxy's origin. */
  origin: string
  secret: string
  /** The provider's base URL behind the proxy, without a trailing slash. */
  base: string
  model: string
  /** The region in the provider's address, if any. */
  region: string
  dialect: Dialect
  streaming: boolean
  /** The origin that the call must come from, if the key restricts origins. */
  page: string | null
}

const PROMPT = 'Say hello.'

const imported = (what: string, from: string): string => `import { ${what} } from '${from}'`
const chat = (model: string) => ({ model, messages: [{ role: 'user', content: PROMPT }] })
const streamed = (body: object, streaming: boolean): object =>
  streaming ? { ...body, stream: true } : body

interface Shape {
  path: (model: string, streaming: boolean) => string
  /** Headers that the endpoint needs besides the key. */
  headers?: Readonly<Record<string, string>>
  body: (model: string, streaming: boolean) => object
}

/** TABLE of dialects. */
const SHAPES: Readonly<Record<Dialect, Shape>> = {
  gemini: {
    path: (model, streaming) =>
      `/models/${model}:${streaming ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: PROMPT }] }] }),
  },
  responses: {
    path: () => '/responses',
    body: (model, streaming) => streamed({ model, input: PROMPT }, streaming),
  },
  messages: {
    path: () => '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: (model, streaming) => streamed({ max_tokens: 256, ...chat(model) }, streaming),
  },
  chat: {
    path: () => '/chat/completions',
    body: (model, streaming) => streamed(chat(model), streaming),
  },
  cohere: { path: () => '/chat', body: (model, streaming) => streamed(chat(model), streaming) },
  converse: {
    path: (model, streaming) => `/model/${model}/${streaming ? 'converse-stream' : 'converse'}`,
    body: () => ({ messages: [{ role: 'user', content: [{ text: PROMPT }] }] }),
  },
}

function headersOf({ secret, dialect, page }: Call): [string, string][] {
  return [
    ['Authorization', `Bearer ${secret}`],
    ...(page === null ? [] : [['Origin', page] satisfies [string, string]]),
    ['Content-Type', 'application/json'],
    ...Object.entries(SHAPES[dialect].headers ?? {}),
  ]
}

/** Browsers set the Origin header, and scripts cannot change it. */
const onPage = ({ page }: Call): string[] =>
  page === null ? [] : [`// On a page of ${page}: the key works nowhere else.`]

const bodyOf = ({ dialect, model, streaming }: Call): string =>
  JSON.stringify(SHAPES[dialect].body(model, streaming))
const urlOf = ({ base, dialect, model, streaming }: Call): string =>
  base + SHAPES[dialect].path(model, streaming)

/** Quotes a text for a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const lines = (...all: string[]): string => all.join('\n')

/** The call as a curl command. */
export function curl(call: Call): string {
  const headers = headersOf(call).map(([name, value]) => `  -H '${name}: ${value}'`)
  const first = `curl ${call.streaming ? '-N ' : ''}${quoted(urlOf(call))}`
  return [first, ...headers, `  -d ${quoted(bodyOf(call))}`].join(' \\\n')
}

/** The call with the provider's own SDK. @param base the SDK's base URL */
export function withSdk(usage: Usage, base: string, call: Call): string {
  const { imports, create, whole, streamed } = usage
  const values = {
    base: literal(base),
    key: literal(call.secret),
    model: literal(call.model),
    region: literal(call.region),
    write: writeOf(call),
  }
  const text = lines(imports, '', ...create, '', ...(call.streaming ? streamed : whole))
  return text.replaceAll(
    /\{(base|key|model|region|write)\}/g,
    (_, name: keyof typeof values) => values[name],
  )
}

/** The same in TypeScript, which may run in a page. */
export function typescript(usage: Usage, base: string, call: Call): string {
  const code = withSdk(usage, base, call)
  if (call.page === null) return code
  // These SDKs refuse to run in a browser without an option.
  const allowed = /new (?:OpenAI|Anthropic|Groq)\(/.test(code)
  return lines(
    ...onPage(call),
    allowed ? code.replace('\n})', '\n  dangerouslyAllowBrowser: true,\n})') : code,
  )
}

const writeOf = ({ page }: Call): string => (page === null ? 'process.stdout.write' : 'console.log')

interface Provider {
  package: string
  create: string
  settings: readonly string[]
}

/** The call with the AI SDK and a base URL. */
export function aiSdk(
  call: Call,
  { package: name, create, settings }: Provider,
  base: string,
): string {
  return lines(
    ...onPage(call),
    imported(create, name),
    imported(call.streaming ? 'streamText' : 'generateText', 'ai'),
    '',
    `const provider = ${create}({`,
    ...settings.map((line) => `  ${line}`),
    `  baseURL: ${literal(base)},`,
    `  apiKey: ${literal(call.secret)},`,
    '})',
    ...generate(call),
  )
}

/** The call with the AI SDK and our `fetch`, which keeps related requests on one credential. */
export function customFetch(call: Call, { package: name, create, settings }: Provider): string {
  return lines(
    ...onPage(call),
    imported(create, name),
    imported('createProxyFetch, PROXY_MANAGED', '@proxy-sdk/core'),
    imported(call.streaming ? 'streamText' : 'generateText', 'ai'),
    '',
    `const provider = ${create}({`,
    ...settings.map((line) => `  ${line}`),
    '  apiKey: PROXY_MANAGED,',
    '  fetch: createProxyFetch({',
    `    proxyUrl: '${call.origin}',`,
    `    apiKey: '${call.secret}',`,
    "    // Keeps a conversation on one credential, so that the provider's prompt cache stays warm.",
    "    contextKey: 'conversation-1',",
    '  }),',
    '})',
    ...generate(call),
  )
}

/** The call with our package that wraps the provider. */
export function wrapped(call: Call, name: string, create: string): string {
  return lines(
    ...onPage(call),
    imported(create, `@proxy-sdk/${name}`),
    imported(call.streaming ? 'streamText' : 'generateText', 'ai'),
    '',
    `const provider = ${create}({`,
    `  proxyUrl: '${call.origin}',`,
    `  apiKey: '${call.secret}',`,
    '})',
    ...generate(call),
  )
}

function generate(call: Call): string[] {
  const asked = `model: provider(${literal(call.model)}), prompt: '${PROMPT}'`
  return call.streaming
    ? [
        '',
        `const { textStream } = streamText({ ${asked} })`,
        `for await (const text of textStream) ${writeOf(call)}(text)`,
      ]
    : ['', `const { text } = await generateText({ ${asked} })`, 'console.log(text)']
}

/** A string literal for TypeScript and Python. */
const literal = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
