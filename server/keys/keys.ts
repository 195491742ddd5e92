// Proxy keys as records: made, listed, changed, rotated, revoked. What opens the proxy is in cache.ts and authenticate.ts.
import { sql, type ExpressionBuilder, type SelectQueryBuilder } from 'kysely'
import { isoTime } from '../clock.ts'
import { Problem } from '../errors.ts'
import { newId } from '../id.ts'
import { displayPrefix, makeSecret, type NewSecret } from '../secret.ts'
import type { Store } from '../store/open.ts'
import { all, first, procedure, run, type Steps } from '../store/procedure.ts'
import type { Database, KeyRow } from '../store/schema.ts'
import type { Partly, QueryBuilder } from '../store/statement.ts'
import { entered } from '../ledger/journal.ts'
import { requestsOfKey } from '../ledger/key-totals.ts'
import { usageOfKeys, type Totals } from '../ledger/usage.ts'
import { compileScope } from './scope.ts'

export type KeyStatus = 'active' | 'disabled' | 'expired' | 'revoked'

/** A key as the API shows it. */
export interface Key {
  id: string
  object: 'key'
  account_id: string
  name: string
  /** The public head of the newest secret, for display. */
  prefix: string
  /** Exact names and `*` globs; null means every model. */
  models: string[] | null
  rpm: number | null
  allowed_origins: string[] | null
  /** `own`: stored objects that this key made, or that were shared with it. `upstream`: all that the account with the provider holds. */
  objects: 'own' | 'upstream'
  /** Ids of providers; null means every provider. */
  providers: string[] | null
  /** Whether it may generate and read, and change nothing that a provider stores. */
  read_only: boolean
  expires_at: string | null
  status: KeyStatus
  created_at: string
  last_used_at: string | null
  /** When the secret that was rotated away stops working; null where none does any more. */
  previous_secret_expires_at: string | null
  usage: Totals
}

/** A key with the secret that is never shown again. */
export type NewKey = Key & { secret: string }

/** What a person decides about a key. Times in milliseconds since 1970. */
export interface KeyWishes {
  name: string
  models: string[] | null
  rpm: number | null
  allowed_origins: string[] | null
  objects: Key['objects']
  providers: string[] | null
  read_only: boolean
  expires_at: number | null
}

/** A new key has a name; what is not said about it is unrestricted, but for the objects: those are its own. */
export type NewKeyWishes = Pick<KeyWishes, 'name'> & Partial<KeyWishes>

/** What is to be changed of a key; what is undefined stays. */
type KeyChange = Partly<KeyWishes & { disabled: boolean }>

/** The largest limit that a key can have. */
export const MOST_RPM = 1_000_000

/** Makes a key for an account. */
export async function createKey(store: Store, account: string, wishes: NewKeyWishes, now: number): Promise<NewKey> {
  const made = makeSecret('tmk')
  const { name, models = null, rpm = null, allowed_origins = null, objects = 'own', providers = null, read_only = false, expires_at = null } = wishes
  const row = await store.run(insertKey, {
    key: {
      id: newId('key', now), account_id: account, name, public_id: made.publicId, models: textOf(models), rpm, allowed_origins: textOf(allowed_origins),
      objects, providers: textOf(providers), read_only: Number(read_only), expires_at, disabled: 0, revoked_at: null, purged_at: null, created_at: now,
    },
    hash: made.hash,
  })
  return { ...(await show(store, [row], now))[0]!, secret: made.secret }
}

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
  return { keys: await show(store, rows, now), next: found.length > limit ? cursorAfter(rows.at(-1)!, sort) : null }
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
function matching(keys: SelectQueryBuilder<Database, 'keys', object>, { account, status, search }: KeyFilter, now: number): SelectQueryBuilder<Database, 'keys', object> {
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

/** Ids in one question; databases take only so many. */
const NAMES_AT_ONCE = 1000

/** The names of keys by their ids. */
export async function keyNames(store: Store, ids: string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const asked = [...new Set(ids)]
  for (let from = 0; from < asked.length; from += NAMES_AT_ONCE) {
    const rows = await store.db.selectFrom('keys').select(['id', 'name']).where('id', 'in', asked.slice(from, from + NAMES_AT_ONCE)).execute()
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

/** @throws Problem `key_not_found` where there is no such key, or (with `account`) it is another account's */
export async function getKey(store: Store, id: string, account: string | null, now: number): Promise<Key> {
  return (await show(store, [await findRow(store, id, account)], now))[0]!
}

/** Changes a key. @throws Problem `key_not_found`; `key_revoked`, because that is final */
export async function changeKey(store: Store, id: string, account: string | null, change: KeyChange, now: number): Promise<Key> {
  await findRow(store, id, account)
  if (!(await store.run(updateKey, { id, change: columnsOf(change) }))) throw revoked()
  return getKey(store, id, account, now)
}

function columnsOf({ models, allowed_origins, providers, read_only, disabled, ...plain }: KeyChange): Partly<KeyRow> {
  return {
    ...plain,
    models: models && textOf(models),
    allowed_origins: allowed_origins && textOf(allowed_origins),
    providers: providers && textOf(providers),
    read_only: read_only === undefined ? undefined : Number(read_only),
    disabled: disabled === undefined ? undefined : Number(disabled),
  }
}

/** Revokes a key, for good; a second time changes nothing. @throws Problem `key_not_found` */
export async function revokeKey(store: Store, id: string, account: string | null, now: number): Promise<Key> {
  await findRow(store, id, account)
  await store.run(updateKey, { id, change: { revoked_at: now } })
  return getKey(store, id, account, now)
}

/**
 * Takes a key out of every list, for good, and revokes it where that has not been done. Its name stays for reports, its secrets do not.
 *
 * @throws Problem `key_not_found`
 */
export async function purgeKey(store: Store, id: string, account: string | null, now: number): Promise<void> {
  await findRow(store, id, account)
  await store.run(hideKey, { id, now })
}

/** What a key can have come to: it opens nothing any more. */
export const ENDED = ['expired', 'revoked'] as const satisfies readonly KeyStatus[]

/** The same for every key that has ended in one of these ways. `account` null: of all accounts. @returns how many there were */
export async function purgeKeys(store: Store, account: string | null, status: readonly (typeof ENDED)[number][], now: number): Promise<number> {
  let purged = 0
  for (let some = ENDED_AT_ONCE; some === ENDED_AT_ONCE; purged += some) some = await store.run(hideSome, { account, status, now })
  return purged
}

/** Keys that are ended in one unit. */
const ENDED_AT_ONCE = 100

/** Revokes every key of an account, for good. */
export async function revokeKeysOf(store: Store, account: string, now: number): Promise<void> {
  while (await store.run(revokeSome, { account, now }));
}

/**
 * Ends the secrets that were rotated away; only the newest one works from now on.
 *
 * @throws Problem `key_not_found`, `key_revoked`
 */
export async function endPreviousSecrets(store: Store, id: string, account: string | null, now: number): Promise<Key> {
  await findRow(store, id, account)
  if (!(await store.run(endSecrets, { id, now }))) throw revoked()
  return getKey(store, id, account, now)
}

/**
 * Gives a key a new secret. Older ones go on working for `grace` milliseconds.
 *
 * @throws Problem `key_not_found`, `key_revoked`
 */
export async function rotateKey(store: Store, id: string, account: string | null, grace: number, now: number): Promise<NewKey> {
  await findRow(store, id, account)
  const { secret, publicId, hash } = makeSecret('tmk')
  if (!(await store.run(replaceSecret, { id, publicId, hash, until: now + grace, now }))) throw revoked()
  return { ...(await getKey(store, id, account, now)), secret }
}

/** What a key is at a moment. Revoked is final; a disabled one stays disabled when it expires. */
function statusOf(row: Pick<KeyRow, 'revoked_at' | 'disabled' | 'expires_at'>, now: number): KeyStatus {
  if (row.revoked_at !== null) return 'revoked'
  if (row.disabled === 1) return 'disabled'
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active'
}

/** Enters a new key with its first secret; gives its row. */
export const insertKey = procedure(import.meta.url, 'insertKey', function* (db, { key, hash }: { key: Omit<KeyRow, 'revision'>; hash: NewSecret['hash'] }): Steps<KeyRow> {
  const row = { ...key, revision: yield* nextRevision(db) }
  yield* run(db.insertInto('keys').values(row))
  yield* run(db.insertInto('key_secrets').values({ public_id: key.public_id, key_id: key.id, hash, expires_at: null }))
  return row
}, oneAfterTheOther)

/** Changes a key that is not revoked, but for what is undefined; gives whether there was one. */
export const updateKey = procedure(import.meta.url, 'updateKey', function* (db, { id, change }: { id: string; change: Partly<KeyRow> }): Steps<boolean> {
  const revision = yield* nextRevision(db)
  return (yield* run(db.updateTable('keys').set({ ...change, revision }).where('id', '=', id).where('revoked_at', 'is', null))) > 0
}, oneAfterTheOther)

/** Gives a key another secret; those that it has end at `until` at the latest. False where it is revoked. */
export const replaceSecret = procedure(
  import.meta.url,
  'replaceSecret',
  function* (db, { id, publicId, hash, until, now }: { id: string; publicId: string; hash: string; until: number; now: number }): Steps<boolean> {
    const revision = yield* nextRevision(db)
    if ((yield* run(db.updateTable('keys').set({ public_id: publicId, revision }).where('id', '=', id).where('revoked_at', 'is', null))) === 0) return false
    yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id).where('expires_at', '<=', now))
    // One that is on its way out already does not gain time.
    yield* run(
      db
        .updateTable('key_secrets')
        .set({ expires_at: until })
        .where('key_id', '=', id)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', until)])),
    )
    yield* run(db.insertInto('key_secrets').values({ public_id: publicId, key_id: id, hash, expires_at: null }))
    return true
  },
  oneAfterTheOther,
)

/** Ends the secrets of a key that was rotated, but for the newest one. False where it is revoked. */
export const endSecrets = procedure(import.meta.url, 'endSecrets', function* (db, { id, now }: { id: string; now: number }): Steps<boolean> {
  const revision = yield* nextRevision(db)
  if ((yield* run(db.updateTable('keys').set({ revision }).where('id', '=', id).where('revoked_at', 'is', null))) === 0) return false
  yield* run(db.updateTable('key_secrets').set({ expires_at: now }).where('key_id', '=', id).where('expires_at', '>', now))
  return true
}, oneAfterTheOther)

/** Revokes some keys of an account; gives whether there are more. */
export const revokeSome = procedure(import.meta.url, 'revokeSome', function* (db, { account, now }: { account: string; now: number }): Steps<boolean> {
  const keys = yield* all(db.selectFrom('keys').select('id').where('account_id', '=', account).where('revoked_at', 'is', null).limit(ENDED_AT_ONCE))
  let revision = yield* nextRevision(db)
  for (const { id } of keys) yield* run(db.updateTable('keys').set({ revoked_at: now, revision: revision++ }).where('id', '=', id))
  return keys.length === ENDED_AT_ONCE
}, oneAfterTheOther)

/** Revokes a key, and hides it. Its row stays: changes are numbered by the highest one, and reports name it. */
export const hideKey = procedure(import.meta.url, 'hideKey', hide, oneAfterTheOther)

/** The same for some of the keys that have ended; gives how many. */
export const hideSome = procedure(
  import.meta.url,
  'hideSome',
  function* (db, { account, status, now }: { account: string | null; status: readonly KeyStatus[]; now: number }): Steps<number> {
    const ended = yield* all(matching(db.selectFrom('keys'), { account, status }, now).select('id').limit(ENDED_AT_ONCE))
    for (const { id } of ended) yield* hide(db, { id, now })
    return ended.length
  },
  oneAfterTheOther,
)

function* hide(db: QueryBuilder, { id, now }: { id: string; now: number }): Steps<void> {
  const revision = yield* nextRevision(db)
  yield* run(db.updateTable('keys').set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)), purged_at: now, revision })).where('id', '=', id))
  yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id))
  yield* run(db.deleteFrom('shared_objects').where('key_id', '=', id))
}

/**
 * Changes of keys take their turn, up to the commit: so revisions are seen in their order, and a cache that knows the keys up to one has missed
 * nothing below it.
 */
export function oneAfterTheOther(): string {
  return 'keys'
}

/** The number of a change: higher than that of every change before. */
export function* nextRevision(db: QueryBuilder): Steps<number> {
  const last = yield* first(db.selectFrom('keys').select('revision').orderBy('revision', 'desc').limit(1))
  return (last?.revision ?? 0) + 1
}

export async function findRow(store: Store, id: string, account: string | null): Promise<KeyRow> {
  const row = await store.db.selectFrom('keys').selectAll().where('id', '=', id).where('purged_at', 'is', null).executeTakeFirst()
  if (!row || (account !== null && row.account_id !== account)) {
    throw new Problem('key_not_found', 'No key of this account has this id. GET /api/v1/keys lists them.')
  }
  return row
}

function revoked(): Problem {
  return new Problem('key_revoked', 'The key has been revoked, which is final. Make a new one.')
}

async function show(store: Store, rows: KeyRow[], now: number): Promise<Key[]> {
  const usage = await usageOfKeys(store, rows.map(({ id }) => id))
  const ends = await previousEnds(store, rows.map(({ id }) => id), now)
  return rows.map((row) => {
    const { totals, lastUsedAt } = usage.get(row.id)!
    return {
      id: row.id, object: 'key', account_id: row.account_id, name: row.name, prefix: displayPrefix('tmk', row.public_id), models: listOf(row.models), rpm: row.rpm,
      allowed_origins: listOf(row.allowed_origins), objects: row.objects, providers: listOf(row.providers), read_only: row.read_only === 1, expires_at: isoTime(row.expires_at), status: statusOf(row, now), created_at: isoTime(row.created_at),
      last_used_at: isoTime(lastUsedAt), previous_secret_expires_at: row.revoked_at === null ? isoTime(ends.get(row.id) ?? null) : null, usage: totals,
    }
  })
}

/** When the last secret of each key that was rotated away stops working. */
async function previousEnds(store: Store, ids: string[], now: number): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (let from = 0; from < ids.length; from += NAMES_AT_ONCE) {
    const some = ids.slice(from, from + NAMES_AT_ONCE)
    const rows = await store.db.selectFrom('key_secrets').select(['key_id', 'expires_at']).where('key_id', 'in', some).where('expires_at', '>', now).execute()
    for (const { key_id, expires_at } of rows) ends.set(key_id, Math.max(ends.get(key_id) ?? 0, expires_at!))
  }
  return ends
}

/** A list as it is stored. */
function textOf(list: string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}

/** A stored list. */
export function listOf(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]) // written by textOf only
}
