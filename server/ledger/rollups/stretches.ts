// Splits the roll-ups of a period into stretches to sum one at a time: a stretch is a number of
// rows along the index for the filter, so a statement is short, however many keys and models an
// hour has.
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { first, type Steps } from '../../store/procedure.ts'
import type { Database } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { TABLES, type Place, type RollUpFilter, type RollUpLine, type Span } from './periods.ts'
import { SUMS } from './hourly.ts'

/**
 * The roll-ups after one position, up to and including another; null: from the beginning, to the
 * end.
 */
export interface Stretch {
  after: Place | null
  to: Place | null
}

/** The filter for roll-ups, apart from their time. */
export type LineFilter = Omit<RollUpFilter, 'from' | 'to'>

type Lines = SelectQueryBuilder<Database & { lines: RollUpLine }, 'lines', object>

/** The key columns of a position in usage_hours. */
const PLACE = ['hour', 'key_id', 'provider', 'model'] as const

/**
 * The table of a span, typed as `usage_hours`: the tables differ only in the name of their time
 * column, and in whether they have a column for the key.
 */
const tableOf = ({ table }: Span): 'usage_hours' => table as 'usage_hours'

/**
 * The last of the next n roll-ups after a position; null if there are fewer. Filters that the index
 * lacks are ignored. Roll-ups of several keys are unordered, so the result only shows whether there
 * are n.
 */
export function* endOfStretch(
  db: QueryBuilder,
  span: Span,
  filter: LineFilter,
  after: Place | null,
  rows: number,
): Steps<Place | null> {
  const order = orderOf(span, filter)
  let query = within(db.selectFrom(tableOf(span)), span, filter, { after, to: null })
    .select(order.map((column) => sql.ref<string | number>(column).as(column)))
    .limit(1)
    .offset(rows - 1)
  if (filter.keys === undefined) for (const column of order) query = query.orderBy(sql.ref(column))
  return (yield* first(query)) ?? null
}

/** The roll-ups of a stretch that match a filter. */
export function rollUpLines(
  db: QueryBuilder,
  span: Span,
  filter: LineFilter,
  stretch: Stretch,
): Lines {
  const { model, provider } = filter
  const { time, keys } = TABLES[span.table]
  let query = within(db.selectFrom(tableOf(span)), span, filter, stretch)
    .select([sql.ref<number>(time).as('at'), 'provider', 'model', ...SUMS])
    .select((keys ? sql.ref<string>('key_id') : sql<string>`''`).as('key_id'))
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  return db.selectFrom(query.as('lines'))
}

/** The order of the index for a filter. */
function orderOf({ table }: Span, { account = null, key }: LineFilter): readonly string[] {
  const { time, keys } = TABLES[table]
  if (keys) return [time, ...(key === undefined ? ['key_id'] : []), 'provider', 'model']
  return [time, ...(account === null ? ['account_id'] : []), 'provider', 'model']
}

/** Rows of a span's table in a stretch that match the filter's account and key. */
export function within<O>(
  query: SelectQueryBuilder<Database, 'usage_hours', O>,
  span: Span,
  filter: LineFilter,
  { after, to }: Stretch,
) {
  const { account = null, key, keys } = filter
  const time = sql.ref<number>(TABLES[span.table].time)
  const order = orderOf(span, filter)
  const columns = sql`(${sql.join(order.map((name) => sql.ref(name)))})`
  const valuesOf = (place: Place): RawBuilder<unknown> =>
    sql`(${sql.join(order.map((name) => place[name]))})`
  // One bound on each side, so that the index is entered exactly at the row.
  let found =
    after === null
      ? query.where(time, '>=', span.from)
      : query.where(sql<boolean>`${columns} > ${valuesOf(after)}`)
  found =
    to === null
      ? found.where(time, '<', span.to)
      : found.where(sql<boolean>`${columns} <= ${valuesOf(to)}`)
  const { upTo } = span
  if (upTo !== undefined)
    found = found.where(
      sql<boolean>`(${sql.join(PLACE.map((name) => sql.ref(name)))}) <= (${sql.join(PLACE.map((name) => upTo[name]))})`,
    )
  if (key !== undefined) found = found.where('key_id', '=', key)
  if (keys !== undefined) found = found.where('key_id', 'in', keys)
  // A key belongs to one account, which is compared in a form that uses no index: databases would
  // choose the account's index, which has the rows of all its keys.
  const whose =
    key === undefined && keys === undefined
      ? sql.ref<string>('account_id')
      : sql<string>`account_id || ''`
  if (account !== null) found = found.where(whose, '=', account)
  return found
}
