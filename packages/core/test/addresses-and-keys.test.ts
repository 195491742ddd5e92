// Where createProxyFetch sends requests, and what it keeps of the caller's. The inner fetch only
// records its arguments.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createManagedFetch,
  createProxyFetch,
  DEFAULT_PROXY_URL,
  PROXY_MANAGED,
  type Fetch,
  type ManagedFetchConfig,
  type ProxyFetchConfig,
} from '@proxy-sdk/core'
import { respond, startFake } from '../../../test/support/providers/fake.ts'
import { startProxied } from '../../../test/packages/proxied.ts'

const KEY = 'tmk_test'
const UPSTREAM = 'https://api.openai.com/v1/models'

interface Sent {
  address: string
  headers: Record<string, string>
  input: unknown
  init: RequestInit | undefined
}

/** A proxy fetch, and the requests that it has sent. */
function recording(
  config: Partial<ProxyFetchConfig> = {},
  create: (config: ProxyFetchConfig) => Fetch = createProxyFetch,
): { fetch: Fetch; sent: Sent[] } {
  const sent: Sent[] = []
  const inner: Fetch = async (input, init) => {
    sent.push({
      address: String(input),
      headers: Object.fromEntries(new Headers(init?.headers)),
      input,
      init,
    })
    return new Response('ok')
  }
  return {
    fetch: create({ proxyUrl: 'https://proxy.test', apiKey: KEY, fetch: inner, ...config }),
    sent,
  }
}

const through = (address: string, base = 'https://proxy.test'): string =>
  `${base}/proxy?url=${encodeURIComponent(address)}`

describe('proxyUrl', () => {
  /** TABLE: as it is given, and where it leads. */
  const GOOD: [given: string, base: string][] = [
    ['https://proxy.test', 'https://proxy.test'],
    ['https://proxy.test/', 'https://proxy.test'],
    ['https://proxy.test///', 'https://proxy.test'],
    ['https://proxy.test/api/ai', 'https://proxy.test/api/ai'],
    ['https://proxy.test/api/ai/', 'https://proxy.test/api/ai'],
    ['https://proxy.test/proxy', 'https://proxy.test/proxy'],
    ['https://proxy.test/a b/ä', 'https://proxy.test/a%20b/%C3%A4'],
    ['https://proxy.test/a?x=1#y', 'https://proxy.test/a'],
    ['  HTTPS://Proxy.Test:443/x\n', 'https://proxy.test/x'],
    ['http://localhost:8484', 'http://localhost:8484'],
    ['http://[::1]:8484', 'http://[::1]:8484'],
  ]
  for (const [given, base] of GOOD) {
    test(JSON.stringify(given), async () => {
      const { fetch, sent } = recording({ proxyUrl: given })
      await fetch(UPSTREAM)
      assert.equal(sent[0]?.address, through(UPSTREAM, base))
    })
  }
  for (const given of [
    '',
    '/api/ai',
    'proxy.test',
    'localhost:8484',
    'ftp://proxy.test',
    'https://',
    'https://user:secret@proxy.test',
  ]) {
    test(`${JSON.stringify(given)} is none outside a browser`, async () => {
      const { fetch, sent } = recording({ proxyUrl: given })
      await assert.rejects(
        fetch(UPSTREAM),
        (error: Error) =>
          error instanceof TypeError &&
          error.message.startsWith('`proxyUrl` must be') &&
          !error.message.includes('secret'),
      )
      assert.deepEqual(sent, [])
    })
  }
})

describe('what is not proxied', () => {
  test('an address at the proxy is not wrapped again and gets the key', async () => {
    const { fetch, sent } = recording({ proxyUrl: 'https://proxy.test/api' })
    for (const address of [
      through(UPSTREAM, 'https://proxy.test/api'),
      'https://proxy.test/api/proxy?url=x&y',
      'https://proxy.test/api/proxy/api.openai.com/v1/models?limit=1',
    ]) {
      await fetch(address, { headers: { Authorization: 'Bearer theirs' } })
      assert.deepEqual(
        [sent.at(-1)?.address, sent.at(-1)?.headers],
        [address, { authorization: `Bearer ${KEY}` }],
      )
    }
  })
  test("anything else of the proxy's origin passes untouched, without the key", async () => {
    const { fetch, sent } = recording()
    const init = { headers: { Authorization: 'Bearer tmt_token' } }
    for (const address of [
      'https://proxy.test/api/v1/usage',
      'https://proxy.test/proxyx',
      'https://proxy.test/x/proxy/api.openai.com/v1',
      'https://proxy.test:443/',
    ])
      await fetch(address, init)
    assert.ok(sent.every((one) => one.init === init))
    await fetch('https://proxy.test:8443/', init)
    assert.equal(sent.at(-1)?.address, through('https://proxy.test:8443/'))
  })
  test('data: and blob: pass untouched', async () => {
    const { fetch, sent } = recording({ proxyUrl: 'nowhere', apiKey: '' })
    for (const address of ['data:,x', 'blob:https://app.test/1', 'about:blank']) {
      await fetch(address)
      assert.equal(sent.at(-1)?.input, address)
    }
  })
  test('addresses in `bypass` pass untouched', async () => {
    const { fetch, sent } = recording({ bypass: ({ hostname }) => hostname === 'files.test' })
    const request = new Request('https://files.test/a', { method: 'POST', body: 'x' })
    await fetch(request)
    assert.equal(sent[0]?.input, request)
    await fetch(UPSTREAM)
    assert.equal(sent[1]?.address, through(UPSTREAM))
  })
})

describe('credentials', () => {
  test("the provider's credentials are dropped from every place", async () => {
    const { fetch, sent } = recording()
    const headers = {
      Authorization: 'Bearer sk-theirs',
      'X-API-Key': 'sk-theirs',
      'api-key': 'sk-theirs',
      'x-goog-api-key': 'sk-theirs',
      'x-amz-security-token': 'sk-theirs',
      'proxy-authorization': 'sk-theirs',
      'xi-api-key': 'sk-theirs',
      'x-key': 'sk-theirs',
      'X-Gladia-Key': 'sk-theirs',
      'x-hume-api-key': 'sk-theirs',
      'x-any': `Key ${PROXY_MANAGED}`,
      'anthropic-version': '2023-06-01',
    }
    await fetch(
      `https://generativelanguage.googleapis.com/v1/a?key=sk-theirs&alt=sse&Access_Token=sk-theirs&k=${PROXY_MANAGED}&api-key=sk-theirs`,
      { headers },
    )
    assert.deepEqual(sent[0]?.headers, {
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${KEY}`,
    })
    assert.equal(
      sent[0]?.address,
      through('https://generativelanguage.googleapis.com/v1/a?alt=sse'),
    )
    await fetch('https://generativelanguage.googleapis.com/v1/a?key=sk-theirs')
    assert.equal(sent[1]?.address, through('https://generativelanguage.googleapis.com/v1/a'))
  })
  test('a query without credentials keeps its bytes', async () => {
    const { fetch, sent } = recording()
    for (const query of ['?monkey=1', '?a&&b=', '?', '?keys=1&KEYNOTE=2', '?%6bey2=1']) {
      await fetch(UPSTREAM + query)
      assert.equal(sent.at(-1)?.address, through(UPSTREAM + query))
    }
  })
  test('a key with white space around it is the key', async () => {
    const { fetch, sent } = recording({ apiKey: ` ${KEY}\n` })
    await fetch(UPSTREAM)
    assert.equal(sent[0]?.headers['authorization'], `Bearer ${KEY}`)
  })
  test('PROXY_MANAGED as the key sends no key', async () => {
    const { fetch, sent } = recording({ apiKey: PROXY_MANAGED })
    await fetch(UPSTREAM, { headers: { Authorization: `Bearer ${PROXY_MANAGED}` } })
    assert.deepEqual(sent[0]?.headers, {})
  })
  test('without a key, the first call fails and says what to do', async () => {
    const { fetch, sent } = recording({ apiKey: '' })
    await assert.rejects(fetch(UPSTREAM), /`apiKey`.*NEXT_PUBLIC_AI_PROXY_KEY/)
    assert.deepEqual(sent, [])
  })
})

test('a redirect to another origin gets no key', async (t) => {
  const proxied = await startProxied(t)
  const elsewhere = await startFake(respond(200, {}, 'stored elsewhere'))
  t.after(() => elsewhere.close())
  proxied.fake.play(respond(302, { Location: `${elsewhere.origin}/blob` }))
  const response = await createProxyFetch({
    proxyUrl: proxied.proxyUrl,
    apiKey: await proxied.key(),
  })(UPSTREAM)
  assert.equal(await response.text(), 'stored elsewhere')
  assert.doesNotMatch(
    JSON.stringify(elsewhere.requests.map(({ rawHeaders }) => rawHeaders)),
    /tmk_|authorization/i,
  )
})

test("the context key is sent; a request's own context key takes precedence", async () => {
  const { fetch, sent } = recording({ contextKey: 'chat 42 – Grüße 🙂\n' })
  await fetch(UPSTREAM)
  await fetch(UPSTREAM, { headers: { 'x-proxy-context-key': 'mine' } })
  assert.deepEqual(
    sent.map(({ headers }) => headers['x-proxy-context-key']),
    ['chat 42 %E2%80%93 Gr%C3%BC%C3%9Fe %F0%9F%99%82%0A', 'mine'],
  )
})

test('options that a runtime adds to `init` pass through', async () => {
  const { fetch, sent } = recording()
  await fetch(UPSTREAM, {
    cf: { cacheTtl: 1 },
    next: { revalidate: 1 },
    priority: 'high',
  } as RequestInit)
  assert.deepEqual(sent[0]?.init, {
    cf: { cacheTtl: 1 },
    next: { revalidate: 1 },
    priority: 'high',
    headers: sent[0]?.init?.headers,
  })
})

test("the inner fetch is called without a receiver, as a browser's must be", async () => {
  const receivers: unknown[] = []
  const inner = async function (this: unknown): Promise<Response> {
    receivers.push(this)
    return new Response('ok')
  }
  await createProxyFetch({ proxyUrl: 'https://proxy.test', apiKey: KEY, fetch: inner })(UPSTREAM)
  assert.deepEqual(receivers, [undefined])
})

/** What it sends in the current environment. */
const send = async (
  config: Partial<ProxyFetchConfig> = {},
): Promise<[string | undefined, string | undefined]> => {
  const { fetch, sent } = recording(
    { proxyUrl: undefined, apiKey: undefined, ...config } as Partial<ProxyFetchConfig>,
    createManagedFetch,
  )
  await fetch(UPSTREAM)
  return [sent[0]?.address, sent[0]?.headers['authorization']]
}

describe('createManagedFetch', () => {
  const { env } = process
  const restore = (): void => {
    delete env['NEXT_PUBLIC_AI_PROXY_KEY']
    delete env['NEXT_PUBLIC_AI_PROXY_URL']
    globalThis.process.env = env
  }
  test('reads the environment when it is called', async (t) => {
    t.after(restore)
    const { fetch, sent } = recording({ proxyUrl: '', apiKey: '' }, createManagedFetch)
    await assert.rejects(fetch(UPSTREAM), /NEXT_PUBLIC_AI_PROXY_KEY/)
    env['NEXT_PUBLIC_AI_PROXY_KEY'] = 'tmk_environment'
    assert.deepEqual(await send(), [through(UPSTREAM, DEFAULT_PROXY_URL), 'Bearer tmk_environment'])
    env['NEXT_PUBLIC_AI_PROXY_URL'] = 'https://other.test/'
    assert.deepEqual(await send(), [
      through(UPSTREAM, 'https://other.test'),
      'Bearer tmk_environment',
    ])
    assert.deepEqual(await send({ proxyUrl: 'https://given.test', apiKey: 'tmk_given' }), [
      through(UPSTREAM, 'https://given.test'),
      'Bearer tmk_given',
    ])
    await fetch(UPSTREAM)
    assert.equal(
      sent[0]?.address,
      through(UPSTREAM, 'https://other.test'),
      'the key is looked for again after it was missing',
    )
  })
  test('a runtime without process or process.env does not crash', async (t) => {
    const { process } = globalThis
    t.after(() => {
      globalThis.process = process
      restore()
    })
    for (const missing of [undefined, {}] as unknown as NodeJS.Process[]) {
      globalThis.process = missing
      const outcome = await Promise.all([
        send().catch((error: Error) => error.message),
        send({ apiKey: KEY }),
      ])
      globalThis.process = process
      assert.match(String(outcome[0]), /There is no key/)
      assert.deepEqual(outcome[1], [through(UPSTREAM, DEFAULT_PROXY_URL), `Bearer ${KEY}`])
    }
  })
  test("the AI SDK's error names a default address where nothing listens", async () => {
    const refused = new TypeError('fetch failed', {
      cause: new Error('connect ECONNREFUSED 127.0.0.1:8484'),
    })
    const unreachable = async (): Promise<Response> => Promise.reject(refused)
    const failure = async (config: ManagedFetchConfig): Promise<Error> =>
      createManagedFetch({ apiKey: KEY, fetch: unreachable, ...config })(UPSTREAM).then(
        () => assert.fail(),
        (error: Error) => error,
      )
    const error = await failure({})
    assert.equal(error.message, 'fetch failed')
    assert.match(
      String(error.cause),
      /ECONNREFUSED 127.0.0.1:8484. No proxy answers at http:\/\/localhost:8484, the default. Pass `proxyUrl`, or set NEXT_PUBLIC_AI_PROXY_URL/,
    )
    assert.equal(await failure({ proxyUrl: 'https://given.test' }), refused)
    const aborted = new DOMException('stop', 'AbortError')
    assert.equal(await failure({ fetch: () => Promise.reject(aborted) }), aborted)
  })
})
