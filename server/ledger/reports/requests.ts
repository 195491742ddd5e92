// Lists the ledger: filtered, newest first, page by page.
import { sql } from 'kysely'
import { isoTime } from '../../common/clock.ts'
import { hasRequestId } from '../../store/dialect.ts'
import type { Store } from '../../store/store.ts'
import { all, first, procedure, type Steps } from '../../store/procedure.ts'
import type { RequestRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { STATE_OF, outcomeOf, type Outcome } from '../outcome.ts'
import { flushBeforeReading } from '../settlement/journal.ts'
import { namesOf } from './key-names.ts'
import { bytesOf, written } from './report-text.ts'
import {
  SHOWN,
  mayBeOpen,
  newestRows,
  type ListedRow,
  type RequestFilter,
  type ShownColumn,
} from './request-filter.ts'
import { bracketOf, endsOf, isChildOf, ownerOf, type SeqRange } from './scan.ts'
import { CLOCK_ROOM, searchBack, type Budget } from './search.ts'

/** A row of the ledger as the API shows it. */
export type ShownRequest = Omit<Pick<RequestRow, ShownColumn>, 'created_at'> & {
  object: 'request'
  created_at: string
  outcome: Outcome
}

/** How much a page reads. A page that is not full then still has a cursor. */
const BUDGET: Budget = { rows: 250_000, ms: 150, width: 20_000 }

/**
 * A page of rows, newest first, and the cursor of the next page; null on the last page. If the page
 * has fewer rows than requested, `searchedTo` is the time of the row up to which it was searched
 * (milliseconds since 1970).
 */
interface Page<R> {
  rows: R[]
  next: string | null
  searchedTo: number | null
}

interface PageQuestion {
  filter: RequestFilter
  limit: number
  /** The id of the last row of the page before. */
  cursor?: string | undefined
  budget?: Partial<Budget> | undefined
}

/** See `listRequests`. */
export const requestPage = procedure(
  import.meta.url,
  'requestPage',
  function* (db, question: PageQuestion): Steps<Page<ShownRequest>> {
    const page = yield* pageOf(db, question)
    return { ...page, rows: page.rows.map(show) }
  },
)

/**
 * Rows that match, newest first, after `cursor`. A page before the last may have fewer than `limit`
 * rows, or none.
 *
 * @param budget how much to read; by default, up to 150 ms
 */
export async function listRequests(
  store: Store,
  filter: RequestFilter,
  limit: number,
  cursor: string | undefined,
  budget?: Partial<Budget>,
): Promise<Page<ShownRequest>> {
  await flushBeforeReading(store)
  return store.read(requestPage, { filter, limit, cursor, budget })
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

/** An empty page that is the last one. */
const NONE: Page<ListedRow> = { rows: [], next: null, searchedTo: null }

function* pageOf(
  db: QueryBuilder,
  { filter: wanted, limit, cursor, budget }: PageQuestion,
): Steps<Page<ListedRow>> {
  const implied = wanted.outcome && STATE_OF[wanted.outcome]
  if (implied !== undefined && wanted.state !== undefined && wanted.state !== implied) return NONE
  const filter = { ...wanted, state: implied ?? wanted.state }
  const range = yield* rangeOf(db, filter, cursor)
  const account = yield* accountOf(db, filter)
  if (range === null || account === undefined) return NONE
  if (!(yield* isChildOf(db, filter.account, filter.key, filter.child))) return NONE
  // One row more shows that there is a next page.
  const open = mayBeOpen(filter)
    ? yield* all(newestRows(db, filter, { range, limit: limit + 1, index: 'open', account }))
    : []
  const { rows: ended, stop } =
    filter.state === 'reserved'
      ? { rows: [], stop: null }
      : yield* searchBack(db, {
          filter,
          account,
          range,
          limit: limit + 1,
          budget: { ...BUDGET, ...budget },
        })
  // A request may have ended between the two reads.
  const listed = new Set(ended.map(({ seq }) => seq))
  const rows = ended.concat(open.filter(({ seq }) => seq >= (stop?.seq ?? 0) && !listed.has(seq)))
  rows.sort((a, b) => b.seq - a.seq)
  if (rows.length <= limit)
    return { rows, next: stop?.id ?? null, searchedTo: stop?.created_at ?? null }
  return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id ?? null, searchedTo: null }
}

/**
 * The account of a filter, or of its key; null: any. Undefined if the key belongs to another
 * account, or has made no request.
 */
function* accountOf(
  db: QueryBuilder,
  { account, key }: RequestFilter,
): Steps<string | null | undefined> {
  if (key === undefined) return account
  const owner = yield* ownerOf(db, key)
  return owner === null || (account !== null && owner !== account) ? undefined : owner
}

/**
 * The range of rows to search: a row's number grows with its time, so the period bounds the
 * numbers. Null if the cursor belongs to no row, or to another account's.
 */
function* rangeOf(
  db: QueryBuilder,
  { from, to, account }: RequestFilter,
  cursor: string | undefined,
): Steps<SeqRange | null> {
  let [low, high] = [0, Number.MAX_SAFE_INTEGER]
  if (from !== undefined || to !== undefined) {
    const ends = yield* endsOf(db)
    if (from !== undefined) ({ low } = yield* bracketOf(db, ends, from - CLOCK_ROOM, CLOCK_ROOM))
    if (to !== undefined) ({ high } = yield* bracketOf(db, ends, to + CLOCK_ROOM, CLOCK_ROOM))
  }
  if (cursor === undefined) return { from: low, before: high }
  const seen = yield* first(
    db.selectFrom('requests').select(['seq', 'account_id']).where(hasRequestId(cursor)),
  )
  if (seen === undefined || (account !== null && seen.account_id !== account)) return null
  return { from: low, before: Math.min(high, seen.seq) }
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
    .as('called')
  const row =
    (await mine.where(hasRequestId(id)).executeTakeFirst()) ??
    (await mine
      .innerJoin(called, (join) => join.on(hasRequestId(sql.ref('called.request_id'))))
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst())
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
