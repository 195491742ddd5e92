// One call through the proxy, written for a shell, for TypeScript and for Python.

export interface Snippet {
  title: string
  code: string
}

/** How a provider is asked for text. */
export type Dialect = 'gemini' | 'responses' | 'messages' | 'chat' | 'cohere' | 'converse'

export interface Call {
  /** The proxy's own. */
  origin: string
  secret: string
  /** The provider's base address, without a slash at its end. */
  base: string
  model: string
  dialect: Dialect
  streaming: boolean
  /** The page that the call must come from, where the key is for some only. */
  page: string | null
}

const PROMPT = 'Say hello.'

const imported = (what: string, from: string): string => `import { ${what} } from '${from}'`
const chat = (model: string) => ({ model, messages: [{ role: 'user', content: PROMPT }] })
const streamed = (body: object, streaming: boolean): object => (streaming ? { ...body, stream: true } : body)

interface Shape {
  path: (model: string, streaming: boolean) => string
  /** What the endpoint wants besides a key and a body. */
  headers?: Readonly<Record<string, string>>
  body: (model: string, streaming: boolean) => object
}

/** TABLE of dialects. */
const SHAPES: Readonly<Record<Dialect, Shape>> = {
  gemini: {
    path: (model, streaming) => `/models/${model}:${streaming ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
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
  chat: { path: () => '/chat/completions', body: (model, streaming) => streamed(chat(model), streaming) },
  cohere: { path: () => '/chat', body: (model, streaming) => streamed(chat(model), streaming) },
  converse: {
    path: (model, streaming) => `/model/${model}/${streaming ? 'converse-stream' : 'converse'}`,
    body: () => ({ messages: [{ role: 'user', content: [{ text: PROMPT }] }] }),
  },
}

const upstreamOf = ({ base, dialect, model, streaming }: Call): string => base + SHAPES[dialect].path(model, streaming)

function headersOf({ secret, dialect, page }: Call): [string, string][] {
  return [
    ['Authorization', `Bearer ${secret}`],
    ...(page === null ? [] : [['Origin', page] satisfies [string, string]]),
    ['Content-Type', 'application/json'],
    ...Object.entries(SHAPES[dialect].headers ?? {}),
  ]
}

/** A browser names the page by itself, and lets no script name another. */
const onPage = ({ page }: Call): string[] => (page === null ? [] : [`// On a page of ${page}: the key works nowhere else.`])

const bodyOf = ({ dialect, model, streaming }: Call): string => JSON.stringify(SHAPES[dialect].body(model, streaming))

/** A text as one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const lines = (...all: string[]): string => all.join('\n')

export function curl(call: Call): string {
  // What a person has to put there stays readable.
  const url = encodeURIComponent(upstreamOf(call)).replaceAll(/%3C.*?%3E/g, decodeURIComponent)
  const headers = headersOf(call).map(([name, value]) => `  -H '${name}: ${value}'`)
  const first = `curl ${call.streaming ? '-N ' : ''}${quoted(`${call.origin}/proxy?url=${url}`)}`
  return [first, ...headers, `  -d ${quoted(bodyOf(call))}`].join(' \\\n')
}

interface Sdk {
  package: string
  create: string
  settings: readonly string[]
}

/** With the provider of the AI SDK, which `@proxy-sdk/core` leads through the proxy. */
export function typescript(call: Call, { package: name, create, settings }: Sdk): string {
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
    '  }),',
    '})',
    ...generate(call),
  )
}

/** With a package of ours that wraps a provider whole. */
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

function generate({ model, streaming, page }: Call): string[] {
  const shown = page === null ? 'process.stdout.write(text)' : 'console.log(text)'
  const asked = `model: provider(${literal(model)}), prompt: '${PROMPT}'`
  return streaming
    ? ['', `const { textStream } = streamText({ ${asked} })`, `for await (const text of textStream) ${shown}`]
    : ['', `const { text } = await generateText({ ${asked} })`, 'console.log(text)']
}

/** A text as TypeScript and Python write it. */
const literal = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`

/** With `requests`, which encodes the provider's address itself. */
export function python(call: Call): string {
  const headers = headersOf(call).filter(([name]) => name !== 'Content-Type')
  const sent = [
    `    '${call.origin}/proxy',`,
    `    params={'url': ${literal(upstreamOf(call))}},`,
    '    headers={',
    ...headers.map(([name, value]) => `        '${name}': '${value}',`),
    '    },',
    `    json=${pythonOf(SHAPES[call.dialect].body(call.model, call.streaming))},`,
  ]
  return call.streaming
    ? lines(
        'import requests',
        '',
        'with requests.post(',
        ...sent,
        '    stream=True,',
        ') as response:',
        '    response.raise_for_status()',
        '    for line in response.iter_lines(decode_unicode=True):',
        '        print(line)',
      )
    : lines('import requests', '', 'response = requests.post(', ...sent, ')', 'response.raise_for_status()', 'print(response.json())')
}

/** A JSON value as Python writes it. */
function pythonOf(value: unknown): string {
  if (typeof value === 'string') return literal(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value).map(([name, one]) => `${literal(name)}: ${pythonOf(one)}`).join(', ')}}`
}
