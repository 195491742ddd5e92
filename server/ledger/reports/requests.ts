// Lists the ledger: filtered, newest first, page by page.
import { sql } from 'kysely'
import { HOUR, isoTime } from '../../common/clock.ts'
import { columnsWhere, type ColumnsWith } from '../../common/ledger-columns.ts'
import { hasId, hasModel } from '../../store/dialect.ts'
import type { Store } from '../../store/open.ts'
import { all, first, procedure, type Steps } from '../../store/procedure.ts'
import type { RequestRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { flushBeforeReading } from '../settlement/journal.ts'
import { namesOf } from './key-names.ts'
import { STATE_OF, isFailed, isOdd, outcomeOf, type Outcome } from '../outcome.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import { boundary, isChildOf, isKeyOf, seqAt } from './scan.ts'
import { sumUp } from '../rollups/summing.ts'
import { bytesOf, written } from './report-text.ts'

/** How far rows may be out of order by time, because a clock was set (milliseconds). */
export const CLOCK_ROOM = HOUR

type ShownColumn = ColumnsWith<{ shown: 'list' }>
/** The columns that lists show. */
const SHOWN = columnsWhere<ShownColumn>(({ shown }) => shown === 'list')

/** A row of the ledger as the API shows it. */
export type ShownRequest = Omit<Pick<RequestRow, ShownColumn>, 'created_at'> & {
  object: 'request'
  created_at: string
  outcome: Outcome
}

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

/** Rows scanned by the first statement, and by any later one at most: other tasks wait for it. */
const LOOK = { first: 2_000, most: 20_000 }
/**
 * Maximum number of rows scanned for one page. A page that is not full then still has a cursor.
 */
const MOST_LOOKED_AT = 250_000

/** A page of rows, newest first, and the cursor of the next page; null on the last page. */
interface Page<R> {
  rows: R[]
  next: string | null
}

interface PageQuestion {
  filter: RequestFilter
  limit: number
  /** The id of the last row of the page before. */
  cursor?: string | undefined
  /** Maximum number of rows to scan. */
  most?: number | undefined
}

/** See `listRequests`. */
export const requestPage = procedure(
  import.meta.url,
  'requestPage',
  function* (db, question: PageQuestion): Steps<Page<ShownRequest>> {
    const { rows, next } = yield* pageOf(db, question)
    return { rows: rows.map(show), next }
  },
)

/**
 * Rows that match, newest first, after `cursor`. A page before the last may have fewer than `limit`
 * rows, or none.
 */
export async function listRequests(
  store: Store,
  filter: RequestFilter,
  limit: number,
  cursor: string | undefined,
  most?: number,
): Promise<Page<ShownRequest>> {
  await flushBeforeReading(store)
  return store.read(requestPage, { filter, limit, cursor, most })
}

/** A page of rows as lines of a CSV, with the names of keys. */
export const requestLines = procedure(
  import.meta.url,
  'requestLines',
  function* (
    db,
    { columns, ...question }: PageQuestion & { columns: string[] },
  ): Steps<{ text: Uint8Array<ArrayBuffer>; next: string | null }> {
    const { rows, next } = yield* pageOf(db, question)
    const names = yield* namesOf(
      db,
      rows.map(({ key_id }) => key_id),
    )
    const accounts = yield* namesOf(
      db,
      rows.map(({ account_id }) => account_id),
      'accounts',
    )
    const lines = rows.map((row) => ({
      ...show(row),
      key_name: names.get(row.key_id) ?? null,
      account_name: accounts.get(row.account_id) ?? null,
    }))
    return {
      text: bytesOf(written('csv', columns as (keyof (typeof lines)[number])[], lines)),
      next,
    }
  },
)

type Row = Pick<RequestRow, 'seq' | ShownColumn>

function* pageOf(
  db: QueryBuilder,
  { filter: wanted, limit, cursor, most = MOST_LOOKED_AT }: PageQuestion,
): Steps<Page<Row>> {
  const implied = wanted.outcome && STATE_OF[wanted.outcome]
  if (implied !== undefined && wanted.state !== undefined && wanted.state !== implied)
    return { rows: [], next: null }
  const filter = { ...wanted, state: implied ?? wanted.state }
  const { account, key, child, state, status, outcome } = filter
  const start = yield* startOf(db, filter, cursor)
  if (
    start === null ||
    !(yield* isKeyOf(db, account, key)) ||
    !(yield* isChildOf(db, account, key, child)) ||
    (cursor === undefined && !(yield* everEnded(db, filter)))
  )
    return { rows: [], next: null }
  const { from } = start
  let { before } = start
  if (isIndexed(filter) && outcome === undefined) {
    // All rows of the index match, so the limit alone bounds the statement.
    const rows = yield* newest(db, filter, start, limit + 1)
    return {
      rows: rows.slice(0, limit),
      next: (rows.length > limit && rows[limit - 1]?.id) || null,
    }
  }
  const rows: Row[] = []
  const indexed = {
    account,
    key,
    child,
    state,
    odd: outcome === 'failed' || (status !== undefined && Number(status[0]) >= 3),
  }
  let width = Math.min(LOOK.first, most)
  for (let looked = width; ; looked += width) {
    const bound = yield* boundary(db, indexed, before, width)
    const stretch = { from: Math.max(from, bound?.seq ?? 0), before }
    rows.push(...(yield* newest(db, filter, stretch, limit + 1 - rows.length)))
    // One row more shows that there is a next page.
    if (rows.length > limit)
      return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id ?? null }
    if (bound === undefined || bound.seq <= from) return { rows, next: null }
    if (looked >= most) return { rows, next: bound.id }
    before = bound.seq
    width = Math.min(4 * width, LOOK.most, most)
  }
}

/**
 * The range of rows to scan: a row's number grows with its time, so the period bounds the numbers.
 * Null if the cursor belongs to no row.
 */
function* startOf(
  db: QueryBuilder,
  { from, to }: RequestFilter,
  cursor: string | undefined,
): Steps<Stretch | null> {
  const low = from === undefined ? 0 : yield* seqAt(db, from - CLOCK_ROOM)
  const high = to === undefined ? Number.MAX_SAFE_INTEGER : (yield* seqAt(db, to + CLOCK_ROOM)) + 1
  if (cursor === undefined) return { from: low, before: high }
  const seen = yield* first(db.selectFrom('requests').select('seq').where('id', '=', cursor))
  return seen === undefined ? null : { from: low, before: Math.min(high, seen.seq) }
}

/**
 * False if, by the roll-ups, no request of the model has ended and none is in progress, so that no
 * scan is needed.
 */
function* everEnded(
  db: QueryBuilder,
  { account, key, model, provider, state }: RequestFilter,
): Steps<boolean> {
  if (model === undefined || state === 'reserved') return true
  const [lines = []] = yield* sumUp(
    db,
    { account, key, model, provider, from: 0, to: Number.MAX_SAFE_INTEGER },
    undefined,
    [{ by: [] }],
  )
  if (lines.length > 0) return true
  const open = db
    .selectFrom('requests')
    .select('seq')
    .where('state', '=', RESERVED_STATE)
    .where('model', '=', model)
  return (
    (yield* first(
      (account === null ? open : open.where(hasId('account_id', account))).limit(1),
    )) !== undefined
  )
}

/** The newest matching rows of a stretch. */
function* newest(
  db: QueryBuilder,
  filter: RequestFilter,
  stretch: Stretch,
  limit: number,
): Steps<Row[]> {
  const query = (where: RequestFilter, ended = false) => {
    const rows = fitting(db, where, stretch)
    return (ended ? rows.where('state', '<>', RESERVED_STATE) : rows)
      .orderBy('seq', 'desc')
      .limit(limit)
  }
  const { account, key, child, state } = filter
  if (account === null || key !== undefined || child !== undefined || state === 'reserved')
    return yield* all(query(filter))
  // For one account, ended and open requests are in separate indexes, so take the newest of both
  // and merge them.
  const ended = yield* all(query(filter, true))
  if (state !== undefined) return ended
  const open = yield* all(query({ ...filter, state: 'reserved' }))
  return open.length === 0
    ? ended
    : [...ended, ...open].sort((a, b) => b.seq - a.seq).slice(0, limit)
}

/** A range of row numbers; the last is excluded. */
interface Stretch {
  from: number
  before: number
}

/** The matching rows of a stretch, in no particular order. */
function fitting(
  db: QueryBuilder,
  {
    account,
    key,
    child,
    end_user,
    model,
    provider,
    state,
    outcome,
    status,
    from,
    to,
  }: RequestFilter,
  stretch: Stretch,
) {
  let query = db
    .selectFrom('requests')
    .select(['seq', ...SHOWN])
    .where('seq', '>=', stretch.from)
    .where('seq', '<', stretch.before)
  // A key belongs to one account, and a child to one key. With only one of them in the query, it
  // uses the index by which the stretch was measured.
  if (child !== undefined) query = query.where(hasId('child_id', child))
  else if (key !== undefined) query = query.where(hasId('key_id', key))
  else if (account !== null) query = query.where(hasId('account_id', account))
  if (end_user !== undefined) query = query.where('end_user', '=', end_user)
  const isOfAccount = account !== null && key === undefined && child === undefined
  if (model !== undefined && isOfAccount) query = query.where(hasModel(account, model))
  else if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  // Written as a literal, not bound: only then does the query use the partial indexes of open
  // requests and of those that did not simply succeed.
  if (state !== undefined) query = query.where('state', '=', sql.lit(state))
  if (status !== undefined && Number(status[0]) >= 3)
    query = query.where('status', '>=', sql.lit(300))
  if (outcome === 'failed') query = query.where(isOdd).where(isFailed)
  if (outcome === 'succeeded') query = query.where('status', '<', 400).where('error', 'is', null)
  if (from !== undefined) query = query.where('created_at', '>=', from)
  if (to !== undefined) query = query.where('created_at', '<', to)
  if (status !== undefined && /^\dxx$/.test(status))
    query = query
      .where('status', '>=', Number(status[0]) * 100)
      .where('status', '<', Number(status[0]) * 100 + 100)
  else if (status !== undefined) query = query.where('status', '=', Number(status))
  return query
}

/** A row, with the upstream's error text if it failed. */
export type RequestDetail = ShownRequest & {
  upstream_request_id: string | null
  upstream_error: string | null
}

/**
 * One row; undefined if there is none or (with `account`) it belongs to another account.
 *
 * @param id ours, or the upstream's for an error response, which callers see as the X-Request-Id of
 *   some providers
 */
export async function getRequest(
  store: Store,
  id: string,
  account: string | null,
): Promise<RequestDetail | undefined> {
  await flushBeforeReading(store)
  const ours = store.db.selectFrom('requests').select(['seq', 'upstream_request_id', ...SHOWN])
  const mine = account === null ? ours : ours.where('account_id', '=', account)
  const called = store.db
    .selectFrom('upstream_errors')
    .select('request_id')
    .where('upstream_request_id', '=', id)
  const row =
    (await mine.where('id', '=', id).executeTakeFirst()) ??
    (await mine.where('id', 'in', called).orderBy('seq', 'desc').limit(1).executeTakeFirst())
  if (row === undefined) return undefined
  const said = await store.db
    .selectFrom('upstream_errors')
    .select(['upstream_request_id', 'text'])
    .where('request_id', '=', row.id)
    .executeTakeFirst()
  const { upstream_request_id, ...shown } = row
  return {
    ...show(shown),
    // Rows older than this column have it with the error.
    upstream_request_id: upstream_request_id ?? said?.upstream_request_id ?? null,
    upstream_error: said?.text ?? null,
  }
}

function show({ seq: _, ...row }: Pick<RequestRow, 'seq' | ShownColumn>): ShownRequest {
  return { ...row, object: 'request', created_at: isoTime(row.created_at), outcome: outcomeOf(row) }
}
