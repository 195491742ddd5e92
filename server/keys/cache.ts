// All keys in memory, so that no request waits for the database. Changes by any process arrive
// within a second.
import {
  cachedKey,
  childParts,
  type CachedKey,
  type ChildParts,
  type SharedName,
} from './cached-key.ts'
import { HeldKeys } from './held-keys.ts'
import { narrowKey } from './narrowing.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow, KeySecretRow } from '../store/schema.ts'

export { sharedName, type CachedChild, type CachedKey } from './cached-key.ts'

/** One secret of a key. */
export interface CachedSecret {
  readonly hash: Buffer
  readonly expiresAt: number | null
  readonly key: CachedKey
}

/**
 * The keys of all accounts, kept up to date until the cache is disposed of. Shared by all requests.
 */
export interface KeyCache extends Disposable {
  /** The secret with a public id. */
  find(publicId: string): CachedSecret | undefined
  /** Whether an account has been disabled. */
  isDisabled(accountId: string): boolean
  /** The memory that the keys of an account take, in the characters that held-keys.ts counts. */
  heldBy(accountId: string): number
  /**
   * Reads changes now. Code that changes a key awaits it, so that the change takes effect
   * immediately. Never rejects.
   */
  refresh(): Promise<void>
  /** Whether the last read of the keys succeeded. */
  readonly fresh: boolean
}

/** How often changes are polled for (milliseconds), because notifications can be lost. */
const POLL_MS = 500

/**
 * Reads all keys and follows their changes. If the database cannot be read, known keys keep
 * working.
 *
 * @param onError called once when reads begin to fail
 */
export async function openKeyCache(
  store: Store,
  onError: (error: unknown) => void,
): Promise<KeyCache> {
  const keys = new StoredKeys(store)
  await keys.read()
  return new PolledKeyCache(store, keys, onError)
}

type StoredSecret = Pick<KeySecretRow, 'public_id' | 'hash' | 'expires_at'>

/** A child key as stored, kept so that it can be narrowed again when its parent changes. */
interface StoredChild {
  readonly parts: ChildParts
  readonly parentSecret: string
  readonly secrets: readonly StoredSecret[]
}

/** A key's ended children are removed whenever it has a multiple of this number of children. */
const FORGET_STEP = 64
/** Milliseconds that a child must have been over before it is removed. */
const FORGET_MS = 60_000

/** The keys read so far. */
class StoredKeys {
  readonly #store: Store
  readonly #secrets = new Map<string, CachedSecret>()
  /** Public ids of each key's secrets. */
  readonly #publicIds = new Map<string, string[]>()
  readonly #parents = new Map<string, CachedKey>()
  readonly #children = new Map<string, Map<string, StoredChild>>()
  readonly #held = new HeldKeys()
  #disabledAccounts = new Set<string>()
  /** The highest revision that has been read. */
  #revision = 0

  constructor(store: Store) {
    this.#store = store
  }

  find(publicId: string): CachedSecret | undefined {
    return this.#secrets.get(publicId)
  }

  isDisabled(accountId: string): boolean {
    return this.#disabledAccounts.size > 0 && this.#disabledAccounts.has(accountId)
  }

  heldBy(accountId: string): number {
    return this.#held.of(accountId)
  }

  /** Reads the changes since the last call. @throws StoreError */
  async read(): Promise<void> {
    const changed = await this.#store.db
      .selectFrom('keys')
      .selectAll()
      .where('revision', '>', this.#revision)
      .orderBy('revision')
      .execute()
    const disabled = await this.#store.db
      .selectFrom('accounts')
      .select('id')
      .where('disabled', '=', 1)
      .execute()
    this.#disabledAccounts = new Set(disabled.map(({ id }) => id))
    if (changed.length === 0) return
    const secrets = Map.groupBy(await this.#changedSecrets(), ({ key_id }) => key_id)
    const shared = Map.groupBy(await this.#changedSharedObjects(), ({ key_id }) => key_id)
    for (const row of changed) {
      const own = secrets.get(row.id) ?? []
      if (row.purged_at !== null) this.#purge(row)
      else if (row.parent_id === null) this.#replaceKey(row, shared.get(row.id) ?? [], own)
      else this.#replaceChild(row, row.parent_id, own)
      this.#revision = row.revision
    }
  }

  #replaceKey(row: KeyRow, shared: readonly SharedName[], secrets: readonly StoredSecret[]): void {
    const key = cachedKey(row, shared)
    this.#held.set(row, secrets.length)
    this.#parents.set(key.id, key)
    this.#replace(key.id, key, secrets)
    for (const child of this.#children.get(key.id)?.values() ?? []) this.#narrow(key, child)
  }

  #replaceChild(row: KeyRow, parentId: string, secrets: readonly StoredSecret[]): void {
    let siblings = this.#children.get(parentId)
    if (siblings === undefined) this.#children.set(parentId, (siblings = new Map()))
    const child = { parts: childParts(row), parentSecret: row.parent_secret ?? '', secrets }
    siblings.set(row.id, child)
    this.#held.set(row, secrets.length)
    if (siblings.size % FORGET_STEP === 0) this.#forgetEnded(siblings, row.created_at)
    const parent = this.#parents.get(parentId)
    // If the parent is not here yet, it has changed since and comes later in the list.
    if (parent !== undefined) this.#narrow(parent, child)
  }

  #narrow(parent: CachedKey, { parts, parentSecret, secrets }: StoredChild): void {
    const opener = this.#secrets.get(parentSecret)
    // Rotation deletes ended secrets.
    const end = opener === undefined ? 0 : opener.expiresAt
    this.#replace(parts.id, narrowKey(parent, parts, end), secrets)
  }

  /**
   * Removes children that ended a while before a time: deleting their rows leaves no change to
   * read.
   */
  #forgetEnded(siblings: Map<string, StoredChild>, now: number): void {
    for (const [id, { parts }] of siblings) {
      if (parts.expiresAt > now - FORGET_MS) continue
      siblings.delete(id)
      this.#forget(id)
    }
  }

  /** Forgets a key that is in no list any more, and its children. */
  #purge({ id, parent_id }: KeyRow): void {
    for (const child of this.#children.get(id)?.keys() ?? []) this.#forget(child)
    this.#children.delete(id)
    this.#parents.delete(id)
    if (parent_id !== null) this.#children.get(parent_id)?.delete(id)
    this.#forget(id)
  }

  #forget(id: string): void {
    for (const publicId of this.#publicIds.get(id) ?? []) this.#secrets.delete(publicId)
    this.#publicIds.delete(id)
    this.#held.delete(id)
  }

  // Selected by revision, not by a list of ids, whose length is limited: the first read covers all
  // keys.
  #changedSecrets() {
    return this.#store.db
      .selectFrom('key_secrets')
      .innerJoin('keys', 'keys.id', 'key_secrets.key_id')
      .select([
        'key_secrets.public_id',
        'key_secrets.key_id',
        'key_secrets.hash',
        'key_secrets.expires_at',
      ])
      .where('keys.revision', '>', this.#revision)
      .execute()
  }

  #changedSharedObjects() {
    return this.#store.db
      .selectFrom('shared_objects')
      .innerJoin('keys', 'keys.id', 'shared_objects.key_id')
      .select([
        'shared_objects.key_id',
        'shared_objects.provider',
        'shared_objects.kind',
        'shared_objects.object_id',
      ])
      .where('keys.revision', '>', this.#revision)
      .execute()
  }

  /** @param id the key's own id; `key.id` of a child is its parent's */
  #replace(id: string, key: CachedKey, secrets: readonly StoredSecret[]): void {
    for (const old of this.#publicIds.get(id) ?? []) this.#secrets.delete(old)
    this.#publicIds.set(
      id,
      secrets.map(({ public_id }) => public_id),
    )
    for (const { public_id, hash, expires_at } of secrets)
      this.#secrets.set(public_id, { hash: Buffer.from(hash, 'hex'), expiresAt: expires_at, key })
  }
}

/** Reads changes, one read at a time. */
class PolledKeyCache implements KeyCache {
  readonly #keys: StoredKeys
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void
  #hasFailed = false
  /** The read in progress. */
  #look: Promise<void> | null = null
  /** The read that was requested during that one. */
  #nextLook: Promise<void> | null = null

  constructor(store: Store, keys: StoredKeys, onError: (error: unknown) => void) {
    this.#keys = keys
    this.#onError = onError
    this.#timer = setInterval(() => void this.refresh(), POLL_MS).unref()
    this.#unsubscribe = store.onChange(() => void this.refresh())
  }

  get fresh(): boolean {
    return !this.#hasFailed
  }

  find(publicId: string): CachedSecret | undefined {
    return this.#keys.find(publicId)
  }

  isDisabled(accountId: string): boolean {
    return this.#keys.isDisabled(accountId)
  }

  heldBy(accountId: string): number {
    return this.#keys.heldBy(accountId)
  }

  refresh(): Promise<void> {
    if (this.#look === null) return (this.#look = this.#tryRead())
    this.#nextLook ??= this.#look.then(() => {
      this.#nextLook = null
      return this.refresh()
    })
    return this.#nextLook
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
  }

  async #tryRead(): Promise<void> {
    try {
      await this.#keys.read()
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) this.#onError(error)
      this.#hasFailed = true
    }
    this.#look = null
  }
}
