// Requests that the proxy refused: listed, counted, and found by the id that their caller was told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../support/harness.ts'
import { respond, headerOf } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import { call as send } from '../proxy/support/relayed.ts'
import { until } from '../support/until.ts'
import { manager } from '../support/manager.ts'

interface Refusal {
  id: string
  object: string
  code: string
  detail: string
  status: number
  key_id: string
  key_name: string
  provider: string | null
  model: string | null
  outcome: string
  count: number
}
interface Refusals {
  data: Refusal[]
  next_cursor: string | null
  total: number
  by_code: { code: string; count: number }[]
}

const CHAT = 'https://api.openai.com/v1/chat/completions'
const JSON_TYPE = { 'content-type': 'application/json' }
const body = (model: string) => JSON.stringify({ model, messages: [] })

test('a refused request is listed, counted and found by its id; one that passes is not', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), { TOLLMARK_MAX_BODY: '2KB' })
  const { api } = await manager(served)
  const member = await manager(served, 'member')
  const [scoped, limited, disabled, expired, old] = [
    await served.key({ name: 'scoped', models: ['gpt-5'] }),
    await served.key({ name: 'limited', rpm: 1 }),
    await served.key({ name: 'off' }),
    await served.key({ name: 'late', expires_at: 1 }),
    await served.key({ name: 'gone' }),
  ]
  await api('PATCH', `keys/${disabled.id}`, { status: 'disabled' })
  await api('DELETE', `keys/${old.id}`)
  const ask = async (secret: string, address: string, sent: object = {}) => {
    const got = await served.send(secret, address, {
      method: 'POST',
      headers: JSON_TYPE,
      body: body('gpt-5'),
      ...sent,
    })
    return {
      status: got.status,
      code: headerOf(got.rawHeaders, 'x-proxy-error'),
      id: headerOf(got.rawHeaders, 'x-request-id')!,
    }
  }
  const passed = await ask(limited.secret, CHAT)
  assert.equal(passed.status, 200)
  /** TABLE: what is sent, and what it is refused for. */
  const cases: [
    who: { id: string; name: string; secret: string },
    address: string,
    sent: object,
    status: number,
    code: string,
    of: Partial<Refusal>,
  ][] = [
    [
      scoped,
      CHAT,
      { body: body('o3') },
      403,
      'model_not_allowed',
      { provider: 'openai', model: 'o3' },
    ],
    [
      scoped,
      'https://elsewhere.example/v1',
      {},
      403,
      'upstream_not_allowed',
      { provider: null, model: null },
    ],
    [
      scoped,
      'https://api.mistral.ai/v1/chat/completions',
      {},
      502,
      'upstream_credential_missing',
      { provider: 'mistral', model: 'gpt-5' },
    ],
    [scoped, 'ftp://api.openai.com/', {}, 400, 'invalid_upstream_url', { provider: null }],
    [scoped, CHAT, { body: `${body('gpt-5')}${' '.repeat(4_000)}` }, 413, 'body_too_large', {}],
    [limited, CHAT, {}, 429, 'rate_limit_exceeded', { provider: 'openai' }],
    [disabled, CHAT, {}, 401, 'api_key_disabled', {}],
    [expired, CHAT, {}, 401, 'api_key_expired', {}],
    [old, CHAT, {}, 401, 'invalid_api_key', {}],
  ]
  for (const [{ id: key_id, name, secret }, address, sent, status, code, of] of cases) {
    const got = await ask(secret, address, sent)
    assert.deepEqual([got.status, got.code], [status, code])
    const response = await api('GET', `requests/${got.id}`)
    assert.equal(response.status, 200, response.text)
    const found = response.json<Refusal>()
    const { detail, ...rest } = found
    assert.deepEqual(
      {
        ...rest,
        ...of,
        object: 'refusal',
        outcome: 'refused',
        key_id,
        key_name: name,
        status,
        code,
        count: 1,
      },
      { ...rest },
    )
    assert.match(detail, /^[A-Z].+[.!?)]$/)
    assert.doesNotMatch(response.text, /tmk_|sk-openai/)
    assertProblem(await member.api('GET', `requests/${got.id}`), 404, 'request_not_found')
  }
  const list = async (query = '') => (await api('GET', `refusals?${query}`)).json<Refusals>()
  const all = await list()
  assert.deepEqual(
    all.data.map(({ code }) => code),
    cases.map(([, , , , code]) => code).toReversed(),
  )
  assert.deepEqual([all.total, all.next_cursor], [cases.length, null])
  assert.deepEqual(
    (await list('code=model_not_allowed')).data.map(({ code }) => code),
    ['model_not_allowed'],
  )
  const mine = await list(`key=${scoped.id}&limit=2`)
  assert.deepEqual(
    [mine.data.length, mine.total, mine.by_code.length, mine.data[0]?.key_name],
    [2, 5, 5, 'scoped'],
  )
  assert.deepEqual((await list('account=all')).total, cases.length)
  assert.deepEqual((await member.api('GET', 'refusals')).json<Refusals>().data, [])
  assertProblem(await member.api('GET', 'refusals?account=all'), 403, 'insufficient_scope')
  assertProblem(await api('GET', 'refusals?code=nonsense'), 400, 'invalid_field')
  assert.equal((await api('GET', `requests/${passed.id}`)).json<Refusal>().object, 'request')
  const missing = await api('GET', 'requests/req_nothing')
  assertProblem(missing, 404, 'request_not_found')
  assert.match(
    missing.json<{ detail: string }>().detail,
    /sample/,
    'it says that of a flood only samples are kept',
  )
})

test('a caller without a known key leaves no record', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const key = await served.key()
  const target = `/proxy?url=${encodeURIComponent(CHAT)}`
  for (const authorization of [
    undefined,
    'Bearer tmk_x',
    `Bearer ${key.secret.slice(0, -8)}AAAAAAAA`,
  ]) {
    const got = await send(served.port, {
      method: 'POST',
      target,
      headers: authorization === undefined ? {} : { Authorization: authorization },
      body: '{}',
    })
    assert.equal(got.status, 401)
  }
  assert.equal((await api('GET', 'refusals?account=all')).json<Refusals>().total, 0)
})

test("a withheld list is a failed request with the caller's error code", async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{"data":[{"id":"file-somebody"}]}'))
  const { api } = await manager(served)
  const key = await served.key({ objects: 'own' })
  const got = await served.send(key.secret, 'https://api.openai.com/v1/files', { method: 'GET' })
  assert.equal(got.status, 403)
  const failed = async () =>
    (await api('GET', 'requests?outcome=failed')).json<{
      data: { status: number; error: string }[]
    }>().data
  await until(async () => (await failed()).length > 0)
  const rows = await failed()
  assert.deepEqual(
    rows.map(({ status, error }) => [status, error]),
    [[403, 'endpoint_not_allowed']],
  )
  assert.equal(
    (await api('GET', 'refusals')).json<Refusals>().total,
    0,
    'it is in the ledger, and nowhere else',
  )
})
