// Selects the tables for the roll-ups of a period: whole days by day, the rest by hour; of one key,
// or over all keys of an account.
import { DAY, HOUR } from '../../common/clock.ts'
import { first, type Steps } from '../../store/procedure.ts'
import type { UsageHourRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'

/** TABLE of tables: the column of their time, and whether they have a column for the key. */
export const TABLES = {
  usage_hours: { time: 'hour', keys: true },
  usage_days: { time: 'day', keys: true },
  usage_account_hours: { time: 'hour', keys: false },
  usage_account_days: { time: 'day', keys: false },
  usage_key_days: { time: 'day', keys: true },
} as const

type Table = keyof typeof TABLES

/** The position of a roll-up among those of a span: its key columns. */
export type Place = Readonly<Record<string, string | number>>

/** How far a roll-up has been filled. */
export interface Mark {
  /** Hours before this time have been added to it (milliseconds since 1970); 0: none yet. */
  readonly before: number
  /**
   * In the hour that begins then, the rows of usage_hours up to this one have also been added;
   * null: none.
   */
  readonly upTo: Place | null
}

/**
 * TABLE of sources: the mark below which each is filled, and its tables by day and by hour. Hours
 * after the mark are only in usage_hours. `totals` only has the requests of keys (key-totals.ts).
 */
export const SOURCES = {
  totals: { mark: 'keys', days: 'usage_key_days', hours: 'usage_hours' },
  keys: { mark: 'days', days: 'usage_days', hours: 'usage_hours' },
  accounts: { mark: 'accounts', days: 'usage_account_days', hours: 'usage_account_hours' },
} as const satisfies Record<string, { mark: string; days: Table; hours: Table }>

/** The tables of one kind of sum, by day and by hour. */
export type Source = (typeof SOURCES)[keyof typeof SOURCES]

/** A period in one of the tables; the end is excluded. */
export interface Span {
  table: Table
  from: number
  to: number
  /**
   * If set, the span ends at this position and is subtracted, because the days and the hours that
   * are read both include it.
   */
  upTo?: Place
}

/**
 * Selects the spans to read for a period.
 *
 * @param from start of an hour
 * @param mark the source's tables have everything before it, and the part of the hour after it that
 *   it names
 * @param hourly whether hours must be kept apart
 */
export function spansOf(
  from: number,
  to: number,
  mark: Mark,
  source: Source,
  hourly = false,
): Span[] {
  const { before, upTo } = mark
  const firstDay = Math.ceil(from / DAY) * DAY
  // The day of the mark has everything before the mark, or slightly more; it can be used if all of
  // that is in the period.
  const isAll = upTo === null ? to >= before : to > before
  const end = isAll ? before : Math.floor(to / DAY) * DAY
  if (hourly || end <= firstDay) return hoursOf(from, to, before, source)
  // A day that begins at the mark is not read; totals have no days.
  const isTwice = isAll && upTo !== null && (before % DAY !== 0 || source === SOURCES.totals)
  return [
    ...hoursOf(from, firstDay, before, source),
    { table: source.days, from: firstDay, to: end },
    ...hoursOf(end, to, before, source),
    ...(isTwice ? [partOf(before, upTo)] : []),
  ]
}

/** The part already added of the hour that begins at a mark. */
export function partOf(before: number, upTo: Place): Span {
  return { table: 'usage_hours', from: before, to: before + HOUR, upTo }
}

function hoursOf(from: number, to: number, mark: number, { hours }: Source): Span[] {
  const filled = hours === 'usage_hours' ? to : Math.max(from, Math.min(to, mark))
  const spans: Span[] = [
    { table: hours, from, to: filled },
    { table: 'usage_hours', from: filled, to },
  ]
  return spans.filter((span) => span.from < span.to)
}

/**
 * Selects roll-ups. `account` null: all accounts. Times in milliseconds since 1970, the end
 * excluded.
 */
export interface RollUpFilter {
  account?: string | null
  key?: string | undefined
  keys?: readonly string[]
  model?: string | undefined
  provider?: string | undefined
  from: number
  to: number
}

/**
 * A roll-up as read: `at` is the start of its minute, hour or day. Over all keys of an account,
 * `key_id` is empty.
 */
export type RollUpLine = Omit<UsageHourRow, 'hour' | 'account_id'> & { at: number }

/**
 * The part of a period that has roll-ups, from the start of an hour; null if there are none. A
 * period without bounds is mostly empty.
 */
export function* filledTime(
  db: QueryBuilder,
  { from, to }: Pick<RollUpFilter, 'from' | 'to'>,
): Steps<{ from: number; to: number } | null> {
  const first = yield* edge(db, 'asc')
  const last = yield* edge(db, 'desc')
  if (first === null || last === null) return null
  const start = Math.max(Math.floor(from / HOUR) * HOUR, Math.floor(first / DAY) * DAY)
  return { from: start, to: Math.max(start, Math.min(to, last + HOUR)) }
}

/** The first or last hour with roll-ups; roll-ups by day have no other days. */
function* edge(db: QueryBuilder, order: 'asc' | 'desc'): Steps<number | null> {
  return (
    (yield* first(db.selectFrom('usage_hours').select('hour').orderBy('hour', order).limit(1)))
      ?.hour ?? null
  )
}
