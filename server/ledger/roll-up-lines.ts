// The roll-ups of a time, to be summed a stretch at a time: stretches are counted in rows, along the index that serves the filter, so that a statement is
// short however many keys and models an hour has.
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { first, type Steps } from '../store/procedure.ts'
import type { Database } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import type { RollUpFilter, RollUpLine, Span } from './days.ts'
import { SUMS } from './sums.ts'

/** Where a roll-up stands among those of a span. */
export interface Place {
  at: number
  key_id: string
  provider: string
  model: string
}

/** The roll-ups behind one place, up to another one, which is included; null: from the beginning, to the end. */
export interface Stretch {
  after: Place | null
  to: Place | null
}

export type LineFilter = Omit<RollUpFilter, 'from' | 'to' | 'hourly'>

type Lines = SelectQueryBuilder<Database & { lines: RollUpLine }, 'lines', object>

const timeOf = ({ table }: Span): 'hour' => (table === 'usage_days' ? 'day' : 'hour') as 'hour' // the two tables differ in that name only

/**
 * The last of the next so many roll-ups behind a place; null where there are fewer. Other filters than the index has do not count. Those of several
 * keys are in no order: it is only told whether there are so many.
 */
export function* endOfStretch(db: QueryBuilder, span: Span, filter: LineFilter, after: Place | null, rows: number): Steps<Place | null> {
  const time = timeOf(span)
  let query = within(db.selectFrom(span.table as 'usage_hours'), span, filter, { after, to: null })
    .select([sql.ref<number>(time).as('at'), 'key_id', 'provider', 'model'])
    .limit(1)
    .offset(rows - 1)
  if (filter.keys === undefined) for (const column of orderOf(span, filter)) query = query.orderBy(column as 'hour')
  return (yield* first(query)) ?? null
}

/** The roll-ups of a stretch that fit a filter. */
export function rollUpLines(db: QueryBuilder, span: Span, filter: LineFilter, stretch: Stretch): Lines {
  const { model, provider } = filter
  let query = within(db.selectFrom(span.table as 'usage_hours'), span, filter, stretch)
    .select([sql.ref<number>(timeOf(span)).as('at'), 'key_id', 'provider', 'model', ...SUMS])
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  return db.selectFrom(query.as('lines'))
}

/** What the index is in the order of that serves a filter. */
function orderOf(span: Span, { key }: LineFilter): readonly string[] {
  return key === undefined ? [timeOf(span), 'key_id', 'provider', 'model'] : [timeOf(span), 'provider', 'model']
}

function within<O>(query: SelectQueryBuilder<Database, 'usage_hours', O>, span: Span, filter: LineFilter, { after, to }: Stretch) {
  const { account = null, key, keys } = filter
  const time = sql.ref<number>(timeOf(span))
  const order = orderOf(span, filter)
  const columns = sql`(${sql.join(order.map((name) => sql.ref(name)))})`
  const valuesOf = (place: Place): RawBuilder<unknown> => {
    const { at, key_id, provider, model } = place
    return sql`(${sql.join(key === undefined ? [at, key_id, provider, model] : [at, provider, model])})`
  }
  // One bound on each side, so that the index is entered at the very row.
  let found = after === null ? query.where(time, '>=', span.from) : query.where(sql<boolean>`${columns} > ${valuesOf(after)}`)
  found = to === null ? found.where(time, '<', span.to) : found.where(sql<boolean>`${columns} <= ${valuesOf(to)}`)
  // A key is of one account.
  if (key !== undefined) found = found.where('key_id', '=', key)
  if (keys !== undefined) found = found.where('key_id', 'in', keys)
  if (account !== null) found = found.where('account_id', '=', account)
  return found
}
