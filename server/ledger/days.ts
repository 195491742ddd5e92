// Roll-ups by day, made from those by hour when an hour is over: a month is then some thousand rows instead of hundreds of thousands, and no
// request waits for it. What was added stands below a mark; everything from there on is read by the hour, so that nothing is late or doubled.
// Only what comes for an hour below the mark is missed by the days: the end of a request that was written off (its process stood still for long
// enough to be taken for dead), or a wall clock that was set back by more than an hour.
import { sql, type Expression, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { DAY, HOUR, MINUTE } from '../clock.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { Database, UsageHourRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { enterJournal } from './journal.ts'
import { RESERVED_STATE } from './rows.ts'
import { SUMS, added } from './sums.ts'

/** How long after its end an hour is added. */
const SETTLED_AFTER = 5 * MINUTE

/** The row of `usage_added` that says how far the days are. */
const MARK = 'days'

/** What lies before this moment (milliseconds since 1970) has been added to its day; 0: nothing yet. */
export function* addedBefore(db: QueryBuilder): Steps<number> {
  return (yield* first(db.selectFrom('usage_added').select('before').where('name', '=', MARK)))?.before ?? 0
}

/** Adds the next hour that is over to its day; gives whether there was one. Requests of it that are still under way hold it up. */
export const addHour = procedure(import.meta.url, 'addHour', function* (db, { before }: { before: number }) {
  const mark = yield* addedBefore(db)
  const next = yield* first(db.selectFrom('usage_hours').select('hour').where('hour', '>=', mark).orderBy('hour').limit(1))
  if (!next || next.hour + HOUR > before) return false
  yield* enterJournal(db)
  if (yield* first(db.selectFrom('requests').select('seq').where('state', '=', RESERVED_STATE).where('created_at', '<', next.hour + HOUR).limit(1))) return false
  yield* run(
    db
      .insertInto('usage_days')
      .columns(['day', 'key_id', 'provider', 'model', 'account_id', ...SUMS])
      .expression((e) =>
        e
          .selectFrom('usage_hours')
          .select((h) => [h('hour', '-', h('hour', '%', DAY)).as('day'), 'key_id', 'provider', 'model', 'account_id', ...SUMS])
          .where('hour', '=', next.hour),
      )
      .onConflict((conflict) => conflict.columns(['key_id', 'day', 'provider', 'model']).doUpdateSet(added('usage_days'))),
  )
  const row = { name: MARK, before: next.hour + HOUR }
  yield* run(db.insertInto('usage_added').values(row).onConflict((conflict) => conflict.column('name').doUpdateSet({ before: row.before })))
  return true
})

/** Adds every hour that is over; any number of processes may. A store that was filled before has many: `goesOn` ends it between two. */
export async function addHours(store: Store, now: number, goesOn: () => boolean = () => true): Promise<void> {
  while (goesOn() && (await store.run(addHour, { before: now - SETTLED_AFTER })));
}

/** A stretch of time in one of the two tables; the end is not included. */
export interface Span {
  table: 'usage_hours' | 'usage_days'
  from: number
  to: number
}

/**
 * How a time is read: whole days by the day, the rest by the hour.
 *
 * @param from start of an hour
 * @param mark everything before it stands in the days
 */
export function spansOf(from: number, to: number, mark: number): Span[] {
  const firstDay = Math.ceil(from / DAY) * DAY
  // The day of the mark holds what is before the mark: it can be taken where all of that is wanted.
  const end = to >= mark ? mark : Math.floor(to / DAY) * DAY
  const spans: Span[] = end <= firstDay ? [{ table: 'usage_hours', from, to }] : [
    { table: 'usage_hours', from, to: firstDay },
    { table: 'usage_days', from: firstDay, to: end },
    { table: 'usage_hours', from: end, to },
  ]
  return spans.filter((span) => span.from < span.to)
}

/** Which roll-ups are meant. `account` null: all accounts. Times in milliseconds since 1970, the end not included. */
export interface RollUpFilter {
  account?: string | null
  key?: string | undefined
  keys?: readonly string[]
  model?: string | undefined
  provider?: string | undefined
  from: number
  to: number
  /** Whether the hours must stay apart. */
  hourly?: boolean
}

/** What is read of a roll-up: `at` is when its minute, hour or day begins. */
export type RollUpLine = Omit<UsageHourRow, 'hour' | 'account_id'> & { at: number }

/** The roll-ups of a time, to be summed: `at` is the start of their hour or day. Whole hours count, the first one too. */
export async function rollUps(store: Store, { from, to, hourly = false, ...filter }: RollUpFilter): Promise<SelectQueryBuilder<Database & { lines: RollUpLine }, 'lines', object>> {
  const { reports } = store
  const mark = hourly ? 0 : ((await reports.selectFrom('usage_added').select('before').where('name', '=', MARK).executeTakeFirst())?.before ?? 0)
  const start = Math.floor(from / HOUR) * HOUR
  const spans = spansOf(start, Math.max(start, to), mark)
  const parts = (spans.length === 0 ? [{ table: 'usage_hours' as const, from: 0, to: 0 }] : spans).map((span) => partOf(store, span, filter))
  const union = parts.reduce((before, part) => before.unionAll(part))
  return reports.selectFrom(union.as('lines'))
}

/** How many requests of a key have ended, as a part of a query that has its id: the same number that its roll-ups sum up to. */
export function requestsOfKey(id: Expression<unknown>): RawBuilder<number> {
  const mark = sql`(select before from usage_added where name = ${sql.lit(MARK)})`
  const days = sql`(select sum(d.requests) from usage_days as d where d.key_id = ${id})`
  const hours = sql`(select sum(h.requests) from usage_hours as h where h.key_id = ${id} and h.hour >= coalesce(${mark}, 0))`
  return sql<number>`cast(coalesce(${days}, 0) + coalesce(${hours}, 0) as bigint)`
}

function partOf({ reports }: Store, { table, from, to }: Span, { account = null, key, keys, model, provider }: Omit<RollUpFilter, 'from' | 'to'>) {
  const time = sql.ref<number>(table === 'usage_days' ? 'day' : 'hour')
  // The two tables differ in the name of their time only.
  let query = reports
    .selectFrom(table as 'usage_hours')
    .select([time.as('at'), 'key_id', 'provider', 'model', ...SUMS])
    .where(time, '>=', from)
    .where(time, '<', to)
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (keys !== undefined) query = query.where('key_id', 'in', keys)
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  return query
}
