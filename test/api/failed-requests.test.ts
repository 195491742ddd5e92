// A request that got no response from its provider is a failed one, wherever the API speaks of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { respond, type Script } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import { until } from '../support/until.ts'
import { manager } from '../support/manager.ts'

interface Row {
  id: string
  outcome: string
  status: number | null
  error: string | null
}
interface Health {
  id: string
  health: string
  last_error: { status: number | null; code: string | null; at: string } | null
  credentials: { last_error: Health['last_error'] }[]
}

const CHAT = 'https://api.openai.com/v1/chat/completions'
const BODY = JSON.stringify({ model: 'gpt-5', messages: [] })
const JSON_TYPE = { 'content-type': 'application/json' }

test('a failed request is listed as failed, and its provider is unhealthy until a call succeeds', async (t) => {
  const served = await startServed(t, ({ reset }) => reset(), {
    TOLLMARK_FIRST_BYTE_TIMEOUT: '300ms',
  })
  const { api } = await manager(served)
  const key = await served.key()
  const send = async (script: Script) => {
    served.fake.play(script)
    const sent = await served
      .send(key.secret, CHAT, { method: 'POST', headers: JSON_TYPE, body: BODY })
      .catch(() => null)
    return sent?.status
  }
  const list = async (query: string) =>
    (await api('GET', `requests?${query}`)).json<{ data: Row[] }>().data
  const openai = async () =>
    (await api('GET', 'providers'))
      .json<{ data: Health[] }>()
      .data.find(({ id }) => id === 'openai')!
  const health = async () => {
    const { health, last_error, credentials } = await openai()
    assert.deepEqual(credentials[0]?.last_error, last_error)
    return [health, last_error?.status, last_error?.code]
  }

  assert.deepEqual(await health(), ['healthy', undefined, undefined])
  /**
   * TABLE: what the provider does, what its caller gets, the row, and the provider's health
   * afterwards.
   */
  const cases: [script: Script, status: number, row: Omit<Row, 'id'>, health: unknown[]][] = [
    [
      ({ reset }) => reset(),
      502,
      { outcome: 'failed', status: 502, error: 'upstream_unreachable' },
      ['failing', null, 'upstream_unreachable'],
    ],
    [
      ({ gone }) => gone(),
      504,
      { outcome: 'failed', status: 504, error: 'upstream_timeout' },
      ['failing', null, 'upstream_timeout'],
    ],
    [
      respond(500, JSON_TYPE, '{}'),
      500,
      { outcome: 'failed', status: 500, error: null },
      ['degraded', 500, null],
    ],
    [
      respond(404, JSON_TYPE, '{}'),
      404,
      { outcome: 'failed', status: 404, error: null },
      ['degraded', 500, null],
    ],
    [
      respond(200, JSON_TYPE, '{}'),
      200,
      { outcome: 'succeeded', status: 200, error: null },
      ['healthy', undefined, undefined],
    ],
  ]
  for (const [at, [script, status, row, expected]] of cases.entries()) {
    assert.equal(await send(script), status)
    await until(
      async () => (await list('')).filter(({ outcome }) => outcome !== 'in_progress').length > at,
    )
    const [newest] = await list('limit=1')
    assert.deepEqual({ ...newest, ...row }, newest)
    assert.deepEqual(await health(), expected)
  }
  const rows = (await list('')).map(({ id }) => id)
  /** TABLE: a filter, and the places of the rows that it finds, the newest first. */
  const filters: [query: string, found: number[]][] = [
    ['outcome=failed', [1, 2, 3, 4]],
    ['outcome=succeeded', [0]],
    ['outcome=aborted', []],
    ['outcome=unknown', []],
    ['outcome=in_progress', []],
    ['outcome=failed&state=reserved', []],
    ['outcome=failed&account=all', [1, 2, 3, 4]],
    [`outcome=failed&key=${key.id}&status=5xx`, [2, 3, 4]],
    ['status=502', [4]],
    ['outcome=failed&limit=2', [1, 2]],
  ]
  for (const [query, found] of filters)
    assert.deepEqual(
      (await list(query)).map(({ id }) => rows.indexOf(id)),
      found,
      query,
    )
  assert.equal((await api('GET', 'requests?outcome=broken')).status, 400)
})

test('a provider without a credential is not healthy', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const { data } = (await api('GET', 'providers')).json<{ data: Health[] }>()
  assert.deepEqual(data.find(({ id }) => id === 'mistral')?.health, 'no_credential')
  const member = await manager(served, 'member')
  const shown = (await member.api('GET', 'providers'))
    .json<{ data: Health[] }>()
    .data.find(({ id }) => id === 'openai')
  assert.deepEqual([shown?.health, shown?.last_error], ['healthy', null])
})

test('unreachable providers are listed as needing attention', async (t) => {
  const served = await startServed(t, ({ reset }) => reset())
  const { api } = await manager(served)
  const key = await served.key()
  await served.send(key.secret, CHAT, { method: 'POST', headers: JSON_TYPE, body: BODY })
  const { attention } = (await api('GET', 'overview')).json<{
    attention: { kind: string; provider: string; detail: string }[]
  }>()
  assert.deepEqual(
    attention.map(({ kind, provider }) => [kind, provider]),
    [['provider_unreachable', 'openai']],
  )
  assert.match(attention[0]!.detail, /^OpenAI could not be reached/)
})

test("a provider's error text is kept without our credential", async (t) => {
  const served = await startServed(t, respond(200, {}), {
    OPENAI_API_KEY: 'sk-openai-upstream-secret',
  })
  const { api } = await manager(served)
  const key = await served.key()
  const secret = 'sk-openai-upstream-secret'
  const stars = '*'.repeat(secret.length)
  const text = `{"error":{"message":"Incorrect API key provided: ${secret}."}}`
  const masked = text.replace(secret, stars)
  const cut = `${'x'.repeat(2_040)}${secret}${'y'.repeat(20_000)}`
  /** TABLE: the response of the provider, and what is kept of it. */
  const cases: [script: Script, id: string | null, said: string | null][] = [
    [
      respond(400, { ...JSON_TYPE, 'x-request-id': 'req-of-theirs' }, text),
      'req-of-theirs',
      masked,
    ],
    [
      respond(429, { ...JSON_TYPE, 'request-id': `r-${secret}` }, '{"a":1}'),
      `r-${stars}`,
      '{"a":1}',
    ],
    [respond(400, { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync(text)), null, masked],
    [respond(404, {}, 'é'.repeat(1_500)), null, 'é'.repeat(1_024)],
    [respond(404, {}, cut), null, `${'x'.repeat(2_040)}********`],
    [respond(400, { 'content-encoding': 'br' }, 'no brotli at all'), null, 'no brotli at all'],
    [respond(400, { 'content-encoding': 'foo' }, text), null, null],
    [respond(400, {}, Buffer.from([0xff, 0xfe, 0x00, 0x81])), null, null],
    [respond(403, {}), null, null],
    [respond(200, JSON_TYPE, '{"error":"none"}'), null, null],
    [respond(200, { ...JSON_TYPE, 'Request-Id': 'req_good' }, '{}'), 'req_good', null],
    [
      respond(200, { ...JSON_TYPE, 'x-request-id': `a${secret}` }, '{}'),
      `a${'*'.repeat(secret.length)}`,
      null,
    ],
  ]
  for (const [at, [script, id, said]] of cases.entries()) {
    served.fake.play(script)
    await served.send(key.secret, CHAT, { method: 'POST', headers: JSON_TYPE, body: BODY })
    const settled = async () =>
      (await api('GET', 'requests'))
        .json<{ data: Row[] }>()
        .data.filter(({ outcome }) => outcome !== 'in_progress')
    await until(async () => (await settled()).length === at + 1)
    const response = await api('GET', `requests/${(await settled())[0]!.id}`)
    const { upstream_request_id, upstream_error } = response.json<{
      upstream_request_id: string | null
      upstream_error: string | null
    }>()
    assert.deepEqual([upstream_request_id, upstream_error], [id, said])
    assert.doesNotMatch(response.text, new RegExp(secret))
  }
  const found = (await api('GET', 'requests/req-of-theirs')).json<Row>()
  assert.deepEqual(
    [found.outcome, found.status],
    ['failed', 400],
    'some callers are told that id only',
  )
  const member = await manager(served, 'member')
  assert.equal((await member.api('GET', 'requests/req-of-theirs')).status, 404)
})
