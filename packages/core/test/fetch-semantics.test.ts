// createProxyFetch against the platform's fetch as the oracle: each case runs twice, straight to a
// provider and through the proxy in front of it. The provider must see the same request, and the
// caller the same response or error.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProxyFetch, type Fetch } from '@proxy-sdk/core'
import { chunk, head, type Received, type Script } from '../../../test/support/providers/fake.ts'
import { startProxied } from '../../../test/packages/proxied.ts'
import { until } from '../../../test/support/until.ts'

/** `at` is the provider's origin; `count` how many requests it has had. */
interface Case {
  name: string
  /** What to fetch. */
  call?: (at: string) => Parameters<Fetch>
  /** What to do instead of one fetch; gives what the caller saw. */
  run?: (fetch: Fetch, at: string) => Promise<unknown>
  /** The length of the body is told where the platform does not know it. */
  counted?: true
}

const BYTES = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31 + (i >> 8)) & 255)
const post = (body: RequestInit['body'], headers?: RequestInit['headers']): RequestInit => ({
  method: 'POST',
  ...(body === undefined ? {} : { body }),
  ...(headers === undefined ? {} : { headers }),
})

function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) return controller.close()
      await sleep(1)
      controller.enqueue(encoder.encode(piece))
    },
  })
}

/** A path of the provider to which a form is streamed, and which does not respond. */
const SILENT_UPLOAD = '/v1/files'
/** Other bodies are read completely first, for the objects that they may name. */
const FORM = { 'Content-Type': 'multipart/form-data; boundary=b' }
/** The beginning of a form, after which a file is streamed. */
const FILE_HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
const beginForm = (opened: ReadableStreamDefaultController<Uint8Array>): void =>
  opened.enqueue(new TextEncoder().encode(FILE_HEAD))

/** `duplex` is missing from the types of the DOM. */
const streamed = (stream: ReadableStream<Uint8Array>, init: RequestInit = {}): RequestInit => ({
  method: 'POST',
  body: stream,
  duplex: 'half',
  ...init,
})

function form(): FormData {
  const data = new FormData()
  data.append('model', 'x')
  data.append('file', new Blob([BYTES], { type: 'audio/mpeg' }), 'Grüße.mp3')
  return data
}

/** A signal that aborts when the provider has the request. */
async function abortedOnTheWay(fetch: Fetch, at: string, reason?: unknown): Promise<unknown> {
  const controller = new AbortController()
  const pending = fetch(`${at}/silent`, { signal: controller.signal })
  pending.catch(() => {})
  await arrived('/silent')
  controller.abort(reason)
  return pending
}

/** TABLE of cases. */
const CASES: Case[] = [
  // Addresses.
  { name: 'a string', call: (at) => [`${at}/v1/models`] },
  { name: 'a URL', call: (at) => [new URL(`${at}/v1/models`)] },
  { name: 'a Request', call: (at) => [new Request(`${at}/v1/models`)] },
  {
    name: 'whatever turns into a string',
    call: (at) => [{ toString: () => `${at}/v1/models` } as unknown as string],
  },
  { name: 'no path', call: (at) => [at] },
  { name: 'a query', call: (at) => [`${at}/a?alt=sse&b=1&b=2&empty=&flag`] },
  { name: 'an empty query', call: (at) => [`${at}/a?`] },
  { name: 'a fragment', call: (at) => [`${at}/a?b=1#part?x=1`] },
  { name: 'a fragment of a Request', call: (at) => [new Request(`${at}/a#part`)] },
  {
    name: 'an address that is encoded already',
    call: (at) => [`${at}/a%20b?c=%2Fd%26e%3Df&g=h+i%2Bj`],
  },
  { name: 'an address that is encoded twice', call: (at) => [`${at}/a?b=%252F%2520`] },
  {
    name: 'an address within the query',
    call: (at) => [`${at}/a?next=${encodeURIComponent('https://x.test/?y=1&z=2#w')}`],
  },
  { name: 'characters that the platform encodes', call: (at) => [`${at}/grüße 🙂?q=ä "x" <y>|z`] },
  {
    name: 'characters that the platform leaves',
    call: (at) => [`${at}/models/a:generateContent;v=1,2!$&'()*@~?x=[1]{2}^\`|`],
  },
  { name: 'dots in the path', call: (at) => [`${at}/a/./b/../c/%2e%2e/d`] },
  { name: 'spaces around the address', call: (at) => [`  ${at}/a\n`] },
  { name: 'an address that is none', call: () => ['https://'] },
  { name: 'a relative address', call: () => ['/v1/models'] },
  { name: 'a user name and password', call: (at) => [at.replace('://', '://user:secret@')] },
  { name: 'a data: address', call: () => ['data:text/plain;base64,R3LDvMOfZQ=='] },
  {
    name: 'a blob: address',
    run: async (fetch) =>
      seen(await fetch(URL.createObjectURL(new Blob(['inside'], { type: 'text/x' })))),
  },
  {
    name: 'a blob: address that is gone',
    call: () => ['blob:nodedata:00000000-0000-0000-0000-000000000000'],
  },
  { name: 'a scheme that fetch does not know', call: () => ['ftp://example.test/a'] },

  // Methods.
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method): Case => ({
    name: `${method} without a body`,
    call: (at) => [`${at}/a`, { method }],
  })),
  { name: 'a method in lower case', call: (at) => [`${at}/a`, { method: 'delete' }] },
  { name: 'a method that is forbidden', call: (at) => [`${at}/a`, { method: 'TRACE' }] },
  { name: 'a method that is none', call: (at) => [`${at}/a`, { method: 'A B' }] },
  { name: 'the method of a Request', call: (at) => [new Request(`${at}/a`, { method: 'DELETE' })] },
  {
    name: 'the method of init before that of a Request',
    call: (at) => [new Request(`${at}/a`, { method: 'DELETE' }), { method: 'PUT' }],
  },
  {
    name: 'undefined in init says nothing',
    call: (at) => [
      new Request(`${at}/a`, { method: 'DELETE', headers: { a: '1' } }),
      { method: undefined, headers: undefined, signal: undefined } as unknown as RequestInit,
    ],
  },
  { name: 'null as init', call: (at) => [`${at}/a`, null as unknown as RequestInit] },
  {
    name: 'a Request as init',
    call: (at) => [
      `${at}/a`,
      new Request(`${at}/b`, { method: 'PUT', headers: { 'x-from': 'init' } }),
    ],
  },

  // Bodies.
  { name: 'a text', call: (at) => [`${at}/a`, post('{"a": "Grüße 🙂"}')] },
  {
    name: 'a text with its type',
    call: (at) => [`${at}/a`, post('{}', { 'Content-Type': 'application/json' })],
  },
  { name: 'an empty text', call: (at) => [`${at}/a`, post('')] },
  { name: 'null', call: (at) => [`${at}/a`, post(null)] },
  { name: 'bytes', call: (at) => [`${at}/a`, post(BYTES)] },
  { name: 'part of a buffer', call: (at) => [`${at}/a`, post(BYTES.subarray(100, 200))] },
  { name: 'an ArrayBuffer', call: (at) => [`${at}/a`, post(BYTES.buffer)] },
  { name: 'a DataView', call: (at) => [`${at}/a`, post(new DataView(BYTES.buffer, 5, 50))] },
  { name: 'a Blob', call: (at) => [`${at}/a`, post(new Blob([BYTES], { type: 'audio/MPEG' }))] },
  { name: 'a Blob without a type', call: (at) => [`${at}/a`, post(new Blob([BYTES]))] },
  { name: 'FormData', call: (at) => [`${at}/a`, post(form())] },
  {
    name: 'URLSearchParams',
    call: (at) => [`${at}/a`, post(new URLSearchParams({ a: 'b c', d: 'ä&' }))],
  },
  { name: 'a stream', call: (at) => [`${at}/a`, streamed(streamOf('one', 'two', 'three'))] },
  { name: 'an empty stream', call: (at) => [`${at}/a`, streamed(streamOf())] },
  { name: 'a stream without duplex', call: (at) => [`${at}/a`, post(streamOf('one'))] },
  {
    name: 'a stream that breaks',
    call: (at) => [
      `${at}/a`,
      streamed(
        new ReadableStream({ pull: (controller) => controller.error(new RangeError('broken')) }),
      ),
    ],
  },
  { name: 'a body with GET', call: (at) => [`${at}/a`, { body: 'x' }] },
  {
    name: 'the body of a Request: text',
    call: (at) => [new Request(`${at}/a`, post('{"a":1}'))],
    counted: true,
  },
  {
    name: 'the body of a Request: bytes',
    call: (at) => [new Request(`${at}/a`, post(BYTES))],
    counted: true,
  },
  {
    name: 'the body of a Request: FormData',
    call: (at) => [new Request(`${at}/a`, post(form()))],
    counted: true,
  },
  {
    name: 'the body of a Request: a stream',
    call: (at) => [new Request(`${at}/a`, streamed(streamOf('one', 'two')))],
    counted: true,
  },
  {
    name: 'the body of init before that of a Request',
    call: (at) => [new Request(`${at}/a`, post('old')), { body: 'new' }],
  },
  {
    name: 'FormData in init, a text in the Request',
    call: (at) => [new Request(`${at}/a`, { method: 'POST' }), { body: form() }],
  },
  {
    name: 'null in init leaves the body of a Request',
    call: (at) => [new Request(`${at}/a`, post('kept')), { body: null }],
    counted: true,
  },
  {
    name: 'headers of init, body of a Request',
    call: (at) => [new Request(`${at}/a`, post('x')), { headers: { 'x-a': '1' } }],
    counted: true,
  },
  {
    name: 'a Request that was sent before',
    run: async (fetch, at) => {
      const request = new Request(`${at}/a`, post('once'))
      await fetch(request)
      return fetch(request)
    },
    counted: true,
  },
  {
    name: 'a clone of a Request',
    run: async (fetch, at) => {
      const request = new Request(`${at}/a`, post('twice'))
      await fetch(request.clone())
      return seen(await fetch(request))
    },
    counted: true,
  },
  {
    name: 'a Request with a body as GET',
    call: (at) => [new Request(`${at}/a`, post('x')), { method: 'GET' }],
  },

  // Headers.
  {
    name: 'headers as an object',
    call: (at) => [`${at}/a`, { headers: { 'X-One': '1', accept: 'text/event-stream' } }],
  },
  {
    name: 'headers as pairs, one twice',
    call: (at) => [
      `${at}/a`,
      {
        headers: [
          ['X-One', '1'],
          ['x-one', '2'],
          ['X-Two', ' 3 '],
        ],
      },
    ],
  },
  {
    name: 'headers as Headers',
    call: (at) => [`${at}/a`, { headers: new Headers({ 'x-one': '1' }) }],
  },
  {
    name: 'headers of a Request',
    call: (at) => [new Request(`${at}/a`, { headers: { 'x-one': '1' } })],
  },
  {
    name: 'headers of init instead of those of a Request',
    call: (at) => [
      new Request(`${at}/a`, { headers: { 'x-one': '1' } }),
      { headers: { 'x-two': '2' } },
    ],
  },
  { name: 'a header that is empty', call: (at) => [`${at}/a`, { headers: { 'x-empty': '' } }] },
  { name: 'a header that is none', call: (at) => [`${at}/a`, { headers: { 'x y': '1' } }] },
  {
    name: 'a header value that is none',
    call: (at) => [`${at}/a`, { headers: { 'x-y': '1\n2' } }],
  },
  { name: 'a user agent', call: (at) => [`${at}/a`, { headers: { 'User-Agent': 'ai/7 test' } }] },

  // Aborting.
  { name: 'aborted before', call: (at) => [`${at}/a`, { signal: AbortSignal.abort() }] },
  {
    name: 'aborted before, with a reason',
    call: (at) => [`${at}/a`, { signal: AbortSignal.abort(new RangeError('enough')) }],
  },
  {
    name: 'a Request aborted before',
    call: (at) => [new Request(`${at}/a`, { ...post('x'), signal: AbortSignal.abort('a word') })],
  },
  {
    name: 'null in init frees from the signal of a Request',
    call: (at) => [new Request(`${at}/a`, { signal: AbortSignal.abort() }), { signal: null }],
  },
  { name: 'aborted on the way', run: (fetch, at) => abortedOnTheWay(fetch, at) },
  {
    name: 'aborted on the way, with a reason',
    run: (fetch, at) => abortedOnTheWay(fetch, at, new SyntaxError('no more')),
  },
  {
    name: 'aborted while its stream goes up',
    run: async (fetch, at) => {
      const controller = new AbortController()
      // Node goes on pulling after the abort: the stream ends itself.
      const pull = async (pulled: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
        await sleep(2)
        if (controller.signal.aborted) pulled.close()
        else pulled.enqueue(BYTES.subarray(0, 9))
      }
      const pending = fetch(
        `${at}${SILENT_UPLOAD}`,
        streamed(new ReadableStream({ start: beginForm, pull }), {
          headers: FORM,
          signal: controller.signal,
        }),
      )
      pending.catch(() => {})
      await arrived(SILENT_UPLOAD)
      controller.abort()
      return pending
    },
  },
  {
    name: 'aborted while the response arrives',
    run: async (fetch, at) => {
      const controller = new AbortController()
      const response = await fetch(`${at}/drip`, { signal: controller.signal })
      const reader = response.body!.getReader()
      const first = new TextDecoder().decode((await reader.read()).value)
      controller.abort()
      const error = await reader.read().then(
        () => 'read on',
        (thrown: Error) => thrown.name,
      )
      return [response.status, first, error]
    },
  },
  {
    name: 'a timeout',
    run: (fetch, at) => abortedOnTheWay(fetch, at, new DOMException('too late', 'TimeoutError')),
  },

  // Redirects.
  { name: 'a redirect', call: (at) => [`${at}/to?/landing%3Fa=1`] },
  { name: 'a redirect after POST', call: (at) => [`${at}/to?/landing`, post('x')] },
  {
    name: 'a redirect that keeps method and body',
    call: (at) => [`${at}/keep?/landing`, post('x')],
  },
  {
    name: 'a redirect that would send a stream again',
    call: (at) => [`${at}/keep?/landing`, streamed(streamOf('x'))],
  },
  {
    name: 'redirects that never end',
    call: (at) => [`${at}/to?/to%3F/to`],
    run: async (fetch, at) => seen(await fetch(`${at}/loop`)),
  },
  { name: 'redirect: error', call: (at) => [`${at}/to?/landing`, { redirect: 'error' }] },
  {
    name: 'redirect: manual',
    run: async (fetch, at) => {
      const response = await fetch(`${at}/to?/landing%3Fa=1`, { redirect: 'manual' })
      const { status, type, redirected } = response.clone()
      // A relative address is the proxy's to resolve: what matters is where it leads from what was
      // asked for.
      return {
        status,
        type,
        redirected,
        url: response.url.replace(at, ''),
        to: new URL(response.headers.get('location')!, response.url).href.replace(at, ''),
      }
    },
  },
  {
    name: 'the address of a response',
    run: async (fetch, at) => {
      const response = await fetch(`${at}/a?b=%2Fc&d=e+f`)
      return [response.url.replace(at, ''), response.clone().url.replace(at, '')]
    },
  },
  {
    name: 'the address of a response behind redirects',
    run: async (fetch, at) => {
      const response = await fetch(`${at}/to?/landing%3Fa=1`)
      return [response.url.replace(at, ''), response.redirected]
    },
  },
  {
    name: 'redirect: manual, of a Request',
    run: async (fetch, at) =>
      (await fetch(new Request(`${at}/to?/landing`, { redirect: 'manual' }))).status,
  },

  // Responses.
  { name: 'an error of the provider', call: (at) => [`${at}/status/429`] },
  { name: 'a response without a body', call: (at) => [`${at}/status/204`] },
  { name: 'a response in pieces', call: (at) => [`${at}/pieces`] },
  {
    name: 'a response that breaks off',
    run: async (fetch, at) => {
      const response = await fetch(`${at}/broken`)
      return response.text()
    },
  },
  {
    name: 'options of the cache and the referrer',
    call: (at) => [
      `${at}/a`,
      {
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        integrity: '',
        keepalive: false,
      },
    ],
  },
  {
    name: 'the hash that a body must have',
    call: (at) => [`${at}/a`, { integrity: 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' }],
  },
]

/** The provider: what a path asks for. */
const script: Script = async (call) => {
  const { received } = call
  const [path = '', query = ''] = received.target.split('?', 2)
  if (path === '/silent' || path === SILENT_UPLOAD) return call.gone()
  if (path === '/drip' || path === '/broken') {
    call.write(head(200, { 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' }))
    call.write(chunk('first'))
    if (path === '/broken') {
      await call.pause(10)
      call.reset()
    }
    return call.gone()
  }
  const body = await call.body()
  const reply = (status: number, headers: Record<string, string>, text: string | Buffer): void => {
    call.write(
      head(status, {
        ...headers,
        ...(status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(text)) }),
      }),
    )
    if (received.method !== 'HEAD') call.write(text)
  }
  if (path === '/to' || path === '/keep')
    return reply(path === '/to' ? 302 : 307, { Location: decodeURIComponent(query) }, '')
  if (path === '/loop') return reply(302, { Location: '/loop' }, '')
  if (path.startsWith('/status/'))
    return reply(
      Number(path.slice(8)),
      { 'Content-Type': 'application/json', 'Retry-After-Ms': '20', 'X-Odd': 'kept' },
      path.endsWith('204') ? '' : '{"error":1}',
    )
  if (path === '/pieces') {
    call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) call.write(chunk(piece))
    return call.write('0\r\n\r\n')
  }
  reply(
    200,
    { 'Content-Type': 'text/plain; charset=utf-8', 'X-Method': received.method },
    `${received.method} with ${body.length}`,
  )
}

let arrived: (target: string) => Promise<void> = async () => {}

/** What a caller sees of a response. */
async function seen(response: Response): Promise<unknown> {
  const { status, ok, type, redirected, bodyUsed } = response
  const headers = [...response.headers].filter(
    ([name]) =>
      ![
        'connection',
        'keep-alive',
        'transfer-encoding',
        'x-request-id',
        'x-proxy-request-id',
      ].includes(name),
  )
  return {
    status,
    ok,
    type,
    redirected,
    bodyUsed,
    headers,
    body: Buffer.from(await response.arrayBuffer()).toString('latin1'),
  }
}

/** What happened, an error by its name: messages name addresses, and those differ. */
async function outcome({ call, run }: Case, fetch: Fetch, at: string): Promise<unknown> {
  try {
    return { value: run ? await run(fetch, at) : await seen(await fetch(...call!(at))) }
  } catch (error) {
    return { error: nameOf(error) }
  }
}

function nameOf(error: unknown): unknown {
  return error instanceof Error ? `${error.constructor.name} ${error.name}` : error
}

/** What the provider saw, without what is of the connection, and without the credential. */
function received({ method, target, rawHeaders, body }: Received, counted: boolean): unknown {
  const text = body.toString('latin1')
  const boundary = /^--(\S+)/.exec(text)?.[1]
  const plain = (value: string): string =>
    boundary === undefined ? value : value.replaceAll(boundary, 'BOUNDARY')
  const framing = counted ? ['content-length', 'transfer-encoding'] : []
  const dropped = new Set(['host', 'connection', 'sec-fetch-mode', 'authorization', ...framing])
  const headers: [string, string][] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    headers.push([rawHeaders[i]!.toLowerCase(), plain(rawHeaders[i + 1]!)])
  return {
    method,
    target,
    headers: headers.filter(([name]) => !dropped.has(name)).sort(),
    body: plain(text),
  }
}

test('createProxyFetch is fetch, in every case', async (t) => {
  const proxied = await startProxied(t, script)
  const { fake } = proxied
  arrived = (target) => until(() => fake.requests.some((one) => one.target === target))
  const proxyFetch = createProxyFetch({
    proxyUrl: proxied.proxyUrl,
    apiKey: await proxied.key({ objects: 'upstream' }),
  })
  assert.ok(CASES.length >= 40)
  for (const one of CASES) {
    await t.test(one.name, async () => {
      const once = async (fetch: Fetch, at: string): Promise<unknown> => {
        fake.requests.length = 0
        const what = await outcome(one, fetch, at)
        const counted = one.counted === true
        // An aborted request may have arrived in part, so only its existence is compared.
        return {
          what,
          provider: fake.requests.map((request) =>
            request.bodyAt === null ? request.target : received(request, counted),
          ),
        }
      }
      const wanted = await once(globalThis.fetch, fake.origin)
      assert.deepEqual(await once(proxyFetch, 'https://api.openai.com'), wanted)
    })
  }
})

test('a Request aborted while its body is read is never sent', async (t) => {
  const proxied = await startProxied(t)
  const proxyFetch = createProxyFetch({
    proxyUrl: proxied.proxyUrl,
    apiKey: await proxied.key({ objects: 'upstream' }),
  })
  const controller = new AbortController()
  const stuck = new ReadableStream<Uint8Array>({
    start: (started) => started.enqueue(BYTES.subarray(0, 9)),
  })
  const pending = proxyFetch(
    new Request('https://api.openai.com/v1/files', streamed(stuck, { signal: controller.signal })),
  )
  controller.abort(new RangeError('stuck'))
  await assert.rejects(pending, { name: 'RangeError', message: 'stuck' })
  assert.equal(proxied.wire(), '')
})

test('a stream is sent as it arrives', async (t) => {
  const proxied = await startProxied(t)
  const proxyFetch = createProxyFetch({
    proxyUrl: proxied.proxyUrl,
    apiKey: await proxied.key({ objects: 'upstream' }),
  })
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const pending = proxyFetch(
    'https://api.openai.com/v1/files',
    streamed(readable, { headers: FORM }),
  )
  const write = (text: string) => writer.write(new TextEncoder().encode(text))
  await write(`${FILE_HEAD}the first`)
  await until(() => proxied.wire().includes('the first'))
  await write('\r\n--b--\r\n')
  await writer.close()
  assert.equal(await (await pending).text(), 'ok')
  assert.equal(proxied.fake.requests[0]?.body.toString(), `${FILE_HEAD}the first\r\n--b--\r\n`)
})
