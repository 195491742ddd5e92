// A store that an older version has filled is brought to the present schema with what is in it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type CompiledQuery } from 'kysely'
import { Client } from 'pg'
import { UNKNOWN_TOKENS } from '../../server/common/token-kinds.ts'
import { beginPartition, dropOldPartitions } from '../../server/ledger/retention/partitions.ts'
import { addHours } from '../../server/ledger/rollups/coarser.ts'
import { getRequest, listRequests } from '../../server/ledger/reports/requests.ts'
import { verifyWindows } from '../../server/ledger/reports/verify.ts'
import { readUsage } from '../../server/ledger/reports/usage.ts'
import { listKeys } from '../../server/keys/key-list.ts'
import { getKey } from '../../server/keys/keys.ts'
import { hasModel, hasRequestId, queryBuilder } from '../../server/store/dialect.ts'
import { CREATE_MIGRATIONS } from '../../server/store/sqlite/migrate.ts'
import { MIGRATIONS } from '../../server/store/migrations/index.ts'
import { Connection } from '../../server/store/sqlite/connection.ts'
import { statement } from '../../server/store/statement.ts'
import type { Place } from '../support/place.ts'
import { query } from '../support/postgres.ts'
import { admissionRequest, openFor, settlement } from '../ledger/support/opened.ts'
import { until } from '../support/until.ts'
import { emptyPlaceOn, onEveryEmptyPlace, openAt } from '../support/stores.ts'

const DAY = 86_400_000
/** The last migration of the older version. */
const UP_TO = '0060-fair-jobs'

/** The hours of which it has roll-ups; of the first two it has added them to their day. */
const HOURS = [10, 11, 50].map((hour) => hour * 3_600_000)
const rollUp = (time: number, requests: number): string =>
  `(${time}, 'key', 'openai', 'gpt-5', 'acc', ${requests}, 0, 0, 0, 0, 0, 0, 0, 0, 0, ${requests})`
const ROLL_UP =
  'key_id, provider, model, account_id, requests, errors, aborted, unknown, unmetered, bytes_in, bytes_out, answered, first_byte_ms, total_ms, tokens_in'

/** TABLE of what it has written. */
const ROWS = [
  `insert into accounts (id, name, email, plan, role, created_at, disabled) values ('acc', 'admin', null, 'free', 'admin', 1, 0)`,
  `insert into keys (id, account_id, name, public_id, created_at, revision, objects, read_only) values ('key', 'acc', 'old', 'p', 1, 1, 'upstream', 0)`,
  `insert into key_secrets (public_id, key_id, hash, expires_at) values ('p', 'key', 'h', null)`,
  `insert into usage_hours (hour, ${ROLL_UP}) values ${HOURS.map((hour) => rollUp(hour, 2)).join(', ')}`,
  `insert into usage_days (day, ${ROLL_UP}) values ${rollUp(0, 4)}`,
  `insert into usage_added (name, before) values ('days', ${12 * 3_600_000})`,
  ...[
    [1, 'settled', 200, null],
    [2, 'settled', null, `'upstream_unreachable'`],
    [3, 'settled', null, `'upstream_timeout'`],
    [4, 'settled', 200, `'upstream_unreachable'`],
    [5, 'aborted', null, null],
  ].map(
    ([seq, state, status, error]) =>
      `insert into requests (seq, id, account_id, key_id, provider, endpoint, method, state, created_at, instance, mono, boot, status, error) ` +
      `overriding values (${seq}, 'req_${seq}', 'acc', 'key', 'openai', '/x', 'POST', '${state}', ${seq}, 'i', ${seq}, 0, ${status}, ${error})`,
  ),
]

async function fillOld(
  { data, databaseUrl }: Place,
  upTo = UP_TO,
  rows: readonly string[] = ROWS,
): Promise<void> {
  const older = MIGRATIONS.slice(0, MIGRATIONS.findIndex(({ name }) => name === upTo) + 1)
  const db = queryBuilder(databaseUrl ? 'postgres' : 'sqlite')
  const texts = [CREATE_MIGRATIONS]
  for (const { name, up, postgres = [] } of older) {
    texts.push(
      ...up(db.schema).map((one) => statement(one).sql),
      ...(databaseUrl ? postgres : []),
      `insert into migrations (name, applied_at) values ('${name}', 0)`,
    )
  }
  texts.push(
    ...rows.map((row) => row.replace('overriding', databaseUrl ? 'overriding system value' : '')),
  )
  if (databaseUrl) {
    await query(databaseUrl, ['begin', ...texts, 'commit'].join(';\n'))
    return
  }
  const connection = new Connection(`${data}/tollmark.db`, 'write')
  for (const text of texts) connection.exec(text)
  connection.close()
}

/** Columns of a request that has ended, as far as these tests need them. */
const ENDED =
  'seq, id, account_id, key_id, rpm, provider, model, endpoint, method, created_at, mono, state'
const endedAs = (state: string): string => ENDED.replace('state', `'${state}'`)

/** How the version before the admissions wrote a row of PostgreSQL's ledger. */
const sharedRow = (
  {
    seq,
    at,
    nth,
    child = 'null',
    childNth = 'null',
  }: Record<'seq' | 'nth', number> & {
    at: string
    child?: string
    childNth?: string
  },
  state = 'reserved',
): string =>
  `insert into requests (id, account_id, key_id, rpm, provider, endpoint, method, state, created_at, instance, mono, boot, nth, child_id, child_rpm, child_nth)
   values ('req_${seq}', 'acc', 'key', 4, 'openai', '/x', 'POST', '${state}', ${seq}, 'gone', ${at}, 0, ${nth}, ${child}, ${child === 'null' ? 'null' : 1}, ${childNth})`

test('on PostgreSQL the windows of an older version continue, and its requests in progress are ended', async (t) => {
  const place = await emptyPlaceOn.postgres(t)
  const now = 'tollmark_ledger_time()'
  await fillOld(place, '0094-announced-processes', [
    sharedRow({ seq: 1, at: `${now} - 600000000`, nth: 1 }, 'settled'),
    sharedRow({ seq: 2, at: now, nth: 2 }, 'settled'),
    sharedRow({ seq: 3, at: now, nth: 3, child: `'child'`, childNth: '1' }),
  ])
  const { store, ledger } = await openFor(t, place)
  // Its process is gone.
  const states = async () =>
    (await listRequests(store, { account: 'acc' }, 10, undefined)).rows.map(({ id, state }) => [
      id,
      state,
    ])
  assert.deepEqual(await states(), [
    ['req_3', 'unknown'],
    ['req_2', 'settled'],
    ['req_1', 'settled'],
  ])
  const ask = async (child: string | null) =>
    (
      await ledger.admit(
        admissionRequest('key', 4, { child_id: child, child_rpm: child === null ? null : 1 }),
      )
    ).admitted
  assert.equal(await ask('child'), false)
  assert.equal(await ask('other'), true)
  // Another process of that version, which still runs, brings in what it admitted in an outage.
  await query(place.databaseUrl!, sharedRow({ seq: 9, at: now, nth: 1 }))
  assert.equal(await ask(null), false)
  assert.equal((await states()).length, 5)
  const proof = await verifyWindows(store)
  assert.deepEqual([proof.requests, proof.violations], [5, []])
})

test('on PostgreSQL the rows of older indexes are found beside new ones, and processes of that version still settle', async (t) => {
  const place = await emptyPlaceOn.postgres(t)
  const row = (table: string, seq: number, state: string, more = '', values = ''): string =>
    `insert into ${table} (seq, id, account_id, key_id, provider, model, endpoint, method, state, created_at, mono${more})
     values (${seq}, 'req_${seq}', 'acc', 'key', 'openai', 'gpt-5', '/x', 'POST', '${state}', ${seq}, ${seq}${values})`
  await fillOld(place, '0100-frequent-vacuums', [
    ...ROWS.filter((one) => !one.includes('insert into requests')),
    row('requests', 1, 'settled', ', status, child_id', `, 200, 'child'`),
    row('requests', 2, 'aborted'),
    row('admissions', 3, 'reserved', ', instance', `, 'gone'`),
    `select setval('requests_seq_seq', 3)`,
  ])
  const { store, ledger } = await openFor(t, place)
  const asked = admissionRequest('key', 4)
  const admission = await ledger.admit(asked)
  assert.ok(admission.admitted)
  ledger.settle(settlement(asked, admission))
  // As a process of that version moves a row that has ended.
  await query(place.databaseUrl!, row('requests', 9, 'settled'))
  const found = async (filter: Parameters<typeof listRequests>[1]) =>
    (await listRequests(store, filter, 10, undefined)).rows.map(({ id }) => id)
  const all = ['req_9', asked.id, 'req_3', 'req_2', 'req_1']
  await until(async () => (await found({ account: 'acc', state: 'settled' })).length === 3)
  assert.deepEqual(await found({ account: 'acc' }), all)
  assert.deepEqual(await found({ account: 'acc', key: 'key' }), all)
  assert.deepEqual(
    await found({ account: 'acc', model: 'gpt-5' }),
    all.filter((id) => id !== asked.id || asked.model === 'gpt-5'),
  )
  assert.deepEqual(await found({ account: 'acc', child: 'child' }), ['req_1'])
  assert.deepEqual(await found({ account: 'acc', outcome: 'aborted' }), ['req_2'])
  assert.equal(admission.seq, 4)
  assert.equal((await verifyWindows(store)).requests, 5)

  // Beside a partition with the indexes of this version.
  const day = 21_000
  await query(place.databaseUrl!, 'update migrations set applied_at = 0')
  await beginPartition(store, day * DAY, DAY)
  const newest = day * 1e11 + 1
  await query(place.databaseUrl!, row('requests', newest, 'settled'))
  assert.deepEqual(
    (await found({ account: 'acc', model: 'gpt-5', state: 'settled' })).slice(0, 2),
    [`req_${newest}`, 'req_9'],
  )
  for (const id of [`req_${newest}`, asked.id, 'req_1'])
    assert.equal((await getRequest(store, id, 'acc'))?.id, id)
  const range = { from: 0, before: Number.MAX_SAFE_INTEGER }
  const rows = store.db
    .selectFrom('requests')
    .select('seq')
    .where('state', '<>', sql.lit('reserved'))
  for (const [name, condition] of [
    ['id', hasRequestId('req_1')],
    ['model', hasModel('acc', 'gpt-5', range)],
  ] as const) {
    const plan = await planOf(place.databaseUrl!, rows.where(condition).compile())
    for (const index of [`requests_first_${name}`, `requests_${day}_${name}`])
      assert.match(plan, new RegExp(`${index}\\w*[^;]*; *Index Cond`), plan)
  }
})

/** The plan of a statement, where PostgreSQL uses indexes also of small tables. */
async function planOf(url: URL, { sql: text, parameters }: CompiledQuery): Promise<string> {
  const client = new Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query('set enable_seqscan = off')
    const { rows } = await client.query<Record<string, string>>(`explain (costs off) ${text}`, [
      ...parameters,
    ])
    return rows.flatMap((row) => Object.values(row)).join('; ')
  } finally {
    await client.end()
  }
}

/**
 * TABLE of what a process of the version before the partitions does with the ledger of PostgreSQL.
 */
const UNPARTITIONED = {
  settle: (seqs: readonly number[]) => `
    with moved as (
      delete from admissions a where a.seq = any (array[${seqs.join()}]::bigint[]) and a.state in ('reserved', 'unknown') returning a.*
    ) insert into requests (${ENDED}, status) select ${endedAs('settled')}, 200 from moved order by seq`,
  settleUnknown: (seqs: readonly number[]) => `
    with opened as (
      select r.seq from requests r where r.seq = any (array[${seqs.join()}]::bigint[]) and r.state in ('reserved', 'unknown') order by r.seq for update of r
    ) update requests r set state = 'settled', status = 200 from opened o where r.seq = o.seq and r.seq = any (array(select seq from opened))`,
  markUnknown: () => `
    update requests set state = 'unknown' where state = 'reserved' and instance not in (select id from instances)
      and seq in (select seq from requests where state = 'reserved' and instance not in (select id from instances) limit 500)`,
  moveEnded: () => `
    with ended as (
      select seq from admissions where state <> 'reserved' order by seq limit 10000 for update skip locked
    ), moved as (delete from admissions where seq in (select seq from ended) returning *)
    insert into requests (${ENDED}) select ${ENDED} from moved order by seq`,
}

test('on PostgreSQL a process from before the partitions works beside several, while one is dropped', async (t) => {
  const place = await emptyPlaceOn.postgres(t)
  await fillOld(place, '0103-odd-requests', [
    `insert into usage_added (name, before) values ('days', 9000000000000)`,
  ])
  const { store, ledger, clock } = await openFor(t, place)
  const older = await openFor(t, place)
  const pg = (text: string) => query(place.databaseUrl!, text)
  await pg('update migrations set applied_at = 0')
  const admit = async (by: typeof ledger) => {
    const asked = admissionRequest('key', 1000)
    const admission = await by.admit(asked)
    assert.ok(admission.admitted)
    return { asked, seq: admission.seq, end: () => by.settle(settlement(asked, admission)) }
  }
  const today = Math.floor(clock.now() / DAY)
  const ends = new Map<string, string>()
  const held = []
  for (const day of [null, today - 3, today - 2, today - 1]) {
    const name = day === null ? 'requests_first' : `requests_${day}`
    // The numbers jump while requests are in progress.
    if (day !== null) await beginPartition(store, day * DAY, DAY)
    const [newer, moved, late, gone] = await Promise.all(
      [ledger, older.ledger, older.ledger, older.ledger].map(admit),
    )
    await pg(`update admissions set instance = 'gone' where seq = ${gone!.seq}`)
    newer!.end()
    for (const one of [newer!, moved!, late!, gone!]) ends.set(one.asked.id, name)
    held.push(late!)
    await Promise.all([
      pg(UNPARTITIONED.settle([moved!.seq])),
      pg(UNPARTITIONED.moveEnded()),
      pg(UNPARTITIONED.markUnknown()),
    ])
    await pg(UNPARTITIONED.settleUnknown([gone!.seq]))
  }
  const where = async () => {
    const rows = await pg(
      `select id, tableoid::regclass::text as name from requests where state = 'settled'`,
    )
    return new Map(rows.map((row) => Object.values(row as object) as [string, string]))
  }
  await pg(UNPARTITIONED.settle(held.map(({ seq }) => seq)))
  await until(async () => (await where()).size === ends.size)
  assert.deepEqual(sorted(await where()), sorted(ends))

  const last = await admit(older.ledger)
  const old = { before: 9e12, upTo: Number.MAX_SAFE_INTEGER }
  const drop = dropOldPartitions(store, old)
  await Promise.all([
    drop,
    pg(UNPARTITIONED.settle([last.seq])),
    pg(UNPARTITIONED.moveEnded()),
    pg(UNPARTITIONED.markUnknown()),
  ])
  ends.set(last.asked.id, `requests_${today - 1}`)
  for (const [id, name] of ends)
    if ([`requests_${today - 3}`, `requests_${today - 2}`].includes(name)) ends.delete(id)
  assert.deepEqual(sorted(await where()), sorted(ends))
  const proof = await verifyWindows(store)
  assert.deepEqual([proof.requests, proof.violations], [ends.size, []])
  assert.equal((await admit(older.ledger)).seq, last.seq + 1)
})

const sorted = (map: ReadonlyMap<string, string>): [string, string][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1))

test('on PostgreSQL an upgrade during a report waits for it, and neither fails', async (t) => {
  const place = await emptyPlaceOn.postgres(t)
  await fillOld(place, '0100-frequent-vacuums', [])
  const report = new Client({ connectionString: place.databaseUrl!.href })
  await report.connect()
  t.after(() => report.end())
  await report.query('begin; select from usage_hours')
  const opening = openAt(t, place)
  const waits = `select from pg_locks where relation = 'usage_hours'::regclass and not granted`
  await until(async () => (await report.query(waits)).rowCount! > 0)
  // Reports and settlements lock tables in other orders than the upgrade.
  await report.query('select from requests')
  await report.query('commit')
  const store = await opening
  assert.deepEqual(await store.db.selectFrom('usage_hours').selectAll().execute(), [])
})

onEveryEmptyPlace(
  "data of an older version is kept, and failed requests have their response's status",
  async (t, place) => {
    await fillOld(place)
    const store = await openAt(t, place)
    const { rows } = await listRequests(store, { account: 'acc' }, 10, undefined)
    assert.deepEqual(
      rows.map(({ id, status, outcome }) => [id, status, outcome]),
      [
        ['req_5', null, 'aborted'],
        ['req_4', 200, 'failed'],
        ['req_3', 504, 'failed'],
        ['req_2', 502, 'failed'],
        ['req_1', 200, 'succeeded'],
      ],
    )
    const failed = await listRequests(store, { account: 'acc', outcome: 'failed' }, 10, undefined)
    assert.deepEqual(
      failed.rows.map(({ id }) => id),
      ['req_4', 'req_3', 'req_2'],
    )
    const detail = await getRequest(store, 'req_2', 'acc')
    assert.deepEqual([detail?.upstream_error, detail?.upstream_request_id], [null, null])
    assert.deepEqual(
      (await listKeys(store, { account: 'acc', status: ['active'] }, 10, undefined, 9)).keys.map(
        ({ id }) => id,
      ),
      ['key'],
    )
    assert.equal((await getKey(store, 'key', 'acc', 9)).previous_secret_expires_at, null)

    // Its roll-ups are the same before and after upkeep has filled those that it did not have.
    const used = async () => [
      (await getKey(store, 'key', 'acc', 9)).usage,
      await readUsage(store, { account: 'acc', by: ['day', 'model'], from: 0, to: 1e9 }),
      await readUsage(store, { account: 'acc', by: ['day', 'key'], from: 0, to: 1e9, top: 1 }),
      (await listKeys(store, { account: 'acc', sort: '-requests' }, 1, undefined, 9)).keys.map(
        ({ id }) => id,
      ),
    ]
    const before = await used()
    assert.deepEqual(before[0], {
      requests: 6,
      errors: 0,
      ...UNKNOWN_TOKENS,
      tokens_in: 6,
    })
    await addHours(store, 1e9)
    const keyDays = await store.db
      .selectFrom('usage_key_days')
      .select(['day', 'requests'])
      .orderBy('day')
      .execute()
    assert.deepEqual(
      keyDays.map(({ day, requests }) => [day / 86_400_000, requests]),
      [
        [0, 4],
        [2, 6],
      ],
    )
    assert.deepEqual(await used(), before)
  },
)
