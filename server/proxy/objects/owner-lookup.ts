// Looks up the owners of the objects that a request names: in memory, or else in the store.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { TimeSlices } from '../../common/fairness/time-slices.ts'
import { TurnBudget } from '../../common/fairness/turn-budget.ts'
import type { Store } from '../../store/store.ts'
import type { ObjectRow } from '../../store/schema.ts'
import { ANY_KIND } from '../providers/ids.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import { createRecentObjects, type RecentObjects } from './cache.ts'
import { denialOf, lenientSpellings, ofAnyKind, type Denial, type ObjectLookup } from './denials.ts'
import { ITEM, spellingsOf } from './item-ranges.ts'
import { cacheKey } from './object-writer.ts'

/** Whether a key may name a request's objects; if not, the kind of the refused one. */
export interface LookupResult {
  readonly denied: Denial | null
  /** The credential that created the objects; null if none of them is known. */
  readonly credential: string | null
  readonly kind?: string
  /** Whether an owner of an object that has none here would change nothing. */
  readonly isFinal: boolean
}

/**
 * How long a name without an owner counts as unowned before the store is queried again: clients
 * repeat names in each turn. The owner of an object that this process records is known at once.
 * Another process's object may count as unowned here for this long.
 */
const UNKNOWN_TTL_MS = 1_000
/** Objects that are looked up together, and names in one query. */
const BATCH_SIZE = 1_000
/**
 * The first of many are looked up separately: a body of unowned ids is refused because of one of
 * these, at a tenth of the cost.
 */
const FIRST_BATCH_SIZE = 16

const NO_ROWS: ReadonlyMap<string, ObjectRow> = new Map()

/** The spellings under which an object may have been recorded. */
const candidatesOf = (
  provider: ObjectLookup['provider'],
  object: ObjectRef,
): readonly ObjectRef[] =>
  object.kind === ANY_KIND
    ? ofAnyKind(provider, object)
    : [...spellingsOf(object), ...lenientSpellings(object)]

/** In whose turns a lookup runs. */
const ownerOf = ({ key }: ObjectLookup): Owner => ({ account_id: key.accountId, key_id: key.id })

/** Looks owners up in slices, requests in turns. One per process. */
export class OwnerLookup {
  readonly #store: Store
  readonly #known: RecentObjects<ObjectRow>
  /** Slices of long lookups, one per turn of the event loop for all requests together. */
  readonly #turns = new TurnBudget(1)
  /** The time until which names count as unknown without another query. */
  readonly #unknown = createRecentObjects<number>()

  /** @param known owners by `cacheKey`; results of the query are added */
  constructor(store: Store, known: RecentObjects<ObjectRow>) {
    this.#store = store
    this.#known = known
  }

  /** Whether the key may name these objects, as far as is known now. */
  async decide(naming: ObjectLookup): Promise<LookupResult> {
    const { provider, key, objects } = naming
    const slices = this.#slicesFor(naming)
    let credential: string | null = null
    let itemCredential: string | null = null
    let isFinal = true
    let next = 0
    for (let at = 0; at < objects.length; at = next) {
      next = at + (at === 0 ? FIRST_BATCH_SIZE : BATCH_SIZE)
      const some = objects.length <= FIRST_BATCH_SIZE ? objects : objects.slice(at, next)
      const owners = await this.#ownersOf(provider, some, slices)
      for (const [i, object] of some.entries()) {
        const owner = owners[i]
        const denied = owner?.key_id === key.id ? null : denialOf(naming, object, owner)
        if (denied !== null)
          return { denied, credential: null, kind: object.kind, isFinal: owner !== undefined }
        isFinal &&= owner !== undefined
        if (owner === undefined) continue
        // The newest item is last.
        if (object.kind === ITEM) itemCredential = owner.credential_id
        else credential ??= owner.credential_id
      }
    }
    return { denied: null, credential: credential ?? itemCredential, isFinal }
  }

  /** Whether the key may name each of these objects, in order. */
  async decideEach(
    naming: ObjectLookup,
  ): Promise<{ readonly may: readonly boolean[]; readonly isFinal: boolean }> {
    const { provider, key, objects } = naming
    const owners = await this.#ownersOf(provider, objects, this.#slicesFor(naming))
    const may = objects.map(
      (object, i) => owners[i]?.key_id === key.id || denialOf(naming, object, owners[i]) === null,
    )
    return { may, isFinal: owners.every((owner) => owner !== undefined) }
  }

  /** Makes the next lookup query the store for these, although they were just unknown. */
  forgetUnknown({ provider, objects }: ObjectLookup): void {
    for (const { kind, id } of objects) this.#unknown.set(cacheKey(provider.id, kind, id), 0)
  }

  /** Waits for a turn of the event loop to do a slice of work for a lookup. */
  turnFor(naming: ObjectLookup): Promise<void> {
    return new Promise((resolve) => this.#turns.schedule(ownerOf(naming), resolve))
  }

  #slicesFor(naming: ObjectLookup): TimeSlices {
    return new TimeSlices(this.#turns, ownerOf(naming))
  }

  /** The owner of each object, in order; undefined if it has no owner here. */
  async #ownersOf(
    provider: ObjectLookup['provider'],
    objects: readonly ObjectRef[],
    slices: TimeSlices,
  ): Promise<(ObjectRow | undefined)[]> {
    const owners: (ObjectRow | undefined)[] = []
    const kinds = new Set<string>()
    const ids = new Set<string>()
    const queried = new Set<string>()
    for (const object of objects) {
      const owner = this.#remembered(provider, object)
      owners.push(owner)
      const name = cacheKey(provider.id, object.kind, object.id)
      if (owner === undefined && !this.#isUnknown(name)) {
        queried.add(name)
        for (const { kind, id } of candidatesOf(provider, object)) {
          kinds.add(kind)
          ids.add(id)
        }
      }
      if (slices.isOver()) await slices.next()
    }
    const found = ids.size === 0 ? NO_ROWS : await this.#query(provider.id, kinds, ids)
    for (const [i, object] of objects.entries()) {
      const owner = (owners[i] ??= candidatesOf(provider, object)
        .map(({ kind, id }) => found.get(cacheKey(provider.id, kind, id)))
        .find((row) => row !== undefined))
      const name = cacheKey(provider.id, object.kind, object.id)
      // An item in a range, too: it gets no row of its own later, because nobody can name it before
      // it is created.
      if (owner !== undefined) this.#known.set(name, owner)
      // Without a query, the time would never end for a name that is asked for all the time.
      else if (queried.has(name)) this.#unknown.set(name, performance.now() + UNKNOWN_TTL_MS)
      if (slices.isOver()) await slices.next()
    }
    return owners
  }

  #remembered(provider: ObjectLookup['provider'], object: ObjectRef): ObjectRow | undefined {
    const known = this.#known.get(cacheKey(provider.id, object.kind, object.id))
    // An item may have a row of its own within another key's range: the query decides.
    if (known !== undefined || object.kind === ITEM) return known
    return candidatesOf(provider, object)
      .map(({ kind, id }) => this.#known.get(cacheKey(provider.id, kind, id)))
      .find((row) => row !== undefined)
  }

  #isUnknown(name: string): boolean {
    return (this.#unknown.get(name) ?? 0) > performance.now()
  }

  /** The known owners of objects of these kinds with these ids, by name. */
  async #query(
    provider: string,
    kinds: ReadonlySet<string>,
    asked: ReadonlySet<string>,
  ): Promise<Map<string, ObjectRow>> {
    const found = new Map<string, ObjectRow>()
    const ids = [...asked]
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const rows = await this.#store.db
        .selectFrom('objects')
        .selectAll()
        .where('provider', '=', provider)
        .where('kind', 'in', [...kinds])
        .where('object_id', 'in', ids.slice(at, at + BATCH_SIZE))
        .execute()
      for (const row of rows) found.set(cacheKey(provider, row.kind, row.object_id), row)
    }
    return found
  }
}
