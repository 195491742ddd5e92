// Objects that providers store for us (files, batches, responses, operations): their owners, and
// the credentials that reach them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CachedKey } from '../../keys/cache.ts'
import type { Store } from '../../store/open.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { ObjectLookup } from './denials.ts'
import { cacheKey, ObjectWriter } from './object-writer.ts'
import { OwnerLookup, type LookupResult } from './owner-lookup.ts'

/** How an object came into being. */
export interface ObjectOrigin {
  /** The id of the key. */
  readonly key: string
  readonly credential: string
  readonly now: number
  /** The id of the response to which an item belongs, if it is known. */
  readonly response?: string | undefined
}

/** Who owns the objects of all providers. One per process, shared by all requests. */
export interface ObjectOwners {
  /**
   * Records the objects that a response created. The next request finds them, even before they are
   * durable, or during an outage of the store.
   */
  recordCreated(provider: string, object: ObjectRef, by: ObjectOrigin): void
  /**
   * Makes `lookup` wait for a response to a key that has passed and is still being decoded;
   * `recordCreated` follows immediately.
   */
  trackPending(key: string, reading: Promise<unknown>): void
  /**
   * Resolves when the expected responses so far that matter to a key have been decoded: its own,
   * because objects without an owner are refused like those of others; for a key with `objects:
   * upstream`, which may name them, all.
   */
  awaitPending(key: Pick<CachedKey, 'id' | 'objects'>): Promise<unknown>
  /**
   * Whether the key may name these objects; `credential`: the one that created them, null if none
   * of them is known. At most one query per thousand names; others take turns in between.
   *
   * @param ready a promise to wait for; by default, the expected responses that matter to the key
   */
  lookup(naming: ObjectLookup, ready?: Promise<unknown>): Promise<LookupResult>
  /** Whether the key may name each of these objects, in order: for a list to filter. */
  mayName(naming: ObjectLookup): Promise<readonly boolean[]>
  /** Whether the key created an object that has just been looked up. */
  isOwn(provider: string, key: string, object: ObjectRef): boolean
  /** Whether any object of the provider belongs to another key; with `kind`, any of that kind. */
  anyOwnedByOther(provider: string, key: string, kind?: string): Promise<boolean>
}

/** Responses that are still being decoded, by key. */
class PendingReadings {
  readonly #byKey = new Map<string, Set<Promise<unknown>>>()

  /** The number of keys that have some. */
  get size(): number {
    return this.#byKey.size
  }

  add(key: string, reading: Promise<unknown>): void {
    const readings = this.#byKey.get(key) ?? new Set()
    this.#byKey.set(key, readings.add(reading))
    void reading.then(() => this.#remove(key, reading))
  }

  /** Those that matter to a key. */
  of({ id, objects }: Pick<CachedKey, 'id' | 'objects'>): Promise<unknown>[] {
    if (objects === 'own') return [...(this.#byKey.get(id) ?? [])]
    return [...this.#byKey.values()].flatMap((readings) => [...readings])
  }

  #remove(key: string, reading: Promise<unknown>): void {
    const readings = this.#byKey.get(key)
    readings?.delete(reading)
    if (readings?.size === 0) this.#byKey.delete(key)
  }
}

/**
 * How long another process may take to record a created object before a request that names it is
 * refused.
 */
const PEER_WRITE_MS = 200

/** @param onError called when an object cannot be written; it will be retried */
export function openObjectOwners(store: Store, onError: (error: unknown) => void): ObjectOwners {
  const writer = new ObjectWriter(store, onError)
  const { known } = writer
  const owners = new OwnerLookup(store, known)
  const pending = new PendingReadings()
  return {
    recordCreated: (provider, { kind, id }, { key, credential, now, response }) =>
      writer.record(
        {
          provider,
          kind,
          object_id: id,
          key_id: key,
          credential_id: credential,
          created_at: now,
        },
        response,
      ),
    trackPending: (key, reading) => pending.add(key, reading),
    awaitPending: (key) => Promise.all(pending.of(key)),
    async lookup(asked, ready) {
      if (ready !== undefined) await ready
      else if (pending.size > 0) await Promise.all(pending.of(asked.key))
      const first = await owners.decide(asked)
      const inProse = first.denied === 'unknown' && asked.outsideProse !== undefined
      const naming = inProse ? { ...asked, objects: asked.outsideProse() } : asked
      const found = inProse ? await owners.decide(naming) : first
      // Another process may just have created it, and be recording it.
      if ((found.denied !== 'unknown' && found.denied !== 'unread') || store.dialect !== 'postgres')
        return found
      await sleep(PEER_WRITE_MS)
      owners.forgetUnknown(naming)
      return owners.decide(naming)
    },
    async mayName(naming) {
      if (pending.size > 0) await Promise.all(pending.of(naming.key))
      return owners.decideEach(naming)
    },
    isOwn: (provider, key, { kind, id }) => known.get(cacheKey(provider, kind, id))?.key_id === key,
    async anyOwnedByOther(provider, key, kind) {
      for (const row of known.values())
        if (row.provider === provider && row.key_id !== key && (kind ?? row.kind) === row.kind)
          return true
      const rows = store.db
        .selectFrom('objects')
        .select('key_id')
        .where('provider', '=', provider)
        .where('key_id', '<>', key)
      const row = await (kind === undefined ? rows : rows.where('kind', '=', kind))
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
  }
}
