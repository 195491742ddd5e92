// The ledger as a list: filtered, newest first, page by page.
import type { Selectable } from 'kysely'
import type { Store } from '../store/open.ts'
import type { RequestRow } from '../store/schema.ts'

/** A row of the ledger as the API shows it. */
export interface ShownRequest {
  id: string
  object: 'request'
  created_at: string
  key_id: string
  account_id: string
  provider: string
  model: string | null
  endpoint: string
  method: string
  state: RequestRow['state']
  status: number | null
  error: string | null
  first_byte_ms: number | null
  total_ms: number | null
  bytes_in: number | null
  bytes_out: number | null
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
  credential_id: string | null
  context: string | null
}

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

/**
 * Rows that fit, newest first, after `cursor` (the id of the last one seen).
 */
export async function listRequests(store: Store, filter: RequestFilter, limit: number, cursor: string | undefined): Promise<ShownRequest[]> {
  const { account, key, model, provider, state, status, from, to } = filter
  let query = store.reports.selectFrom('requests').selectAll().orderBy('seq', 'desc').limit(limit)
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  if (state !== undefined) query = query.where('state', '=', state)
  if (from !== undefined) query = query.where('created_at', '>=', from)
  if (to !== undefined) query = query.where('created_at', '<', to)
  if (status !== undefined && /^\dxx$/.test(status)) query = query.where('status', '>=', Number(status[0]) * 100).where('status', '<', Number(status[0]) * 100 + 100)
  else if (status !== undefined) query = query.where('status', '=', Number(status))
  // Rows are about as old as their number says, so the time asked for bounds the numbers, with room for a clock that was set.
  if (to !== undefined) query = query.where('seq', '<=', await seqAt(store, to + CLOCK_ROOM, 'asc', Number.MAX_SAFE_INTEGER))
  if (from !== undefined) query = query.where('seq', '>=', await seqAt(store, from - CLOCK_ROOM, 'desc', 0))
  if (cursor !== undefined) {
    query = query.where('seq', '<', (e) => e.selectFrom('requests as seen').select('seen.seq').where('seen.id', '=', cursor))
  }
  return (await query.execute()).map(show)
}

/** One row, or undefined where there is none, or (with `account`) it is another account's. */
export async function getRequest(store: Store, id: string, account: string | null): Promise<ShownRequest | undefined> {
  const row = await store.db.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirst()
  return row && (account === null || row.account_id === account) ? show(row) : undefined
}

const CLOCK_ROOM = 3_600_000

/** The number of the first row after a moment (`asc`), or of the last before it (`desc`). */
async function seqAt(store: Store, time: number, order: 'asc' | 'desc', otherwise: number): Promise<number> {
  const row = await store.reports
    .selectFrom('requests')
    .select('seq')
    .where('created_at', order === 'asc' ? '>=' : '<', time)
    .orderBy('created_at', order)
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? otherwise
}

function show(row: Selectable<RequestRow>): ShownRequest {
  return {
    id: row.id, object: 'request', created_at: new Date(row.created_at).toISOString(), key_id: row.key_id, account_id: row.account_id, provider: row.provider,
    model: row.model, endpoint: row.endpoint, method: row.method, state: row.state, status: row.status, error: row.error, first_byte_ms: row.first_byte_ms,
    total_ms: row.total_ms, bytes_in: row.bytes_in, bytes_out: row.bytes_out, tokens_in: row.tokens_in, tokens_out: row.tokens_out,
    tokens_cached: row.tokens_cached, tokens_reasoning: row.tokens_reasoning, credential_id: row.credential_id, context: row.context,
  }
}
