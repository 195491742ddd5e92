// Lists of proxy keys: filters, orders, pages; and what other pages look up about many keys.
import { sql, type ExpressionBuilder, type SelectQueryBuilder } from 'kysely'
import { entered } from '../ledger/journal.ts'
import { requestsOfKey } from '../ledger/key-totals.ts'
import { displayPrefix } from '../secret.ts'
import type { Store } from '../store/open.ts'
import type { Database, KeyRow } from '../store/schema.ts'
import { IDS_AT_ONCE, listOf, showKeys, type Key, type KeyStatus } from './key-record.ts'
import { compileScope } from './scope.ts'

/** What a list can be ordered by. What never expires comes last, what was never used was used longest ago. */
const BY = {
  created: sql<number | string>`keys.created_at`,
  name: sql<number | string>`lower(keys.name)`,
  end: sql<number | string>`coalesce(keys.expires_at, 9007199254740991)`,
  lastUse: sql<number | string>`coalesce((select requests.created_at from requests where requests.key_id = keys.id order by requests.seq desc limit 1), 0)`,
  requests: sql<number | string>`${requestsOfKey(sql.ref('keys.id'))}`,
}

/** TABLE of orders of a list: what is compared, and which way. Equal ones follow their ids the same way. `moves`: a key changes its place by being used. */
const SORTS = {
  '-created_at': { by: BY.created, direction: 'desc', moves: false },
  created_at: { by: BY.created, direction: 'asc', moves: false },
  name: { by: BY.name, direction: 'asc', moves: false },
  '-name': { by: BY.name, direction: 'desc', moves: false },
  expires_at: { by: BY.end, direction: 'asc', moves: false },
  '-expires_at': { by: BY.end, direction: 'desc', moves: false },
  last_used_at: { by: BY.lastUse, direction: 'asc', moves: true },
  '-last_used_at': { by: BY.lastUse, direction: 'desc', moves: true },
  requests: { by: BY.requests, direction: 'asc', moves: true },
  '-requests': { by: BY.requests, direction: 'desc', moves: true },
} as const

export type KeySort = keyof typeof SORTS
export const KEY_SORTS = Object.keys(SORTS) as [KeySort, ...KeySort[]]

/** Which keys a list holds, in which order. `account` null: those of all accounts. */
export interface KeyFilter {
  account: string | null
  /** One of these. */
  status?: readonly KeyStatus[] | undefined
  /** Part of the name, whatever the case; or the beginning of the prefix, or the id, to the letter. */
  search?: string | undefined
  /** Those that may reach this model. */
  model?: string | undefined
  /** Newest first where it is missing. */
  sort?: KeySort | undefined
}

/** Whether every key has to be looked at for a page. */
export function looksAtAll({ sort = '-created_at', search = '', model }: Pick<KeyFilter, 'sort' | 'search' | 'model'>): boolean {
  return SORTS[sort].moves || search !== '' || model !== undefined
}

/** Rows that are looked at together where a filter cannot be asked of the store. */
const BATCH = 500

/** At most `limit` keys after `cursor`, the `next` of the page before; `next` is null after the last page. */
export async function listKeys(store: Store, filter: KeyFilter, limit: number, cursor: string | undefined, now: number): Promise<{ keys: Key[]; next: string | null }> {
  const { model, search = '', sort = '-created_at' } = filter
  const fits = fitting(filter)
  if (SORTS[sort].moves) await entered(store)
  const found: PlacedRow[] = []
  const most = search === '' && model === undefined ? limit + 1 : BATCH
  let last = cursor
  for (;;) {
    const rows = await keyRows(store, filter, most, last, now)
    found.push(...rows.filter(fits))
    // One too many tells that there is a next page.
    if (rows.length < most || found.length > limit) break
    last = cursorAfter(rows.at(-1)!, sort)
  }
  const rows = found.slice(0, limit)
  return { keys: await showKeys(store, rows, now), next: found.length > limit ? cursorAfter(rows.at(-1)!, sort) : null }
}

/** What the store cannot be asked: case beyond ASCII, and globs. */
function fitting({ model, search = '' }: KeyFilter): (row: Pick<KeyRow, 'id' | 'name' | 'public_id' | 'models'>) => boolean {
  const lower = search.toLowerCase()
  return ({ id, name, public_id, models }) =>
    (name.toLowerCase().includes(lower) || id === search || isPrefixOf(search, public_id)) && (model === undefined || compileScope(listOf(models)).allows([model]))
}

/** Whether a text is the beginning of what is shown of a secret, from the first letter behind its `tmk_` on. */
function isPrefixOf(search: string, publicId: string): boolean {
  return search.length > 'tmk_'.length && displayPrefix('tmk', publicId).startsWith(search)
}

/** How many keys a filter finds. */
export async function countKeys(store: Store, filter: KeyFilter, now: number): Promise<number> {
  const { model, search = '' } = filter
  const query = matching(store.reports.selectFrom('keys'), filter, now)
  if (model === undefined && search === '') return Number((await query.select((e) => e.fn.countAll<number>().as('count')).executeTakeFirst())?.count ?? 0)
  const rows = await query.select(['id', 'name', 'public_id', 'models']).execute()
  return rows.filter(fitting(filter)).length
}

/** A row with what its order compares. */
type PlacedRow = KeyRow & { place: number | string }

/** Where a list goes on: a key that moves keeps its place there, or else the next page would leave out keys, or repeat them, whenever it is used meanwhile. */
function cursorAfter({ id, place }: PlacedRow, sort: KeySort): string {
  return SORTS[sort].moves ? `${id}:${place}` : id
}

async function keyRows(store: Store, filter: KeyFilter, limit: number, cursor: string | undefined, now: number): Promise<PlacedRow[]> {
  const { by, direction, moves } = SORTS[filter.sort ?? '-created_at']
  // Away from the thread that serves requests: a search, or an order by use, looks at every key.
  const db = store.reports
  let query = matching(db.selectFrom('keys'), filter, now).selectAll().select(by.as('place')).orderBy(by, direction).orderBy('keys.id', direction).limit(limit)
  if (cursor !== undefined) {
    const after = direction === 'asc' ? '>' : '<'
    const [id = '', kept] = cursor.split(':')
    const place = moves && kept !== undefined ? Number(kept) : (await db.selectFrom('keys').select(by.as('place')).where('keys.id', '=', id).executeTakeFirst())?.place
    if (place === undefined || (moves && !Number.isSafeInteger(place))) return []
    query = query.where((e) => e.or([e(by, after, place), e.and([e(by, '=', place), e('keys.id', after, id)])]))
  }
  return query.execute()
}

/** Keys that a filter may find: `fitting` decides about those of a search or a model. */
export function matching(keys: SelectQueryBuilder<Database, 'keys', object>, { account, status, search }: KeyFilter, now: number): SelectQueryBuilder<Database, 'keys', object> {
  let query = keys.where('purged_at', 'is', null)
  if (account !== null) query = query.where('account_id', '=', account)
  if (search) {
    // Databases know the case of ASCII's letters only: any other text may stand in place of others here.
    const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&').replaceAll(/\P{ASCII}+/gu, '%').toLowerCase()}%`
    const head = search.startsWith('tmk_') ? search.slice('tmk_'.length) : null
    const isNamed = sql<boolean>`lower(name) like ${pattern} escape '\\'`
    query = query.where((e) => e.or([isNamed, e('id', '=', search), ...(head === null ? [] : [sql<boolean>`substr(public_id, 1, ${head.length}) = ${head}`])]))
  }
  return status === undefined ? query : query.where((e) => e.or(status.map((one) => hasStatus(e, one, now))))
}

/** A key's status, as `statusOf` tells it. */
function hasStatus(e: ExpressionBuilder<Database, 'keys'>, status: KeyStatus, now: number) {
  if (status === 'revoked') return e('revoked_at', 'is not', null)
  const stays = e('revoked_at', 'is', null)
  if (status === 'disabled') return e.and([stays, e('disabled', '=', 1)])
  const enabled = e.and([stays, e('disabled', '=', 0)])
  if (status === 'expired') return e.and([enabled, e('expires_at', '<=', now)])
  return e.and([enabled, e.or([e('expires_at', 'is', null), e('expires_at', '>', now)])])
}

/** The names of keys by their ids. */
export async function keyNames(store: Store, ids: string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const asked = [...new Set(ids)]
  for (let from = 0; from < asked.length; from += IDS_AT_ONCE) {
    const rows = await store.db.selectFrom('keys').select(['id', 'name']).where('id', 'in', asked.slice(from, from + IDS_AT_ONCE)).execute()
    for (const { id, name } of rows) names.set(id, name)
  }
  return names
}

/** Keys in use that expire between two moments, the first of them first. `account` null: of all accounts. */
export async function expiringKeys(store: Store, account: string | null, from: number, to: number): Promise<{ id: string; name: string; expires_at: number }[]> {
  let query = store.reports.selectFrom('keys').select(['id', 'name', 'expires_at']).where('expires_at', '>', from).where('expires_at', '<=', to)
  if (account !== null) query = query.where('account_id', '=', account)
  const rows = await query.where('revoked_at', 'is', null).where('disabled', '=', 0).orderBy('expires_at').limit(100).execute()
  return rows.map(({ id, name, expires_at }) => ({ id, name, expires_at: expires_at! }))
}
