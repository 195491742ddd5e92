// Roll-ups by day, made from those by hour when an hour is over: a month is then some thousand rows instead of hundreds of thousands, and no
// request waits for it. What was added stands below a mark; everything from there on is read by the hour, so that nothing is late or doubled.
// Only what comes for an hour below the mark is missed by the days: the end of a request that was written off (its process stood still for long
// enough to be taken for dead), or a wall clock that was set back by more than an hour.
import { sql, type Expression, type RawBuilder } from 'kysely'
import { DAY, HOUR, MINUTE } from '../clock.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { UsageHourRow } from '../store/schema.ts'
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

/** What to read for the roll-ups of a time. Whole hours count, the first one too. */
export function* rollUpSpans(db: QueryBuilder, { from, to, hourly = false }: Pick<RollUpFilter, 'from' | 'to' | 'hourly'>): Steps<Span[]> {
  const mark = hourly ? 0 : yield* addedBefore(db)
  // Where it is about all times, most of them hold nothing.
  const first = yield* edge(db, 'asc')
  const last = yield* edge(db, 'desc')
  if (first === null || last === null) return []
  const start = Math.max(Math.floor(from / HOUR) * HOUR, Math.floor(first / DAY) * DAY)
  return spansOf(start, Math.max(start, Math.min(to, last + HOUR)), mark)
}

/** The first or last hour that there is; days that are there begin with one. */
function* edge(db: QueryBuilder, order: 'asc' | 'desc'): Steps<number | null> {
  return (yield* first(db.selectFrom('usage_hours').select('hour').orderBy('hour', order).limit(1)))?.hour ?? null
}

/** How many requests of a key have ended, as a part of a query that has its id: the same number that its roll-ups sum up to. */
export function requestsOfKey(id: Expression<unknown>): RawBuilder<number> {
  const mark = sql`(select before from usage_added where name = ${sql.lit(MARK)})`
  const days = sql`(select sum(d.requests) from usage_days as d where d.key_id = ${id})`
  const hours = sql`(select sum(h.requests) from usage_hours as h where h.key_id = ${id} and h.hour >= coalesce(${mark}, 0))`
  return sql<number>`cast(coalesce(${days}, 0) + coalesce(${hours}, 0) as bigint)`
}
