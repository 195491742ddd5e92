// Partitions of PostgreSQL's ledger: days of numbers, and dropping them.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { keyUsage } from '../../../server/ledger/reports/usage.ts'
import { getRequest, listRequests } from '../../../server/ledger/reports/requests.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { startMaintenance } from '../../../server/ledger/retention/maintenance.ts'
import { beginPartition, dropOldPartitions } from '../../../server/ledger/retention/partitions.ts'
import { listKeys } from '../../../server/keys/key-list.ts'
import type { Store } from '../../../server/store/store.ts'
import { placeOn } from '../../support/stores.ts'
import { query } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, settlement } from '../support/opened.ts'

const DAY = 86_400_000
/** A day since 1970, and the first number of its partition. */
const TODAY = 21_000
const numberOf = (day: number): number => day * 1e11

/** A ledger that has been migrated long ago, with two keys. */
async function openUsed(t: TestContext) {
  const place = await placeOn.postgres(t)
  const opened = await openFor(t, place)
  await query(
    place.databaseUrl!,
    `update migrations set applied_at = 0;
     insert into accounts (id, name, plan, role, created_at, disabled) values ('acc', 'admin', 'free', 'admin', 1, 0);
     insert into keys (id, account_id, name, public_id, created_at, revision, objects, read_only, disabled)
       select 'key_' || n, 'acc', 'key', 'p' || n, 1, n, 'upstream', 0, 0 from generate_series(0, 1) n;
     insert into usage_added (name, before) values ('days', ${TODAY * DAY})`,
  )
  return { place, ...opened }
}

/** Writes ended rows of a day, with the next numbers. */
const pass = (store: Store, day: number, rows: number, key = 'key_0') =>
  sql`
    insert into requests (id, account_id, key_id, provider, model, endpoint, method, state, status, created_at, mono)
    select 'req_' || ${sql.lit(day)} || '_' || n, 'acc', ${key}, 'openai', 'gpt-5', '/x', 'POST', 'settled', 200, ${day * DAY}::bigint + n, (${day * DAY}::bigint + n) * 1000
    from generate_series(1, ${rows}) n`.execute(store.db)

const partitionsOf = async (store: Store): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests_ended'::regclass order by 1`.execute(
    store.db,
  )
  return rows.map(({ name }) => name.replace('requests_', ''))
}

test('each day has a partition, and the retention drops it when all its rows are old', async (t) => {
  const { store } = await openUsed(t)
  await pass(store, TODAY - 5, 3)
  for (const day of [TODAY - 3, TODAY - 2, TODAY - 1]) {
    // As several processes do.
    await Promise.all([1, 2, 3].map(() => beginPartition(store, day * DAY + 5, 2 * DAY)))
    await pass(store, day, 300, day === TODAY - 3 ? 'key_1' : 'key_0')
  }
  const numbers = async () => {
    const { rows } = await sql<{ seq: number }>`
      select min(seq) as seq from requests group by created_at / ${DAY} order by 1`.execute(
      store.db,
    )
    return rows.map(({ seq }) => seq)
  }
  const days = [TODAY - 3, TODAY - 2, TODAY - 1]
  assert.deepEqual(await numbers(), [1, ...days.map((day) => numberOf(day) + 1)])
  assert.deepEqual(await partitionsOf(store), [...days.map(String), 'first'])
  const before = await verifyWindows(store, { now: TODAY * DAY, again: false })
  assert.equal(before.requests, 903)

  // Younger rows, rows that a window may count, hours that are not in the daily roll-ups.
  const newest = numberOf(TODAY + 1)
  await dropOldPartitions(store, { before: (TODAY - 3) * DAY + 300, upTo: newest })
  await dropOldPartitions(store, { before: TODAY * DAY, upTo: numberOf(TODAY - 3) + 299 })
  await sql`update usage_added set before = ${(TODAY - 3) * DAY}`.execute(store.db)
  await dropOldPartitions(store, { before: TODAY * DAY, upTo: newest })
  assert.equal((await partitionsOf(store)).length, 4)

  await sql`update usage_added set before = ${TODAY * DAY}`.execute(store.db)
  const old = { before: (TODAY - 1) * DAY, upTo: newest }
  await Promise.all([1, 2, 3].map(() => dropOldPartitions(store, old)))
  assert.deepEqual(await partitionsOf(store), [String(TODAY - 1), 'first'])
  await dropOldPartitions(store, { before: (TODAY + 9) * DAY, upTo: newest })
  assert.equal((await partitionsOf(store)).length, 2, 'new rows have a partition')

  const used = await store.read(keyUsage, ['key_0', 'key_1'])
  const last = (day: number): number => day * DAY + 300
  assert.deepEqual(
    used.map(([, { lastUsedAt }]) => lastUsedAt),
    [last(TODAY - 1), last(TODAY - 3)],
  )
  const { keys } = await listKeys(store, { account: 'acc', sort: 'last_used_at' }, 9, undefined, 0)
  assert.deepEqual(
    keys.map(({ id }) => id),
    ['key_1', 'key_0'],
  )
  const left = await listRequests(store, { account: 'acc', key: 'key_0' }, 400, undefined)
  assert.equal(left.rows.length, 303)
  const [first] = left.rows
  assert.equal((await getRequest(store, first!.id, 'acc'))?.id, first!.id)
  // What was proved before stays true, also for a proof from the beginning.
  const after = await verifyWindows(store, { now: TODAY * DAY, again: false })
  assert.deepEqual([after.requests, after.changed], [903, []])
  const again = await verifyWindows(store, { now: TODAY * DAY, again: true })
  assert.deepEqual([again.requests, again.changed, again.violations], [303, [], []])
})

test('a request in progress keeps its partition, and ends there', async (t) => {
  const { store, ledger } = await openUsed(t)
  await beginPartition(store, (TODAY - 3) * DAY, 2 * DAY)
  await pass(store, TODAY - 3, 1)
  const asked = admissionRequest('key_0', null)
  const admission = await ledger.admit(asked)
  assert.ok(admission.admitted)
  assert.equal(admission.seq, numberOf(TODAY - 3) + 2)
  await beginPartition(store, (TODAY - 2) * DAY, 2 * DAY)
  const old = { before: TODAY * DAY, upTo: Number.MAX_SAFE_INTEGER }
  await dropOldPartitions(store, old)
  assert.equal((await partitionsOf(store)).length, 3)
  ledger.settle(settlement(asked, admission))
  await until(async () => (await getRequest(store, asked.id, 'acc'))?.state === 'settled')
  await dropOldPartitions(store, old)
  assert.deepEqual(await partitionsOf(store), [String(TODAY - 2), 'first'])
})

test('a report that reads the ledger delays dropping a partition, not requests', async (t) => {
  const { place, store, ledger } = await openUsed(t)
  for (const day of [TODAY - 3, TODAY - 2]) {
    await beginPartition(store, day * DAY, 2 * DAY)
    await pass(store, day, 1)
  }
  const report = await openFor(t, place)
  const reading = sql`select pg_sleep(1) from requests limit 1`.execute(report.store.db)
  const old = { before: TODAY * DAY, upTo: Number.MAX_SAFE_INTEGER }
  const dropped = dropOldPartitions(store, old)
  const asked = admissionRequest('key_0', null)
  const admission = await ledger.admit(asked)
  assert.ok(admission.admitted)
  ledger.settle(settlement(asked, admission))
  await until(async () => (await getRequest(store, asked.id, 'acc'))?.state === 'settled')
  await Promise.all([reading, dropped])
  assert.deepEqual(await partitionsOf(store), [String(TODAY - 2), 'first'])
})

test('maintenance begins partitions: every day with a retention of days, none without one', async (t) => {
  const { store } = await openUsed(t)
  let now = TODAY * DAY
  const runUntil = async (retention: number | null, isDone: () => Promise<boolean>) => {
    const upkeep = startMaintenance(store, () => now, retention, assert.ifError, 1)
    await until(isDone)
    await upkeep[Symbol.asyncDispose]()
  }
  let asked = 0
  const counted = async () => (await store.db.selectFrom('keys').selectAll().execute(), ++asked > 9)
  await runUntil(null, counted)
  assert.deepEqual(await partitionsOf(store), ['first'])
  await pass(store, TODAY - 9, 3)
  await runUntil(2 * DAY, async () => (await partitionsOf(store)).length === 2)
  await pass(store, TODAY, 2)
  now += DAY
  await runUntil(2 * DAY, async () => (await partitionsOf(store)).length === 3)
  const { rows } = await sql<{ first: number; since: number }>`
    select first, since from request_partitions order by 1`.execute(store.db)
  assert.deepEqual(
    rows,
    [TODAY, TODAY + 1].map((day) => ({ first: numberOf(day), since: day * DAY })),
  )
  // A longer retention has longer partitions.
  for (let day = TODAY + 2; day < TODAY + 12; day++)
    await beginPartition(store, day * DAY, 150 * DAY)
  assert.equal((await partitionsOf(store)).length, 5)
})

test('partitions begin a day after the migration, when older processes are gone', async (t) => {
  const { place, store } = await openUsed(t)
  const at = TODAY * DAY
  await query(place.databaseUrl!, `update migrations set applied_at = ${at}`)
  await beginPartition(store, at + DAY - 1, DAY)
  assert.deepEqual(await partitionsOf(store), ['first'])
  await beginPartition(store, at + DAY, DAY)
  assert.equal((await partitionsOf(store)).length, 2)
})
