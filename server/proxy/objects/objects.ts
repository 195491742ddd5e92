// Objects that providers store for us (files, batches, responses, operations): which credential
// reaches one, and whose it is.
import { setTimeout as sleep } from 'node:timers/promises'
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
  /** The id of the response to which an item belongs, where it is known. */
  readonly response?: string | undefined
}

/** Who owns the objects of all providers. One per process, shared by all requests. */
export interface ObjectOwners {
  /**
   * Records the objects that a response created. The next request finds them, even before they are
   * durable, or while the store does not answer.
   */
  recordCreated(provider: string, object: ObjectRef, by: ObjectOrigin): void
  /**
   * Makes `look` wait for a response that has passed and is still being decoded; `created` follows
   * immediately.
   */
  trackPending(reading: Promise<unknown>): void
  /** When all of those that have passed until now are decoded. */
  awaitPending(): Promise<unknown>
  /**
   * Whether the key may name these objects; `credential`: the one that made them, null if none of
   * them is known. At most one query per thousand names; others take turns in between.
   *
   * @param ready what it waits for; by default all expected responses
   */
  lookup(naming: ObjectLookup, ready?: Promise<unknown>): Promise<LookupResult>
  /** Whether the key may name each of these objects, in their order: for a list that is filtered. */
  mayName(naming: ObjectLookup): Promise<readonly boolean[]>
  /** Whether the key made an object that was just looked at. */
  isOwn(provider: string, key: string, object: ObjectRef): boolean
  /** Whether any object of the provider belongs to another key; with `kind`, any of these. */
  anyOwnedByOther(provider: string, key: string, kind?: string): Promise<boolean>
}

/**
 * How long another process may take to record a created object before a request that names it is
 * refused.
 */
const PEER_WRITE_MS = 200

/** @param onError told when an object cannot be written; it is tried again */
export function openObjectOwners(store: Store, onError: (error: unknown) => void): ObjectOwners {
  const writer = new ObjectWriter(store, onError)
  const { known } = writer
  const owners = new OwnerLookup(store, known)
  const pending: Promise<unknown>[] = []
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
    trackPending(reading) {
      pending.push(reading)
      void reading.then(() => pending.splice(pending.indexOf(reading), 1))
    },
    awaitPending: () => Promise.all(pending),
    async lookup(asked, ready) {
      if (ready !== undefined) await ready
      else if (pending.length > 0) await Promise.all(pending)
      const first = await owners.decide(asked)
      const inProse = first.denied === 'unknown' && asked.outsideProse !== undefined
      const naming = inProse ? { ...asked, objects: asked.outsideProse() } : asked
      const found = inProse ? await owners.decide(naming) : first
      // Another process may have made it a moment ago, and be writing it down.
      if ((found.denied !== 'unknown' && found.denied !== 'unread') || store.dialect !== 'postgres')
        return found
      await sleep(PEER_WRITE_MS)
      owners.forgetUnknown(naming)
      return owners.decide(naming)
    },
    async mayName(naming) {
      if (pending.length > 0) await Promise.all(pending)
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
