// All keys in memory, so that no request waits for the database. Changes by any process arrive
// within a second.
import { compileScope, type Scope } from './scope.ts'
import { fromJsonList } from './key-record.ts'
import type { Store } from '../store/open.ts'
import type { KeyRow, SharedObjectRow } from '../store/schema.ts'

/** A key with everything that decides about a request. */
export interface CachedKey {
  readonly id: string
  readonly accountId: string
  readonly scope: Scope
  readonly rpm: number | null
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly objects: 'own' | 'upstream'
  /** Ids of the providers it may call; null means every provider. */
  readonly providers: ReadonlySet<string> | null
  readonly readOnly: boolean
  /** Objects shared with it, as `sharedName` writes them. */
  readonly shared: ReadonlySet<string>
  readonly expiresAt: number | null
  readonly disabled: boolean
  readonly revoked: boolean
}

/** Name of a provider's object in `Set`s. */
export const sharedName = (provider: string, kind: string, id: string): string =>
  `${provider} ${kind} ${id}`

/** One secret of a key. */
export interface CachedSecret {
  readonly hash: Buffer
  readonly expiresAt: number | null
  readonly key: CachedKey
}

/** The keys of all accounts, kept up to date until it is disposed of. Shared by all requests. */
export interface KeyCache extends Disposable {
  /** The secret with a public id. */
  find(publicId: string): CachedSecret | undefined
  /** Whether the account of a key has been disabled. */
  isDisabled(accountId: string): boolean
  /**
   * Looks for changes now. Code that changes a key awaits it, so that the change takes effect at
   * once. Never rejects.
   */
  refresh(): Promise<void>
  /** Whether the last look could read the keys. */
  readonly fresh: boolean
}

/** How often to look for changes, besides notifications. A look costs a few microseconds. */
const POLL_MS = 500

/**
 * Reads all keys and follows their changes. If the database cannot be read, known keys keep
 * working.
 *
 * @param onError called once when looks begin to fail
 */
export async function openKeyCache(
  store: Store,
  onError: (error: unknown) => void,
): Promise<KeyCache> {
  const secrets = new Map<string, CachedSecret>()
  const publicIds = new Map<string, string[]>()
  let revision = 0
  let disabledAccounts = new Set<string>()
  let failed = false
  let polling: Promise<void> | null = null
  let isBehind: Promise<void> | null = null

  async function poll(): Promise<void> {
    const changed = await store.db
      .selectFrom('keys')
      .selectAll()
      .where('revision', '>', revision)
      .orderBy('revision')
      .execute()
    const disabled = await store.db
      .selectFrom('accounts')
      .select('id')
      .where('disabled', '=', 1)
      .execute()
    disabledAccounts = new Set(disabled.map(({ id }) => id))
    if (changed.length === 0) return
    // Not by a list of ids, whose length is limited: the first look reads all keys.
    const rows = await store.db
      .selectFrom('key_secrets')
      .innerJoin('keys', 'keys.id', 'key_secrets.key_id')
      .select([
        'key_secrets.public_id',
        'key_secrets.key_id',
        'key_secrets.hash',
        'key_secrets.expires_at',
      ])
      .where('keys.revision', '>', revision)
      .execute()
    const shared = await store.db
      .selectFrom('shared_objects')
      .innerJoin('keys', 'keys.id', 'shared_objects.key_id')
      .select([
        'shared_objects.key_id',
        'shared_objects.provider',
        'shared_objects.kind',
        'shared_objects.object_id',
      ])
      .where('keys.revision', '>', revision)
      .execute()
    const byKey = Map.groupBy(rows, ({ key_id }) => key_id)
    const sharedWith = Map.groupBy(shared, ({ key_id }) => key_id)
    for (const row of changed) {
      const key = cached(row, sharedWith.get(row.id) ?? [])
      for (const old of publicIds.get(row.id) ?? []) secrets.delete(old)
      const owned = byKey.get(row.id) ?? []
      publicIds.set(
        row.id,
        owned.map(({ public_id }) => public_id),
      )
      for (const { public_id, hash, expires_at } of owned)
        secrets.set(public_id, { hash: Buffer.from(hash, 'hex'), expiresAt: expires_at, key })
      revision = row.revision
    }
  }

  async function tryPoll(): Promise<void> {
    try {
      await poll()
      failed = false
    } catch (error) {
      if (!failed) onError(error)
      failed = true
    }
    polling = null
  }

  /** One look at a time. Asking during one starts another after it. */
  function refresh(): Promise<void> {
    if (polling === null) return (polling = tryPoll())
    isBehind ??= polling.then(() => {
      isBehind = null
      return refresh()
    })
    return isBehind
  }

  await poll()
  const timer = setInterval(() => void refresh(), POLL_MS).unref()
  const unsubscribe = store.onChange(() => void refresh())
  return {
    find: (publicId) => secrets.get(publicId),
    isDisabled: (accountId) => disabledAccounts.size > 0 && disabledAccounts.has(accountId),
    refresh,
    get fresh() {
      return !failed
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      unsubscribe()
    },
  }
}

const NO_SHARED_OBJECTS: ReadonlySet<string> = new Set()

function cached(
  row: KeyRow,
  shared: readonly Pick<SharedObjectRow, 'provider' | 'kind' | 'object_id'>[],
): CachedKey {
  const origins = fromJsonList(row.allowed_origins)
  const providers = fromJsonList(row.providers)
  return {
    id: row.id,
    accountId: row.account_id,
    scope: compileScope(fromJsonList(row.models)),
    rpm: row.rpm,
    allowedOrigins: origins === null ? null : new Set(origins),
    objects: row.objects,
    providers: providers === null ? null : new Set(providers),
    readOnly: row.read_only === 1,
    shared:
      shared.length === 0
        ? NO_SHARED_OBJECTS
        : new Set(
            shared.map(({ provider, kind, object_id }) => sharedName(provider, kind, object_id)),
          ),
    expiresAt: row.expires_at,
    disabled: row.disabled === 1,
    revoked: row.revoked_at !== null,
  }
}
