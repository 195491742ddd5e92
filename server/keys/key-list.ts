// Lists of proxy keys: filters, orders and pages; and lookups of many keys at once.
import { sql, type ExpressionBuilder, type SelectQueryBuilder } from 'kysely'
import { flushBeforeReading } from '../ledger/settlement/journal.ts'
import { REQUESTS_OF_KEY, requestsSinceTotals } from '../ledger/rollups/key-totals.ts'
import { TurnBudget } from '../common/fairness/turn-budget.ts'
import { displayPrefix } from '../common/issued-secrets.ts'
import { hasId } from '../store/dialect.ts'
import type { Store } from '../store/store.ts'
import type { Database, KeyRow } from '../store/schema.ts'
import { MAX_QUERY_IDS, fromJsonList, showKeys, type Key, type KeyStatus } from './key-record.ts'
import { compileScope } from './scope.ts'

/** Sort expressions. Nulls: no expiry sorts last, never used sorts first. */
const BY = {
  created: sql<number | string>`keys.created_at`,
  name: sql<number | string>`lower(keys.name)`,
  end: sql<number | string>`coalesce(keys.expires_at, 9007199254740991)`,
  lastUse: sql<
    number | string
  >`coalesce((select requests.created_at from requests where ${hasId('requests.key_id', sql.ref('keys.id'))} order by requests.seq desc limit 1), (select last_used_at from key_uses where key_uses.key_id = keys.id), 0)`,
  requests: sql<number | string>`${REQUESTS_OF_KEY}`,
}

/**
 * TABLE of orders: expression and direction; ties are broken by id in the same direction. `moves`:
 * the value changes as the key is used.
 */
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

/** Name of an order, as in the API. */
export type KeySort = keyof typeof SORTS
/** All orders. */
export const KEY_SORTS = Object.keys(SORTS) as [KeySort, ...KeySort[]]

/** Filter and order of a list. `account` null: all accounts. */
export interface KeyFilter {
  account: string | null
  /** One of these. */
  status?: readonly KeyStatus[] | undefined
  /** Part of the name (case-insensitive), the beginning of the prefix, or the exact id. */
  search?: string | undefined
  /** Children of this key; without it, keys without a parent, and a key found by its prefix. */
  parent?: string | undefined
  /** Keys that may use this model. */
  model?: string | undefined
  /** Default: newest first. */
  sort?: KeySort | undefined
}

/** Whether a page needs a scan of all keys. */
export function needsScan({
  sort = '-created_at',
  search = '',
  model,
}: Pick<KeyFilter, 'sort' | 'search' | 'model'>): boolean {
  return SORTS[sort].moves || search !== '' || model !== undefined
}

/** Rows read per query if part of the filter cannot be expressed in SQL. */
const BATCH_ROWS = 500

/**
 * Characters of lists in a page, which ends there: writing the megabytes of a hundred keys with
 * long lists holds up all other requests for 40 ms.
 */
const MAX_PAGE_CHARACTERS = 2 ** 18

/**
 * At most `limit` keys after `cursor`, the `next` of the page before; `next` is null after the last
 * page. Keys with long lists are fewer.
 */
export async function listKeys(
  store: Store,
  filter: KeyFilter,
  limit: number,
  cursor: string | undefined,
  now: number,
): Promise<{ keys: Key[]; next: string | null }> {
  const { model, search = '', sort = '-created_at' } = filter
  if (SORTS[sort].moves) await flushBeforeReading(store)
  const found: ListedRow[] = []
  const limitRows = search === '' && model === undefined ? limit + 1 : BATCH_ROWS
  let last = cursor
  for (;;) {
    const rows = await keyRows(store, filter, limitRows, last, now)
    found.push(...(await fittingRows(rows, filter)))
    // One row more than the limit shows that there is a next page.
    if (rows.length < limitRows || found.length > limit) break
    const end = rows.at(-1)
    if (end !== undefined) last = cursorAfter(end, sort)
  }
  const page = found.slice(0, Math.min(limit, fittingPage(found)))
  const end = page.at(-1)
  return {
    keys: await showKeys(store, await rowsOf(store, page), now),
    next: found.length > page.length && end !== undefined ? cursorAfter(end, sort) : null,
  }
}

/** How many of these keys a page has, at least one. */
function fittingPage(rows: readonly ListedRow[]): number {
  let characters = 0
  const last = rows.findIndex(({ size }) => (characters += Number(size)) > MAX_PAGE_CHARACTERS)
  return last < 0 ? rows.length : Math.max(1, last)
}

/** The whole rows, in their order. */
async function rowsOf(store: Store, page: readonly ListedRow[]): Promise<KeyRow[]> {
  if (page.length === 0) return []
  const ids = page.map(({ id }) => id)
  const rows = await store.db.selectFrom('keys').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** What decides whether a key fits a filter. */
type Fitted = Pick<KeyRow, 'id' | 'name' | 'public_id'> & Partial<Pick<KeyRow, 'models'>>

/** Characters of lists of models that all searches together read in one turn of the event loop. */
const MODELS_PER_TURN = 2 ** 18
const turns = new TurnBudget(1)

/** The rows that fit the part of a filter that SQL cannot express: case beyond ASCII, and globs. */
async function fittingRows<T extends Fitted>(
  rows: readonly T[],
  { account, model, search = '' }: KeyFilter,
): Promise<T[]> {
  const owner = { account_id: account ?? '', key_id: '' }
  const lower = search.toLowerCase()
  const found: T[] = []
  let read = 0
  for (const row of rows) {
    const { id, name, public_id, models = null } = row
    if (!name.toLowerCase().includes(lower) && id !== search && !isPrefixOf(search, public_id))
      continue
    if (model !== undefined) {
      read += models?.length ?? 0
      if (read > MODELS_PER_TURN) {
        await new Promise<void>((resolve) => turns.defer(owner, resolve))
        read = 0
      }
      if (!compileScope(fromJsonList(models)).allows([model])) continue
    }
    found.push(row)
  }
  return found
}

/**
 * Whether a search is the beginning of the displayed prefix, with at least one character after
 * `tmk_`.
 */
function isPrefixOf(search: string, publicId: string): boolean {
  return isSecretHead(search) && displayPrefix('tmk', publicId).startsWith(search)
}

function isSecretHead(search = ''): boolean {
  return search.length > 'tmk_'.length && search.startsWith('tmk_')
}

/** Number of keys that match a filter. */
export async function countKeys(store: Store, filter: KeyFilter, now: number): Promise<number> {
  const { model, search = '' } = filter
  const query = matching(store.reports.selectFrom('keys'), filter, now)
  if (model === undefined && search === '')
    return Number(
      (await query.select((e) => e.fn.countAll<number>().as('count')).executeTakeFirst())?.count ??
        0,
    )
  const rows = await query
    .select(['id', 'name', 'public_id'])
    .$if(model !== undefined, (one) => one.select('models'))
    .execute()
  return (await fittingRows(rows, filter)).length
}

/** A key in a list: the value it is sorted by, and the characters of its lists. */
type ListedRow = Fitted & { place: number | string; size: number | string }

/** The characters of a key's lists; a child has those of its parent that it does not narrow. */
const SIZE = sql<number | string>`${sql.join(
  ['models', 'allowed_origins', 'providers'].map(
    (name) =>
      sql`coalesce(length(${sql.ref(`keys.${name}`)}), (select length(${sql.ref(`parents.${name}`)}) from keys as parents where parents.id = keys.parent_id), 0)`,
  ),
  sql` + `,
)}`

/**
 * The cursor after a row. If the sort value changes with use, it is part of the cursor; otherwise
 * the next page could skip or repeat keys.
 */
function cursorAfter({ id, place }: ListedRow, sort: KeySort): string {
  return SORTS[sort].moves ? `${id}:${place}` : id
}

async function keyRows(
  store: Store,
  filter: KeyFilter,
  limit: number,
  cursor: string | undefined,
  now: number,
): Promise<ListedRow[]> {
  const { by, direction, moves } = SORTS[filter.sort ?? '-created_at']
  // Not on the main thread: a search, or sorting by use, scans all keys.
  const keys = store.reports
    .selectFrom('keys')
    .$if(by === BY.requests, (query) =>
      query
        .leftJoin('usage_keys', 'usage_keys.key_id', 'keys.id')
        .leftJoin(requestsSinceTotals(filter.account).as('since'), 'since.key_id', 'keys.id'),
    )
  let query = matching(keys, filter, now)
    .select(['keys.id', 'keys.name', 'keys.public_id', by.as('place'), SIZE.as('size')])
    .$if(filter.model !== undefined, (one) => one.select('keys.models'))
    .orderBy(by, direction)
    .orderBy('keys.id', direction)
    .limit(limit)
  if (cursor !== undefined) {
    const after = direction === 'asc' ? '>' : '<'
    const [id = '', kept] = cursor.split(':')
    const place =
      moves && kept !== undefined
        ? Number(kept)
        : await placeOf(keys.select(by.as('place')), id, filter)
    if (place === undefined || (moves && !Number.isSafeInteger(place))) return []
    query = query.where((e) =>
      e.or([e(by, after, place), e.and([e(by, '=', place), e('keys.id', after, id)])]),
    )
  }
  return query.execute()
}

/**
 * The value that a key is sorted by. Undefined for another account's key, whose name or use its
 * position among one's own keys would tell.
 */
async function placeOf(
  places: SelectQueryBuilder<Database, 'keys', { place: number | string }>,
  id: string,
  { account }: KeyFilter,
): Promise<number | string | undefined> {
  let query = places.where('keys.id', '=', id)
  if (account !== null) query = query.where('keys.account_id', '=', account)
  return (await query.executeTakeFirst())?.place
}

/** Keys that may match a filter; `fitting` makes the final decision about searches and models. */
export function matching(
  keys: SelectQueryBuilder<Database, 'keys', object>,
  { account, status, search, parent }: KeyFilter,
  now: number,
): SelectQueryBuilder<Database, 'keys', object> {
  let query = keys.where('purged_at', 'is', null)
  if (parent !== undefined) query = query.where('parent_id', '=', parent)
  // The prefix of a secret matches exactly its key.
  else if (!isSecretHead(search)) query = query.where('parent_id', 'is', null)
  if (account !== null) query = query.where('keys.account_id', '=', account)
  if (search) {
    // Databases fold case only for ASCII, so other characters match anything here.
    const pattern = `%${search
      .replaceAll(/[\\%_]/g, '\\$&')
      .replaceAll(/\P{ASCII}+/gu, '%')
      .toLowerCase()}%`
    const head = search.startsWith('tmk_') ? search.slice('tmk_'.length) : null
    const isNamed = sql<boolean>`lower(name) like ${pattern} escape '\\'`
    query = query.where((e) =>
      e.or([
        isNamed,
        e('id', '=', search),
        ...(head === null ? [] : [sql<boolean>`substr(public_id, 1, ${head.length}) = ${head}`]),
      ]),
    )
  }
  return status === undefined
    ? query
    : query.where((e) => e.or(status.map((one) => hasStatus(e, one, now))))
}

/** `statusOf` as an SQL condition. */
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
  for (let from = 0; from < asked.length; from += MAX_QUERY_IDS) {
    const rows = await store.db
      .selectFrom('keys')
      .select(['id', 'name'])
      .where('id', 'in', asked.slice(from, from + MAX_QUERY_IDS))
      .execute()
    for (const { id, name } of rows) names.set(id, name)
  }
  return names
}

/** Active keys that expire between two times, soonest first. `account` null: of all accounts. */
export async function expiringKeys(
  store: Store,
  account: string | null,
  from: number,
  to: number,
): Promise<{ id: string; name: string; expires_at: number }[]> {
  let query = store.reports
    .selectFrom('keys')
    .select(['id', 'name', 'expires_at'])
    .where('expires_at', '>', from)
    .where('expires_at', '<=', to)
    .where('parent_id', 'is', null)
  if (account !== null) query = query.where('account_id', '=', account)
  const rows = await query
    .where('revoked_at', 'is', null)
    .where('disabled', '=', 0)
    .orderBy('expires_at')
    .limit(100)
    .execute()
  return rows.map(({ id, name, expires_at }) => ({ id, name, expires_at: expires_at ?? to })) // Never null: it is at most `to`.
}
