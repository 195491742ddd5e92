// Scans the ledger without delaying other tasks: in stretches of a bounded number of rows, along
// the index for a filter.
import { hasId } from '../../store/dialect.ts'
import { first, type Steps } from '../../store/procedure.ts'
import type { RequestRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { isOdd } from '../outcome.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'

/** A range of row numbers; the last is excluded. */
export interface SeqRange {
  from: number
  before: number
}

/** The filters that an index serves. `account` null: all accounts. */
export interface IndexedFilter {
  account: string | null
  key?: string | undefined
  /** A child key. */
  child?: string | undefined
  /** Only requests that did not simply succeed; of an account, whatever the key. */
  odd?: boolean
}

/** A row up to which a search has come. */
export interface Boundary {
  seq: number
  id: string
  created_at: number
}

/**
 * The row a given number of rows before the end of a range, counted along the index for the filter;
 * undefined if the range has fewer. A statement on the rows from there on is short, however few of
 * them match.
 */
export function* boundary(
  db: QueryBuilder,
  index: IndexedFilter,
  { from, before }: SeqRange,
  rows: number,
): Steps<Boundary | undefined> {
  const found = yield* first(
    along(db, index)
      .select('seq')
      // PostgreSQL plans the statement only for the partitions of the range.
      .where('seq', '>=', from)
      .where('seq', '<', before)
      .orderBy('seq', 'desc')
      .limit(1)
      .offset(rows - 1),
  )
  return found && (yield* first(boundaryAt(db).where('seq', '=', found.seq)))
}

/** The first row of a range along an index; undefined if it has none. */
export function firstOf(
  db: QueryBuilder,
  index: IndexedFilter,
  { from, before }: SeqRange,
): Steps<Boundary | undefined> {
  return first(
    along(db, index)
      .select(BOUNDARY)
      .where('seq', '>=', from)
      .where('seq', '<', before)
      .orderBy('seq')
      .limit(1),
  )
}

const BOUNDARY = ['seq', 'id', 'created_at'] as const

const boundaryAt = (db: QueryBuilder) => db.selectFrom('requests').select(BOUNDARY)

/** The rows of ended requests that an index has. */
function along(db: QueryBuilder, { account, key, child, odd = false }: IndexedFilter) {
  const query = db.selectFrom('requests')
  if (odd) return query.where('account_id', '=', account).where(isOdd)
  if (child !== undefined) return query.where(hasId('child_id', child))
  if (key !== undefined) return query.where(hasId('key_id', key))
  if (account === null) return query
  // Written as a literal, not bound: only then does the query use the partial index of SQLite.
  return query.where(hasId('account_id', account)).where('state', '<>', RESERVED_STATE)
}

/** The account whose requests a key has made; null if it has made none, or no key is given. */
export function* ownerOf(db: QueryBuilder, key: string | undefined): Steps<string | null> {
  if (key === undefined) return null
  const row = yield* first(
    db
      .selectFrom('requests')
      .select('account_id')
      .where(hasId('key_id', key))
      .orderBy('seq', 'desc')
      .limit(1),
  )
  return row?.account_id ?? null
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

/** Numbers around a time: rows below `low` are earlier, rows from `high` on are not. */
export interface TimeBracket {
  low: number
  high: number
}

/** The rows between which times are found, and the number that retention has reached. */
export interface LedgerEnds {
  newest: TimedRow | undefined
  oldest: TimedRow | undefined
  /** All but a few rows up to this number are deleted; 0: none. */
  mark: number
}

/** Reads the ends of the ledger: once for several calls of `bracketOf`. */
export function* endsOf(db: QueryBuilder): Steps<LedgerEnds> {
  const mark = (yield* first(db.selectFrom('retention_mark').select('seq')))?.seq ?? 0
  const rows = db.selectFrom('requests').select(['seq', 'created_at'])
  return {
    newest: yield* first(rows.orderBy('seq', 'desc').limit(1)),
    // Below the mark, PostgreSQL has to skip deleted rows until the next vacuum.
    oldest: yield* first(rows.where('seq', '>', mark).orderBy('seq').limit(1)),
    mark,
  }
}

/**
 * Finds the numbers around a time: rows have no index by time, but a row's number grows with it.
 * Numbers may jump, so each probe looks at the rows on both sides of it.
 *
 * @param room how far apart the times of the rows at the two numbers may be (milliseconds)
 */
export function* bracketOf(
  db: QueryBuilder,
  { newest, oldest }: LedgerEnds,
  time: number,
  room: number,
): Steps<TimeBracket> {
  if (newest === undefined) return { low: 0, high: 0 }
  if (newest.created_at < time) return { low: newest.seq + 1, high: newest.seq + 1 }
  if (oldest === undefined || oldest.created_at >= time)
    return { low: 0, high: oldest?.seq ?? newest.seq }
  const rows = db.selectFrom('requests').select(['seq', 'created_at'])
  let low = oldest
  let high = newest
  for (let probe = 0; low.seq + 1 < high.seq && high.created_at - low.created_at > room; probe++) {
    const middle = probeBetween(low, high, time + (probe % 2 === 0 ? -room : room) / 4, probe)
    const after = yield* first(
      rows.where('seq', '>=', middle).where('seq', '<', high.seq).orderBy('seq').limit(1),
    )
    if (after !== undefined && after.created_at < time) {
      low = after
      continue
    }
    high = after ?? high
    const before = yield* first(
      rows.where('seq', '<', middle).where('seq', '>', low.seq).orderBy('seq', 'desc').limit(1),
    )
    if (before === undefined) break
    if (before.created_at < time) low = before
    else high = before
  }
  return { low: low.seq + 1, high: high.seq }
}

type TimedRow = Pick<RequestRow, 'seq' | 'created_at'>

/**
 * A number between two rows, excluding the first: where `aim` would be if requests came evenly;
 * every fourth time in the middle, because they come in bursts.
 */
function probeBetween(low: TimedRow, high: TimedRow, aim: number, probe: number): number {
  const share = (aim - low.created_at) / (high.created_at - low.created_at)
  const guess = low.seq + (high.seq - low.seq) * (probe % 4 === 3 ? 0.5 : share)
  return Math.max(low.seq + 1, Math.min(high.seq - 1, Math.floor(guess)))
}
