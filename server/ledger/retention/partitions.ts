// Partitions of PostgreSQL's ledger: with a retention, the numbers of requests (`seq`) jump to a
// new partition every day or every few days, and a partition whose rows are all old is dropped,
// which takes milliseconds for any number of rows (store/migrations/0104-partitions.ts).
//
// There are about MAX_PARTITIONS: a query that does not bound the numbers is planned for each, and
// locks each with its indexes. With 30, that takes 1.3 ms; with 100, up to 90 ms.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { DAY } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import type { RetentionLimit } from './retention.ts'

/** Partitions until the retention drops the first. */
const MAX_PARTITIONS = 30
/** Numbers of a partition; its first one is that of the day (since 1970) on which it begins. */
const NUMBERS = 100_000_000_000
/** Below this are the rows from before the first jump. They are deleted, not dropped. */
const FIRST_BOUND = 20_000 * NUMBERS
/** Keys whose last uses are found in one statement: 0.1 s. */
const MAX_KEYS = 5_000
/** Above the hash of any key. As text, because it has more digits than a number of JavaScript. */
const HIGHEST_HASH = '9223372036854775807'
/** How often a partition is tried to be dropped while reports read the ledger, and the pauses. */
const MAX_TRIES = 50
const PAUSE_MS = 200

/**
 * Begins the partition of today, if it is time for one. Any number of processes may do so at once.
 *
 * The first one begins a day after the migration: processes of the version before look for old rows
 * in all numbers.
 *
 * @param retention milliseconds
 * @throws StoreError
 */
export async function beginPartition(store: Store, now: number, retention: number): Promise<void> {
  const days = Math.max(1, Math.ceil(retention / DAY / MAX_PARTITIONS))
  const today = Math.floor(now / DAY)
  const first = (today - (today % days)) * NUMBERS
  if (first < FIRST_BOUND || !Number.isSafeInteger(first + NUMBERS)) return
  const { rows } = await sql<{ is_due: boolean }>`
    select not exists (select from request_partitions where first >= ${first})
      and exists (select from migrations where name = '0104-partitions' and applied_at <= ${now - DAY}) as is_due`.execute(
    store.db,
  )
  if (rows[0]?.is_due !== true) return
  await sql`select tollmark_add_partition(${first})`.execute(store.db)
  // Not in one transaction: other sessions see a new number immediately, but a table only once it
  // is committed.
  await sql`select tollmark_begin_partition(${first}, ${now})`.execute(store.db)
}

/** The last number of the rows that are deleted, not dropped. @throws StoreError */
export async function lastDeleted(store: Store): Promise<number> {
  const newest = await store.db
    .selectFrom('requests')
    .select('seq')
    .where('seq', '<', FIRST_BOUND)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.seq ?? 0
}

/**
 * Drops the partitions that have only old rows, whose hours are in the daily roll-ups, but not the
 * one that new rows are written to. When keys were last used is kept. A request in progress keeps
 * its partition and all later ones.
 *
 * @throws StoreError
 */
export async function dropOldPartitions(
  store: Store,
  { before, upTo }: RetentionLimit,
  isOpen: () => boolean = () => true,
): Promise<void> {
  const added = await store.db
    .selectFrom('usage_added')
    .select('before')
    .where('name', '=', 'days')
    .executeTakeFirst()
  const old = { before: Math.min(before, added?.before ?? 0), upTo }
  const partitions = await store.db
    .selectFrom('request_partitions')
    .select('first')
    .orderBy('first')
    .execute()
  for (const { first } of partitions.slice(0, -1)) {
    const newest = await newestOf(store, first)
    if (newest !== undefined && !isOld(newest, old)) return
    if (await isHeld(store, first)) return
    if (!(await keepLastUses(store, first, old.before, isOpen))) return
    if (!(await drop(store, first, newest?.seq ?? first, isOpen))) return
  }
}

/** Drops a partition when no report reads the ledger. @returns whether it is gone */
async function drop(
  store: Store,
  first: number,
  newest: number,
  isOpen: () => boolean,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES && isOpen(); tries++) {
    const { rows } = await sql<{ is_gone: boolean }>`
      select tollmark_drop_partition(${first}, ${newest}) as is_gone`.execute(store.db)
    if (rows[0]?.is_gone === true) return true
    await sleep(PAUSE_MS)
  }
  return false
}

const isOld = (newest: { seq: number; created_at: number }, { before, upTo }: RetentionLimit) =>
  newest.created_at < before && newest.seq <= upTo

function newestOf(
  store: Store,
  first: number,
): Promise<{ seq: number; created_at: number } | undefined> {
  return store.db
    .selectFrom('requests')
    .select(['seq', 'created_at'])
    .where('seq', '>=', first)
    .where('seq', '<', first + NUMBERS)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
}

async function isHeld(store: Store, first: number): Promise<boolean> {
  const open = await store.db
    .selectFrom('requests')
    .select('seq')
    .where('state', '=', RESERVED_STATE)
    .where('seq', '<', first + NUMBERS)
    .limit(1)
    .executeTakeFirst()
  return open !== undefined
}

/**
 * Keeps when the keys of a partition were last used, unless one was used later than the retention
 * allows. The newest row of each is found by jumping from key to key along the index.
 *
 * @returns whether all were used before
 */
async function keepLastUses(
  store: Store,
  first: number,
  before: number,
  isOpen: () => boolean,
): Promise<boolean> {
  for (let hash = HIGHEST_HASH; isOpen();) {
    const newest = (below: RawBuilder<unknown>) => sql`
      select hashtextextended(key_id, 0) as hash, key_id, created_at from requests_ended
      where seq >= ${first} and seq < ${first + NUMBERS} and hashtextextended(key_id, 0) < ${below}
      order by hashtextextended(key_id, 0) desc, seq desc limit 1`
    const { rows } = await sql<{ latest: number | null; count: number; lowest: string }>`
      with recursive uses as (
        select found.*, 1 as count from (${newest(sql`${hash}::bigint`)}) as found
        union all
        select found.*, uses.count + 1 from uses, lateral (${newest(sql`uses.hash`)}) as found where uses.count < ${MAX_KEYS}
      ), kept as (
        insert into key_uses as k (key_id, last_used_at) select key_id, created_at from uses order by key_id
        on conflict (key_id) do update set last_used_at = greatest(k.last_used_at, excluded.last_used_at)
      ) select max(created_at) as latest, count(*) as count, min(hash)::text as lowest from uses`.execute(
      store.db,
    )
    const { latest = null, count = 0, lowest = '' } = rows[0] ?? {}
    if (latest !== null && latest >= before) return false
    if (count < MAX_KEYS) return true
    hash = lowest
  }
  return false
}
