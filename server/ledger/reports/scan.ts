// Scans the ledger without delaying other tasks: in stretches of a bounded number of rows, along
// the index for a filter.
import { sql } from 'kysely'
import { hasId } from '../../store/dialect.ts'
import { first, type Steps } from '../../store/procedure.ts'
import type { RequestRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { isOdd } from '../outcome.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'

/** The filters that an index serves. `account` null: all accounts. */
export interface IndexedFilter {
  account: string | null
  key?: string | undefined
  /** A child key. */
  child?: string | undefined
  state?: RequestRow['state'] | undefined
  /** Only requests that did not simply succeed. */
  odd?: boolean
}

/** The last row of a stretch. */
export interface Boundary {
  seq: number
  id: string
}

/**
 * The row a given number of rows before a position (exclusive), counted along the index for the
 * filter; undefined if there are fewer. A statement on the rows from there on is short, however few
 * of them match.
 */
export function* boundary(
  db: QueryBuilder,
  { account, key, child, state, odd = false }: IndexedFilter,
  before: number,
  rows: number,
): Steps<Boundary | undefined> {
  let query = db.selectFrom('requests').select('seq').where('seq', '<', before)
  if (child !== undefined) query = query.where(hasId('child_id', child))
  else if (key !== undefined) query = query.where(hasId('key_id', key))
  else if (account !== null) {
    query = query.where(hasId('account_id', account))
    // Written as a literal, not bound: only then does the query use the partial indexes of open
    // requests, of ended ones, and of those that did not simply succeed.
    if (odd) query = query.where(isOdd)
    else if (state === undefined || state === 'settled')
      query = query.where('state', '<>', RESERVED_STATE)
    else query = query.where('state', '=', sql.lit(state))
  }
  const found = yield* first(
    query
      .orderBy('seq', 'desc')
      .limit(1)
      .offset(rows - 1),
  )
  return (
    found &&
    (yield* first(db.selectFrom('requests').select(['seq', 'id']).where('seq', '=', found.seq)))
  )
}

/** Whether the requests of a key belong to an account; true if either is not given. */
export function* isKeyOf(
  db: QueryBuilder,
  account: string | null,
  key: string | undefined,
): Steps<boolean> {
  if (account === null || key === undefined) return true
  const row = yield* first(
    db
      .selectFrom('requests')
      .select('account_id')
      .where(hasId('key_id', key))
      .orderBy('seq', 'desc')
      .limit(1),
  )
  return row?.account_id === account
}

/**
 * Whether the requests of a child key belong to an account and a key; true if no child is given.
 */
export function* isChildOf(
  db: QueryBuilder,
  account: string | null,
  key: string | undefined,
  child: string | undefined,
): Steps<boolean> {
  if (child === undefined) return true
  const row = yield* first(
    db
      .selectFrom('requests')
      .select(['account_id', 'key_id'])
      .where(hasId('child_id', child))
      .orderBy('seq', 'desc')
      .limit(1),
  )
  return (
    row !== undefined &&
    (account === null || row.account_id === account) &&
    (key === undefined || row.key_id === key)
  )
}

/**
 * The approximate number of the first row after a time, found by binary search: rows have no index
 * by time.
 */
export function* seqAt(db: QueryBuilder, time: number): Steps<number> {
  const newest = yield* first(
    db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1),
  )
  const deleted = yield* first(db.selectFrom('retention_mark').select('seq'))
  let [low, high] = [0, (newest?.seq ?? 0) + 1]
  // Below retention's mark, PostgreSQL has to skip deleted rows until the next vacuum.
  let middle = Math.min(deleted?.seq ?? 0, high - 1)
  while (low < high) {
    const row = yield* first(
      db
        .selectFrom('requests')
        .select(['seq', 'created_at'])
        .where('seq', '>=', middle)
        .orderBy('seq')
        .limit(1),
    )
    if (row === undefined || row.created_at >= time) high = middle
    else low = row.seq + 1
    middle = Math.floor((low + high) / 2)
  }
  return low
}
