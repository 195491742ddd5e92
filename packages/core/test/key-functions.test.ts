// Keys from a function, which is called for each request, and again if the proxy rejects the first
// key.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { createProxyFetch, type ApiKey } from '@proxy-sdk/core'
import { startProxied } from '../../../test/packages/proxied.ts'

const UPSTREAM = 'https://api.openai.com/v1/models'
const OF_THE_PROXY = { 'X-Proxy-Error': 'invalid_api_key' }

/** A fetch through a proxy that sends these responses in order, and the keys that it has seen. */
function responding(
  apiKey: ApiKey,
  ...responses: [status: number, headers?: Record<string, string>][]
): { fetch: typeof fetch; keys: (string | null)[]; bodies: unknown[] } {
  const keys: (string | null)[] = []
  const bodies: unknown[] = []
  const inner = async (_: unknown, init?: RequestInit): Promise<Response> => {
    keys.push(new Headers(init?.headers).get('Authorization'))
    bodies.push(init?.body)
    const [status, headers] = responses.shift() ?? [200]
    return new Response('a body', { status, headers: headers ?? {} })
  }
  return {
    fetch: createProxyFetch({ proxyUrl: 'https://proxy.test', apiKey, fetch: inner }),
    keys,
    bodies,
  }
}

/** Gives one text after another. */
function oneByOne(...texts: string[]): () => Promise<string> {
  return async () => texts.shift() ?? 'none is left'
}

const signedOut = (): never => {
  throw new RangeError('signed out')
}

describe('a function as the key', () => {
  test('is called for each request', async () => {
    const { fetch, keys } = responding(oneByOne('tmk_1', ' tmk_2\n'))
    await fetch(UPSTREAM)
    await fetch(UPSTREAM)
    assert.deepEqual(keys, ['Bearer tmk_1', 'Bearer tmk_2'])
  })
  test('is called once more when the proxy refuses its key', async () => {
    const { fetch, keys, bodies } = responding(
      oneByOne('tmk_old', 'tmk_new', 'tmk_third'),
      [401, OF_THE_PROXY],
      [401, { 'X-Proxy-Error': 'api_key_expired' }],
    )
    const response = await fetch(UPSTREAM, { method: 'POST', body: 'said twice' })
    assert.deepEqual(
      [response.status, keys, bodies],
      [401, ['Bearer tmk_old', 'Bearer tmk_new'], ['said twice', 'said twice']],
    )
  })
  test('a Request with a body is resent in full', async () => {
    const { fetch, bodies } = responding(oneByOne('tmk_old', 'tmk_new'), [401, OF_THE_PROXY])
    assert.equal(
      (await fetch(new Request(UPSTREAM, { method: 'POST', body: 'whole' }))).status,
      200,
    )
    assert.deepEqual(await Promise.all(bodies.map((body) => (body as Blob).text())), [
      'whole',
      'whole',
    ])
  })

  /**
   * TABLE of responses after which nothing is sent again: the response, the second key, and the
   * body.
   */
  const FINAL: [
    name: string,
    first: [number, Record<string, string>?],
    second: string,
    body?: () => NonNullable<RequestInit['body']>,
  ][] = [
    ['the same key again', [401, OF_THE_PROXY], 'tmk_1'],
    ['no key the second time', [401, OF_THE_PROXY], ''],
    [
      "a 401 of the provider about the operator's credential",
      [401, { 'X-Proxy-Error': 'upstream_credential_rejected' }],
      'tmk_2',
    ],
    ['a 401 without a word', [401], 'tmk_2'],
    ['403', [403, { 'X-Proxy-Error': 'model_not_allowed' }], 'tmk_2'],
    [
      'a stream, which can be sent once',
      [401, OF_THE_PROXY],
      'tmk_2',
      () => new ReadableStream({ start: (controller) => controller.close() }),
    ],
    ["one of Node's streams", [401, OF_THE_PROXY], 'tmk_2', () => Readable.from(['once'])],
  ]
  for (const [name, first, second, body] of FINAL) {
    test(`is not retried: ${name}`, async () => {
      const { fetch, keys } = responding(oneByOne('tmk_1', second), first)
      const response = await fetch(
        UPSTREAM,
        body ? { method: 'POST', body: body(), duplex: 'half' } : {},
      )
      assert.deepEqual(
        [response.status, await response.text(), keys],
        [first[0], 'a body', ['Bearer tmk_1']],
      )
    })
  }
  test('an empty result is an error that says what to do; an exception passes through', async () => {
    await assert.rejects(responding(() => '').fetch(UPSTREAM), /There is no key for the proxy/)
    // As JavaScript passes a variable that is not set.
    const unset = createProxyFetch({
      proxyUrl: 'http://proxy.test',
      apiKey: process.env['NO_SUCH_KEY'] as string,
    })
    await assert.rejects(unset(UPSTREAM), /There is no key for the proxy/)
    await assert.rejects(responding(signedOut).fetch(UPSTREAM), {
      name: 'RangeError',
      message: 'signed out',
    })
  })
})

test('a revoked key is replaced mid-flight, through the real proxy', async (t) => {
  const proxied = await startProxied(t)
  const good = await proxied.key()
  const response = await createProxyFetch({
    proxyUrl: proxied.proxyUrl,
    apiKey: oneByOne('tmk_wrong', good),
  })(UPSTREAM)
  assert.deepEqual(
    [response.status, await response.text(), proxied.fake.requests.length],
    [200, 'ok', 1],
  )
})
