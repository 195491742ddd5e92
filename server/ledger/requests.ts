// The ledger as a list: filtered, newest first, page by page.
import { sql } from 'kysely'
import { HOUR, isoTime } from '../clock.ts'
import type { Store } from '../store/open.ts'
import type { RequestRow } from '../store/schema.ts'
import { rollUps } from './days.ts'
import { entered } from './journal.ts'
import { RESERVED_STATE } from './rows.ts'

/** How far rows may stand from the order of their times, because a clock was set (milliseconds). */
export const CLOCK_ROOM = HOUR

/** TABLE of the columns that the API shows. */
const SHOWN = [
  'id', 'created_at', 'key_id', 'account_id', 'provider', 'model', 'endpoint', 'method', 'state', 'status', 'error', 'first_byte_ms', 'total_ms',
  'bytes_in', 'bytes_out', 'tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning', 'credential_id', 'context',
] as const satisfies (keyof RequestRow)[]

/** A row of the ledger as the API shows it. */
export type ShownRequest = Omit<Pick<RequestRow, (typeof SHOWN)[number]>, 'created_at'> & { object: 'request'; created_at: string }

/** `account` null: all accounts. Times in milliseconds since 1970, the end not included. */
export interface RequestFilter {
  account: string | null
  key?: string | undefined
  model?: string | undefined
  provider?: string | undefined
  state?: RequestRow['state'] | undefined
  /** An exact status, or a class: `4xx`. */
  status?: string | undefined
  from?: number | undefined
  to?: number | undefined
}

/** Rows that fit, newest first, after `cursor` (the id of the last one seen). */
export async function listRequests(store: Store, filter: RequestFilter, limit: number, cursor: string | undefined): Promise<ShownRequest[]> {
  const { account, state, from, to } = filter
  await entered(store)
  // Rows are about as old as their number says, so the time asked for bounds the numbers.
  const numbers = { from: from === undefined ? undefined : await seqAt(store, from - CLOCK_ROOM), to: to === undefined ? undefined : await seqAt(store, to + CLOCK_ROOM) }
  const newest = (where: RequestFilter, ended = false) => {
    const rows = fitting(store, where, numbers, cursor)
    return (ended ? rows.where('state', '<>', RESERVED_STATE) : rows).orderBy('seq', 'desc').limit(limit)
  }
  if (account === null || state === 'reserved') return (await newest(filter).execute()).map(show)
  // Of one account, what has ended and what is under way stand in indexes apart: the newest of both, and of these the newest.
  const ended = newest(filter, true)
  if (state !== undefined) return (await ended.execute()).map(show)
  const open = store.reports.selectFrom(newest({ ...filter, state: 'reserved' }).as('open')).selectAll()
  const both = (await everEnded(store, filter)) ? open.unionAll(store.reports.selectFrom(ended.as('ended')).selectAll()) : open
  return (await both.orderBy('seq', 'desc').limit(limit).execute()).map(show)
}

/** False where the roll-ups know that no request of the model has ended: nobody has to look for it in every row. */
async function everEnded(store: Store, { account, key, model, provider }: RequestFilter): Promise<boolean> {
  if (model === undefined) return true
  const lines = await rollUps(store, { account, key, model, provider, from: 0, to: Number.MAX_SAFE_INTEGER })
  return (await lines.select('model').limit(1).executeTakeFirst()) !== undefined
}

interface Numbers {
  from: number | undefined
  to: number | undefined
}

/** The rows that fit, in no order. */
function fitting(store: Store, { account, key, model, provider, state, status, from, to }: RequestFilter, numbers: Numbers, cursor: string | undefined) {
  let query = store.reports.selectFrom('requests').select(['seq', ...SHOWN])
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  // Written out, not bound: only then do the indexes of what is under way, and of what is no ordinary success, serve the query.
  if (state !== undefined) query = query.where('state', '=', sql.lit(state))
  if (status !== undefined && Number(status[0]) >= 3) query = query.where('status', '>=', sql.lit(300))
  if (from !== undefined) query = query.where('created_at', '>=', from)
  if (to !== undefined) query = query.where('created_at', '<', to)
  if (status !== undefined && /^\dxx$/.test(status)) query = query.where('status', '>=', Number(status[0]) * 100).where('status', '<', Number(status[0]) * 100 + 100)
  else if (status !== undefined) query = query.where('status', '=', Number(status))
  if (numbers.to !== undefined) query = query.where('seq', '<=', numbers.to)
  if (numbers.from !== undefined) query = query.where('seq', '>=', numbers.from)
  if (cursor !== undefined) query = query.where('seq', '<', (e) => e.selectFrom('requests as seen').select('seen.seq').where('seen.id', '=', cursor))
  return query
}

/** One row, or undefined where there is none, or (with `account`) it is another account's. */
export async function getRequest(store: Store, id: string, account: string | null): Promise<ShownRequest | undefined> {
  await entered(store)
  const row = await store.db.selectFrom('requests').select(['seq', ...SHOWN]).where('id', '=', id).executeTakeFirst()
  return row && (account === null || row.account_id === account) ? show(row) : undefined
}

/** About the number of the first row of a moment, found by halving: rows have no index by time, and need none. */
export async function seqAt(store: Store, time: number): Promise<number> {
  const at = (seq: number) => store.reports.selectFrom('requests').select(['seq', 'created_at']).where('seq', '>=', seq).orderBy('seq').limit(1).executeTakeFirst()
  const newest = await store.reports.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst()
  let [low, high] = [0, (newest?.seq ?? 0) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await at(middle)
    if (row === undefined || row.created_at >= time) high = middle
    else low = row.seq + 1
  }
  return low
}

function show({ seq: _, ...row }: Pick<RequestRow, 'seq' | (typeof SHOWN)[number]>): ShownRequest {
  return { ...row, object: 'request', created_at: isoTime(row.created_at) }
}
