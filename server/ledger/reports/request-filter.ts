// Which rows of the ledger a list has, as a condition of SQL.
import { sql } from 'kysely'
import { columnsWhere, type ColumnsWith } from '../../common/ledger-columns.ts'
import { hasId, hasModel } from '../../store/dialect.ts'
import type { RequestRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { isFailed, isOdd, type Outcome } from '../outcome.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import type { SeqRange } from './scan.ts'

/** A column that lists show. */
export type ShownColumn = ColumnsWith<{ shown: 'list' }>
/** The columns that lists show. */
export const SHOWN = columnsWhere<ShownColumn>(({ shown }) => shown === 'list')

/** A row of a list, and its number. */
export type ListedRow = Pick<RequestRow, 'seq' | ShownColumn>

/** `account` null: all accounts. Times in milliseconds since 1970, the end not included. */
export interface RequestFilter {
  account: string | null
  key?: string | undefined
  /** A child key. */
  child?: string | undefined
  end_user?: string | undefined
  model?: string | undefined
  provider?: string | undefined
  state?: RequestRow['state'] | undefined
  outcome?: Outcome | undefined
  /** An exact status, or a class: `4xx`. */
  status?: string | undefined
  from?: number | undefined
  to?: number | undefined
}

/**
 * Whether the rows of a page are adjacent in an index, so that reading a page is as fast as a
 * lookup, however large the ledger is.
 */
export function isIndexed({ account, key, child, outcome, ...others }: RequestFilter): boolean {
  const { end_user, model, provider, state, status, from, to } = others
  const isFiltered = [end_user, model, provider, state, status, from, to].some(
    (one) => one !== undefined,
  )
  const isByOutcome =
    outcome === undefined ||
    (outcome === 'failed' && account !== null && key === undefined && child === undefined)
  return !isFiltered && isByOutcome
}

/** The lowest status that a filter allows; 0 if it allows any. */
function lowestStatus({ status }: RequestFilter): number {
  if (status === undefined) return 0
  return status.endsWith('xx') ? Number(status[0]) * 100 : Number(status)
}

/** Whether only rows match that did not simply succeed (`isOdd`). */
export function isOddFilter(filter: RequestFilter): boolean {
  return lowestStatus(filter) >= 300 || isCountedOdd(filter)
}

/** Whether the roll-ups count all rows that match as errors, aborted or unknown. */
export function isCountedOdd(filter: RequestFilter): boolean {
  const { outcome, state } = filter
  return (
    outcome === 'failed' ||
    state === 'aborted' ||
    state === 'unknown' ||
    lowestStatus(filter) >= 400
  )
}

/** Whether rows of requests in progress may match. */
export function mayBeOpen({ state, outcome, status }: RequestFilter): boolean {
  return (
    status === undefined &&
    (state === undefined || state === 'reserved') &&
    (outcome === undefined || outcome === 'in_progress')
  )
}

/** Which rows of a range to read. */
export interface RowsQuestion {
  range: SeqRange
  limit: number
  /**
   * The index by which the range was measured: of the filter's own key, child key or account; of
   * the account's rows that did not simply succeed; of its requests in progress, which only this
   * one has.
   */
  index: 'own' | 'odd' | 'open'
  /** The account of the filter, or of its key; null: not known. */
  account: string | null
}

/** The newest rows of a range that match: of requests that have ended, or are in progress. */
export function newestRows(
  db: QueryBuilder,
  filter: RequestFilter,
  { range, limit, index, account }: RowsQuestion,
) {
  const { end_user, model, provider, state, outcome, status } = filter
  // For requests in progress of all accounts, SQLite would read all rows along their numbers.
  const seq = index === 'open' ? sql<number>`seq + 0` : sql.ref<number>('seq')
  let query = db
    .selectFrom('requests')
    .select(['seq', ...SHOWN])
    .where(seq, '>=', range.from)
    .where(seq, '<', range.before)
    .orderBy(seq, 'desc')
    .limit(limit)
  // Literals, not bound: only then does the query use the partial indexes.
  query = query.where('state', index === 'open' ? '=' : '<>', RESERVED_STATE)
  if (state !== undefined) query = query.where('state', '=', sql.lit(state))
  if (isOddFilter(filter)) query = query.where(isOdd)
  for (const condition of whoseRows(filter, index === 'own' ? null : account))
    query = query.where(condition)
  if (end_user !== undefined) query = query.where('end_user', '=', end_user)
  const { key, child } = filter
  if (model !== undefined && filter.account !== null && key === undefined && child === undefined)
    query = query.where(hasModel(filter.account, model, range))
  else if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  if (outcome === 'failed') query = query.where(isFailed)
  if (outcome === 'succeeded') query = query.where('status', '<', 400).where('error', 'is', null)
  if (filter.from !== undefined) query = query.where('created_at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('created_at', '<', filter.to)
  const lowest = lowestStatus(filter)
  if (status?.endsWith('xx'))
    query = query.where('status', '>=', lowest).where('status', '<', lowest + 100)
  else if (status !== undefined) query = query.where('status', '=', lowest)
  return query
}

/**
 * The conditions of a filter's account, key and child key, such that no other index is used than
 * the one by which the range was measured: that of `owner`, if given. A key belongs to one account,
 * and a child to one key.
 */
function whoseRows({ account, key, child }: RequestFilter, owner: string | null) {
  if (owner === null) {
    if (child !== undefined) return [hasId('child_id', child)]
    if (key !== undefined) return [hasId('key_id', key)]
    return account === null ? [] : [hasId('account_id', account)]
  }
  // Databases do not use an index of a column for an expression of it.
  const others = [
    key === undefined ? [] : sql<boolean>`key_id || '' = ${key}`,
    child === undefined ? [] : sql<boolean>`child_id || '' = ${child}`,
  ].flat()
  return [hasId('account_id', owner), ...others]
}
