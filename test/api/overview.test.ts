import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { NewKey } from '../../server/keys/key-record.ts'
import { assertProblem, startServer } from '../support/harness.ts'
import { respond } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import { until } from '../support/until.ts'
import { setUp } from '../support/browser-request.ts'
import { ledgerRow } from '../support/ledger-row.ts'
import { manager } from '../support/manager.ts'

interface Measures {
  requests: number
  errors: number
  tokens_in: number | null
  tokens_cached: number | null
  first_byte_ms: number | null
  total_ms: number | null
}
interface Overview {
  from: string
  to: string
  step_seconds: number
  totals: Measures & { refused: number }
  series: (Measures & { time: string })[]
  keys: (Measures & { key_id: string; name: string; refused: number })[]
  models: (Measures & { provider: string; model: string })[]
  attention: { kind: string; key_id: string | null; detail: string; at: string | null }[]
  quota: { used_today: number }
}

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test('usage without a start covers the 30 days before its end, by default before now', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const now = server.clock()
  const { id: key } = (await admin.send('POST', 'keys', { name: 'one' })).json<NewKey>()
  const account = (await server.newToken()).account_id
  for (const ago of [0, 20, 40])
    await ledgerRow(server.store, { account, key, model: 'gpt-5', at: now - ago * DAY })
  for (const [days, requests] of [
    [null, 2],
    [1, 2],
    [60, 2],
    [-9, 1],
    [-15, 2],
  ] as const) {
    const to = days === null ? '' : `&to=${new Date(now + days * DAY).toISOString()}`
    const { data } = (await admin.send('GET', `usage?by=model${to}`)).json<{
      data: { requests: number }[]
    }>()
    assert.deepEqual(
      data.map((line) => line.requests),
      [requests],
      `an end in ${days} days`,
    )
  }
})

test('a report with too many lines is refused instead of being cut short', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const hour = Math.floor(server.clock() / HOUR) * HOUR
  const { account_id } = await server.newToken()
  await sql`
    insert into usage_hours (hour, account_id, key_id, provider, model, requests, errors, aborted,
      unknown, unmetered, bytes_in, bytes_out, answered, first_byte_ms, total_ms)
    with recursive lines (n) as (select 0 union all select n + 1 from lines where n < 50000)
    select ${hour}, ${account_id}, 'key_1', 'openai', 'm' || n, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0
    from lines`.execute(server.store.db)
  for (const format of ['json', 'csv']) {
    const refused = await admin.send('GET', `usage?by=model&format=${format}`)
    assert.deepEqual(
      [refused.status, refused.json<{ detail: string }>().detail],
      [
        400,
        'by: The report has more than 50000 lines. Choose a shorter period, one key, model or provider, or fewer dimensions.',
      ],
    )
  }
  assert.deepEqual(
    (await admin.send('GET', 'usage?by=day'))
      .json<{ data: { requests: number }[] }>()
      .data.map(({ requests }) => requests),
    [50_001],
  )
  await server.store.db.deleteFrom('usage_hours').where('model', '=', 'm7').execute()
  assert.equal((await admin.send('GET', 'usage?by=model')).json<{ data: [] }>().data.length, 50_000)
})

test('the overview counts the last hour, day and month, by step, key and model', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const now = server.clock()
  const [one, two] = await Promise.all(
    ['one', 'two'].map(async (name) => (await admin.send('POST', 'keys', { name })).json<NewKey>()),
  )
  /** TABLE of requests: how long ago, key, model, status, and how the response broke. */
  const rows: [ago: number, key: string, model: string, status: number, error?: string][] = [
    [0, one!.id, 'gpt-5', 200],
    [0, one!.id, 'gpt-5', 500],
    [10 * MINUTE, two!.id, 'gpt-5', 200, 'upstream_unreachable'],
    [5 * HOUR, one!.id, 'o3', 200],
    [3 * DAY, two!.id, 'o3', 200],
    [40 * DAY, two!.id, 'old', 200],
  ]
  for (const [ago, key, model, status, error] of rows.toReversed())
    await ledgerRow(server.store, {
      account: one!.account_id,
      key,
      model,
      at: now - ago,
      status,
      ...(error && { error }),
    })
  const read = async (query: string) =>
    (await admin.send('GET', `overview?${query}`)).json<Overview>()

  const hour = await read('range=hour')
  assert.deepEqual(
    [hour.series.length, hour.step_seconds, hour.totals.requests, hour.totals.errors],
    [60, 60, 3, 2],
  )
  assert.deepEqual(
    [hour.series.at(-1)?.requests, hour.series.at(-11)?.requests, hour.series[0]?.requests],
    [2, 1, 0],
  )
  assert.equal(hour.series.at(-1)?.time, new Date(Math.floor(now / MINUTE) * MINUTE).toISOString())
  const day = await read('range=day')
  assert.equal(day.totals.errors, 2)
  assert.deepEqual(
    [
      day.series.length,
      day.totals.requests,
      day.totals.tokens_in,
      day.totals.tokens_cached,
      day.totals.first_byte_ms,
      day.totals.total_ms,
    ],
    [24, 4, 28, 8, 100, 300],
  )
  assert.deepEqual(
    day.keys.map(({ name, requests }) => [name, requests]),
    [
      ['one', 3],
      ['two', 1],
    ],
  )
  assert.deepEqual(
    day.models.map(({ provider, model, requests }) => [provider, model, requests]),
    [
      ['openai', 'gpt-5', 3],
      ['openai', 'o3', 1],
    ],
  )
  const month = await read('range=month')
  assert.deepEqual(
    [month.series.length, month.totals.requests, month.series.at(-4)?.requests],
    [30, 5, 1],
  )
  assert.equal(Date.parse(month.to) - Date.parse(month.from), 30 * DAY)
  for (const range of ['hour', 'day', 'week', 'month']) {
    const filtered = await read(`range=${range}&key=${one!.id}&model=gpt-5`)
    assert.deepEqual(
      [
        filtered.totals.requests,
        filtered.totals.errors,
        filtered.keys.length,
        filtered.models.length,
      ],
      [2, 1, 1, 1],
    )
    assert.equal((await read(`range=${range}&model=nothing`)).totals.tokens_in, null)
  }
  assert.equal((await admin.send('GET', 'overview?range=year')).status, 400)

  const minutes = async (query: string) =>
    (await admin.send('GET', `usage?by=minute,${query}`)).json<{
      data: { time: string; key_name?: string; model?: string; requests: number }[]
    }>().data
  const within = `from=${hour.from}&to=${hour.to}`
  assert.deepEqual(
    (await minutes(`key&${within}`)).map(({ time, key_name, requests }) => [
      time,
      key_name,
      requests,
    ]),
    [
      [hour.series.at(-11)?.time, 'two', 1],
      [hour.series.at(-1)?.time, 'one', 2],
    ],
  )
  assert.deepEqual(
    (await minutes(`day,model&from=${day.from}&to=${day.to}`)).map(({ model, requests }) => [
      model,
      requests,
    ]),
    [
      ['o3', 1],
      ['gpt-5', 1],
      ['gpt-5', 2],
    ],
  )
  assert.equal((await minutes('key')).length, 2, 'the last hour where nothing is said')
  assertProblem(await admin.send('GET', `usage?by=minute&from=${month.from}`), 400, 'invalid_field')

  const models = (await admin.send('GET', 'models')).json<{
    data: { id: string; requests: number }[]
  }>().data
  assert.deepEqual(
    models.map(({ id, requests }) => [id, requests]),
    [
      ['gpt-5', 3],
      ['o3', 2],
      ['old', 1],
    ],
  )
})

test('keys that expire within a week need attention; revoked ones do not', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const at = (ahead: number) => new Date(server.clock() + ahead).toISOString()
  const make = async (name: string, ahead: number | null) =>
    (
      await admin.send('POST', 'keys', { name, expires_at: ahead === null ? null : at(ahead) })
    ).json<NewKey>()
  const soon = await make('soon', 6 * DAY)
  await make('later', 8 * DAY)
  await make('never', null)
  await admin.send('DELETE', `keys/${(await make('revoked', DAY)).id}`)
  await admin.send('PATCH', `keys/${(await make('disabled', DAY)).id}`, { status: 'disabled' })
  const { attention, quota } = (await admin.send('GET', 'overview')).json<Overview>()
  assert.deepEqual(
    attention.map(({ kind, key_id, at }) => [kind, key_id, at]),
    [['key_expires', soon.id, soon.expires_at]],
  )
  assert.ok(
    attention[0]?.detail.includes(` ${soon.expires_at?.slice(0, 16).replace('T', ' ')} UTC. `),
    attention[0]?.detail,
  )
  assert.equal(quota.used_today, 0)
})

test('a key that is often at its limit needs attention', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const key = await served.key({ rpm: 2 })
  for (let i = 0; i < 27; i++)
    await served.send(key.secret, 'https://api.openai.com/v1/models', { method: 'GET' })
  const { api } = await manager(served)
  const read = async () => (await api('GET', 'overview')).json<Overview>()
  await until(
    async () => (await read()).totals.refused === 25 && (await read()).totals.requests === 2,
  )
  const { attention, keys } = await read()
  assert.deepEqual(
    attention.map(({ kind, key_id }) => [kind, key_id]),
    [['key_at_limit', key.id]],
  )
  assert.deepEqual(
    keys.map(({ requests, refused }) => [requests, refused]),
    [[2, 25]],
  )
})

test('keys are listed in the requested order, page by page, filtered by model', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const made: Record<string, NewKey> = {}
  const wishes: [name: string, models: string[] | null, expires: number | null][] = [
    ['beta', ['gpt-*'], 2 * DAY],
    ['Alpha', null, null],
    ['gamma', ['o3', 'gpt-5'], DAY],
    ['alpha', ['claude-*'], null],
    ['delta', ['gpt-4'], 3 * DAY],
  ]
  for (const [name, models, expires] of wishes) {
    server.step(5)
    made[name] = (
      await admin.send('POST', 'keys', {
        name,
        models,
        expires_at: expires === null ? null : new Date(server.clock() + expires).toISOString(),
      })
    ).json<NewKey>()
  }
  for (const name of ['gamma', 'beta']) {
    await ledgerRow(server.store, {
      account: made[name]!.account_id,
      key: made[name]!.id,
      model: 'gpt-5',
      at: server.clock() + (name === 'beta' ? 1 : 0),
    })
  }
  const names = async (query: string) => {
    const found: string[] = []
    for (let cursor = ''; ;) {
      const { data, next_cursor } = (
        await admin.send('GET', `keys?limit=2&${query}${cursor}`)
      ).json<{ data: NewKey[]; next_cursor: string | null }>()
      found.push(...data.map(({ name }) => name))
      if (next_cursor === null) return found
      cursor = `&cursor=${next_cursor}`
    }
  }
  /** TABLE: query, and the names in their order. */
  const cases: [query: string, names: string[]][] = [
    ['', ['delta', 'alpha', 'gamma', 'Alpha', 'beta']],
    ['sort=created_at', ['beta', 'Alpha', 'gamma', 'alpha', 'delta']],
    ['sort=name', ['Alpha', 'alpha', 'beta', 'delta', 'gamma']],
    ['sort=-name', ['gamma', 'delta', 'beta', 'alpha', 'Alpha']],
    ['sort=expires_at', ['gamma', 'beta', 'delta', 'Alpha', 'alpha']],
    ['sort=-last_used_at', ['beta', 'gamma', 'delta', 'alpha', 'Alpha']],
    ['model=gpt-5', ['gamma', 'Alpha', 'beta']],
    ['model=gpt-5&sort=name&search=A', ['Alpha', 'beta', 'gamma']],
    ['model=nothing&search=beta', []],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await names(query), expected, query)
  assert.equal((await admin.send('GET', 'keys?sort=colour')).status, 400)
})
