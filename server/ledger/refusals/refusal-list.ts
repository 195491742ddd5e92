// Lists refused requests, newest first, and counts them.
import { MINUTE, isoTime } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import type { RefusalRow } from '../../store/schema.ts'

/** A refusal as the API shows it. */
export type ShownRefusal = Omit<RefusalRow, 'created_at'> & {
  object: 'refusal'
  created_at: string
  outcome: 'refused'
}

/** `account` null: all accounts. Times in milliseconds since 1970, the end not included. */
export interface RefusalFilter {
  account: string | null
  key?: string | undefined
  code?: string | undefined
  from: number
  to: number
}

/**
 * Refusals after `cursor`, the id of the last one on the page before; `next` is null after the last
 * page.
 */
export async function listRefusals(
  store: Store,
  { account, key, code, from, to }: RefusalFilter,
  limit: number,
  cursor: string | undefined,
): Promise<{ rows: ShownRefusal[]; next: string | null }> {
  const db = store.reports
  let query = db
    .selectFrom('refusals')
    .selectAll()
    .where('created_at', '>=', from)
    .where('created_at', '<', to)
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (code !== undefined) query = query.where('code', '=', code)
  if (cursor !== undefined) {
    const seen = await db
      .selectFrom('refusals')
      .select('created_at')
      .where('id', '=', cursor)
      .$if(account !== null, (one) => one.where('account_id', '=', account))
      .executeTakeFirst()
    if (seen === undefined) return { rows: [], next: null }
    const { created_at } = seen
    query = query.where((e) =>
      e.or([
        e('created_at', '<', created_at),
        e.and([e('created_at', '=', created_at), e('id', '<', cursor)]),
      ]),
    )
  }
  // One row more shows that there is a next page.
  const found = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return {
    rows: found.slice(0, limit).map(show),
    next: found.length > limit ? (found[limit - 1]?.id ?? null) : null,
  }
}

/**
 * How many requests were refused, by code. Times are rounded to whole minutes, including the first.
 */
export async function countRefused(
  store: Store,
  { account, key, code, from, to }: RefusalFilter,
): Promise<Record<string, number>> {
  let query = store.reports
    .selectFrom('refusal_minutes')
    .select((e) => ['code', e.fn.sum<number>('refused').as('refused')])
    .where('minute', '>=', Math.floor(from / MINUTE) * MINUTE)
    .where('minute', '<', to)
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (code !== undefined) query = query.where('code', '=', code)
  const rows = await query.groupBy('code').orderBy('code').execute()
  return Object.fromEntries(rows.map(({ code, refused }) => [code, Number(refused)]))
}

/** One refusal; undefined if there is none or (with `account`) it belongs to another account. */
export async function getRefusal(
  store: Store,
  id: string,
  account: string | null,
): Promise<ShownRefusal | undefined> {
  const row = await store.db
    .selectFrom('refusals')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && (account === null || row.account_id === account) ? show(row) : undefined
}

function show(row: RefusalRow): ShownRefusal {
  return { ...row, object: 'refusal', created_at: isoTime(row.created_at), outcome: 'refused' }
}
