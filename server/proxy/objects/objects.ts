// Objects that providers store for us (files, batches, responses, operations): their owners, and
// the credentials that reach them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
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
   * Makes `lookup` wait for a provider's response to a key that has passed and is still being
   * decoded, if it names an object without an owner; `recordCreated` follows immediately.
   */
  trackPending(provider: string, key: string, reading: Promise<unknown>): void
  /**
   * The expected responses so far that may have created an object without an owner and matter to a
   * key: its own, because objects without an owner are refused like those of others; for a key with
   * `objects: upstream`, which may name them, all of the provider, but those of others for a second
   * at most. Null if there are none.
   */
  pendingFor(naming: Pick<ObjectLookup, 'provider' | 'key'>): Promise<unknown> | null
  /**
   * Whether the key may name these objects; `credential`: the one that created them, null if none
   * of them is known. At most one query per thousand names; others take turns in between.
   *
   * @param pending what to wait for, if an object has no owner yet
   */
  lookup(naming: ObjectLookup, pending?: Promise<unknown> | null): Promise<LookupResult>
  /** Whether the key may name each of these objects, in order: for a list to filter. */
  mayName(naming: ObjectLookup): Promise<readonly boolean[]>
  /** Whether the key created an object that has just been looked up. */
  isOwn(provider: string, key: string, object: ObjectRef): boolean
  /** Whether any object of the provider belongs to another key; with `kind`, any of that kind. */
  anyOwnedByOther(provider: string, key: string, kind?: string): Promise<boolean>
}

/**
 * How long a request waits for the responses of other keys to be decoded. They may be large on
 * purpose; an ordinary one takes milliseconds.
 */
const OTHERS_MS = 1_000

/** Responses that are still being decoded, by provider and key. */
class PendingReadings {
  readonly #byProvider = new Map<string, Map<string, Set<Promise<unknown>>>>()

  add(provider: string, key: string, reading: Promise<unknown>): void {
    const byKey = this.#byProvider.get(provider) ?? new Map<string, Set<Promise<unknown>>>()
    this.#byProvider.set(provider, byKey)
    const readings = byKey.get(key) ?? new Set()
    byKey.set(key, readings.add(reading))
    void reading.then(() => this.#remove(provider, key, reading))
  }

  #remove(provider: string, key: string, reading: Promise<unknown>): void {
    const byKey = this.#byProvider.get(provider)
    const readings = byKey?.get(key)
    readings?.delete(reading)
    if (readings?.size === 0) byKey?.delete(key)
  }

  /** Those that matter to a key; null if there are none. */
  of({
    provider,
    key: { id, objects },
  }: Pick<ObjectLookup, 'provider' | 'key'>): Promise<unknown> | null {
    const byKey = this.#byProvider.get(provider.id)
    if (byKey === undefined || byKey.size === 0) return null
    const readings = byKey.get(id)
    const own = readings === undefined ? null : Promise.all(readings)
    if (objects === 'own') return own
    const all = Promise.all([...byKey.values()].flatMap((some) => [...some]))
    const enough = new Promise((resolve) => void setTimeout(resolve, OTHERS_MS).unref())
    return Promise.all([own, Promise.race([all, enough])])
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
  /** Decides from what is known, and again after what is expected if an object had no owner. */
  const decided = async <T extends { readonly isFinal: boolean }>(
    naming: ObjectLookup,
    expected: Promise<unknown> | null,
    decide: () => Promise<T>,
  ): Promise<T> => {
    const first = await decide()
    if (first.isFinal || expected === null) return first
    await expected
    owners.forgetUnknown(naming)
    return decide()
  }
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
    trackPending: (provider, key, reading) => pending.add(provider, key, reading),
    pendingFor: (naming) => pending.of(naming),
    async lookup(asked, expected = pending.of(asked)) {
      const first = await decided(asked, expected, () => owners.decide(asked))
      const inProse = first.denied === 'unknown' && asked.outsideProse !== undefined
      // It reads the body again, and many requests may get here in one turn.
      if (inProse) await owners.turnFor(asked)
      const naming = inProse ? { ...asked, objects: asked.outsideProse() } : asked
      const found = inProse ? await owners.decide(naming) : first
      // Another process may just have created it, and be recording it.
      if ((found.denied !== 'unknown' && found.denied !== 'unread') || store.dialect !== 'postgres')
        return found
      await sleep(PEER_WRITE_MS)
      owners.forgetUnknown(naming)
      return owners.decide(naming)
    },
    mayName: async (naming) =>
      (await decided(naming, pending.of(naming), () => owners.decideEach(naming))).may,
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
