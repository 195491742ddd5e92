// createProxyHandler: a route that adds the key, as the frameworks mount it, before the real
// server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createOpenAI } from '@ai-sdk/openai'
import { getRequestListener } from '@hono/node-server'
import {
  createProxyFetch,
  createProxyHandler,
  PROXY_MANAGED,
  type Authorization,
  type ProxyHandlerConfig,
} from '@proxy-sdk/core'
import { generateText, streamText } from 'ai'
import { Hono } from 'hono'
import { respond, head, type Script } from '../support/providers/fake.ts'
import { until } from '../support/until.ts'
import { providers } from './responses.ts'
import { startProxied } from './proxied.ts'

type Handler = (request: Request) => Promise<Response>

/** TABLE of how frameworks mount it: what serves requests below /api/ai. */
const MOUNTS: Record<
  string,
  (handler: Handler) => (request: Request) => Response | Promise<Response>
> = {
  'a fetch handler, as of Workers, Bun and Deno': (handler) => (request) =>
    new URL(request.url).pathname.startsWith('/api/ai/')
      ? handler(request)
      : new Response(null, { status: 404 }),
  Hono: (handler) =>
    new Hono()
      .all('/api/ai/proxy', ({ req }) => handler(req.raw))
      .all('/api/ai/proxy/*', ({ req }) => handler(req.raw)).fetch,
}

async function serve(
  t: TestContext,
  fetch: (request: Request) => Response | Promise<Response>,
): Promise<string> {
  const listener = getRequestListener(fetch)
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing)).listen(
    0,
    '127.0.0.1',
  )
  t.after(() => (server.closeAllConnections(), server.close()))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function start(t: TestContext, script: Script, config: Partial<ProxyHandlerConfig> = {}) {
  const proxied = await startProxied(t, script)
  const key = await proxied.key()
  const handler = createProxyHandler({
    proxyUrl: proxied.proxyUrl,
    apiKey: key,
    authorize: () => true,
    ...config,
  })
  const page = await serve(t, handler)
  return {
    proxied,
    key,
    page,
    handler,
    ask: (init: RequestInit = {}, url = CHAT) =>
      fetch(`${page}/api/ai/proxy?url=${encodeURIComponent(url)}`, init),
  }
}

const CHAT = 'https://api.openai.com/v1/chat/completions'
const BODY = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: '{"model":"gpt-5","messages":[]}',
}

for (const [name, mount] of Object.entries(MOUNTS)) {
  test(`the AI SDK through ${name}, by fetch and by base URL`, async (t) => {
    const { proxied, key, handler } = await start(t, providers())
    const page = await serve(t, mount(handler))
    const byFetch = createOpenAI({
      apiKey: PROXY_MANAGED,
      fetch: createProxyFetch({ proxyUrl: `${page}/api/ai`, apiKey: PROXY_MANAGED }),
    })
    const byBase = createOpenAI({
      apiKey: PROXY_MANAGED,
      baseURL: `${page}/api/ai/proxy/api.openai.com/v1`,
    })
    for (const openai of [byFetch, byBase]) {
      assert.equal(
        (await generateText({ model: openai.chat('gpt-5'), prompt: 'Hello' })).text,
        'Hello',
      )
      assert.equal(await streamText({ model: openai.chat('gpt-5'), prompt: 'Hello' }).text, 'Hello')
    }
    assert.equal(proxied.wire().split(`Bearer ${key}`).length - 1, 4)
    assert.ok(!proxied.wire().includes(PROXY_MANAGED))
  })
}

/**
 * TABLE of what `authorize` may say: the status, and the key that the proxy sees, where it sees
 * any.
 */
const AUTHORIZATIONS: [what: string, authorization: Authorization, status: number, key?: string][] =
  [
    ['no', false, 401],
    ['a response of its own', new Response('Sign in first.', { status: 403 }), 403],
    ['a key of its own', { apiKey: 'tmk_AAAAAAAAAAAA_wrong' }, 401, 'tmk_AAAAAAAAAAAA_wrong'],
    ['a context key', { contextKey: 'Zoë' }, 200],
  ]

test('authorize decides about every request', async (t) => {
  const cases = Object.fromEntries(
    AUTHORIZATIONS.map(([what, authorization]) => [what, authorization]),
  )
  const { proxied, ask, key } = await start(t, respond(200, {}, 'ok'), {
    authorize: async ({ headers }) => cases[headers.get('X-Case') ?? '']!,
  })
  for (const [what, , status, seen] of AUTHORIZATIONS) {
    const before = proxied.wire().length
    const response = await ask({ ...BODY, headers: { ...BODY.headers, 'X-Case': what } })
    assert.equal(response.status, status, what)
    await response.text()
    const sent = proxied.wire().slice(before)
    if (status === 200) assert.match(sent, /x-proxy-context-key: Zo%C3%AB\r\n/i)
    assert.equal(/authorization: Bearer (\S+)/i.exec(sent)?.[1], status === 200 ? key : seen, what)
  }
})

test("the caller's cookies, credentials and addresses are not forwarded", async (t) => {
  const { proxied, ask } = await start(t, respond(200, {}, 'ok'))
  const own = {
    Cookie: 'session=secret1',
    Authorization: 'Bearer secret2',
    'X-Api-Key': 'secret3',
    'X-Forwarded-For': '203.0.113.9',
    Forwarded: 'for=203.0.113.9',
    'X-Title': 'kept',
  }
  assert.equal((await ask({ ...BODY, headers: { ...BODY.headers, ...own } })).status, 200)
  assert.doesNotMatch(proxied.wire(), /secret|203\.0\.113/)
  assert.match(proxied.wire(), /x-title: kept/i)
})

test("paths other than the proxy's are not forwarded", async (t) => {
  const { proxied, page } = await start(t, respond(200, {}, 'ok'))
  for (const path of [
    '/',
    '/api/ai',
    '/api/ai/proxyx',
    '/api/ai/proxy/../v1/keys',
    '/api/ai/proxy/%2e%2e/api/v1/keys',
  ])
    assert.equal((await fetch(`${page}${path}`)).status, 404, path)
  assert.equal(proxied.wire(), '')
})

test('a redirect leads back through the route', async (t) => {
  const { page, ask } = await start(
    t,
    respond(302, { Location: 'https://api.openai.com/v1/elsewhere' }, ''),
  )
  const response = await ask({ redirect: 'manual' })
  assert.equal(response.status, 302)
  assert.equal(new URL(response.headers.get('Location') ?? '', page).pathname, '/api/ai/proxy')
})

test('a response compressed without being asked for is labelled correctly', async (t) => {
  const { ask } = await start(
    t,
    respond(
      200,
      { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain' },
      gzipSync('plain text'),
    ),
  )
  const response = await ask(BODY)
  assert.equal(await response.text(), 'plain text')
})

test('a disconnect by the caller reaches the provider', async (t) => {
  let gone = false
  const { ask } = await start(t, async (call) => {
    await call.body()
    call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
    await call.gone()
    gone = true
  })
  const leaving = new AbortController()
  await ask({ ...BODY, signal: leaving.signal })
  leaving.abort()
  await until(() => gone)
})

test("an unreachable proxy is 502 in the provider's error format", async (t) => {
  const page = await serve(
    t,
    createProxyHandler({ proxyUrl: 'http://127.0.0.1:9', apiKey: 'tmk_x', authorize: () => true }),
  )
  const openai = createOpenAI({ apiKey: PROXY_MANAGED, baseURL: `${page}/proxy/api.openai.com/v1` })
  await assert.rejects(
    generateText({ model: openai.chat('gpt-5'), prompt: 'Hello', maxRetries: 0 }),
    { statusCode: 502, message: 'The proxy does not answer. Try again in a moment.' },
  )
})

test('a route that admits everyone cannot be created by mistake', () => {
  const config: object = { proxyUrl: 'https://ai.example.com', apiKey: 'tmk_x' }
  assert.throws(
    () => createProxyHandler(config as ProxyHandlerConfig),
    /`authorize` must be a function/,
  )
})
