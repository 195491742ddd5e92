// Objects that providers store for us (files, batches, responses, operations): which credential
// reaches one, and whose it is.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../store/open.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { ObjectRow } from '../../store/schema.ts'
import { transientProblem } from '../../store/transient-errors.ts'
import { TimeSlices } from '../../common/fairness/time-slices.ts'
import { TurnBudget } from '../../common/fairness/turn-budget.ts'
import { ITEM, rangeOf, spellingsOf } from './item-ranges.ts'
import { createRecentObjects } from './cache.ts'
import { denialOf, lenientSpellings, ofAnyKind, type Denial, type ObjectLookup } from './denials.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import { ANY_KIND } from '../providers/ids.ts'

/** How an object came into being. */
export interface ObjectOrigin {
  /** The id of the key. */
  readonly key: string
  readonly credential: string
  readonly now: number
  /** The id of the response to which an item belongs, where it is known. */
  readonly response?: string | undefined
}

/** Whether a key may name what a request names; of what it may not, the kind. */
export interface LookupResult {
  readonly denied: Denial | null
  readonly credential: string | null
  readonly kind?: string
}

export interface ObjectOwners {
  /**
   * Remembers what an answer created. The next request finds it, even before it is durable, or
   * while the store does not answer.
   */
  recordCreated(provider: string, object: ObjectRef, by: ObjectOrigin): void
  /**
   * Has `look` wait for an answer that has passed and is still being decoded; `created` follows at
   * once.
   */
  trackPending(reading: Promise<unknown>): void
  /** When all of those that have passed until now are decoded. */
  awaitPending(): Promise<unknown>
  /**
   * Whether the key may name these objects; `credential`: the one that reaches them, null where
   * none of them is known. One query for each thousand names at most; others have their turns in
   * between.
   *
   * @param ready what it waits for; without it, all that is expected
   */
  lookup(naming: ObjectLookup, ready?: Promise<unknown>): Promise<LookupResult>
  /** Whether the key may name each of these objects, in their order: for a list that is filtered. */
  mayName(naming: ObjectLookup): Promise<readonly boolean[]>
  /** Whether the key made an object that was just looked at. */
  isOwn(provider: string, key: string, object: ObjectRef): boolean
  /** Whether any object of the provider belongs to another key; with `kind`, any of these. */
  anyOwnedByOther(provider: string, key: string, kind?: string): Promise<boolean>
}

/** The most rows that wait for a store that does not answer. */
const MAX_UNWRITTEN = 10_000
/** When those that could not be written are tried again. */
const RETRY_MS = 1_000
/**
 * For how long a name that nobody has made is not looked for again: clients repeat what they hold
 * in each turn. Whoever makes it in this process is known at once; another process's object can be
 * named by others this much longer only if they named it before it was there.
 */
const UNKNOWN_TTL_MS = 1_000
/**
 * How long another process may take to write down what it has seen made, before a request that
 * names it is refused.
 */
const PEER_WRITE_MS = 200
/** Objects that are looked for together, and names in one query. */
const BATCH_SIZE = 1_000
/**
 * The first of many are looked up alone: a body of ids that nobody here made is refused for one of
 * these, at a tenth of the cost.
 */
const FIRST_BATCH_SIZE = 16

/** @param onError told when an object cannot be written; it is tried again */
export function openObjectOwners(store: Store, onError: (error: unknown) => void): ObjectOwners {
  const known = createRecentObjects<ObjectRow>()
  /** Slices of long look-ups, one in a turn of the event loop for all requests together. */
  const turns = new TurnBudget(1)
  /**
   * Items whose range is being written: where it turns out to be another key's, they get rows of
   * their own.
   */
  const undecided = new Map<string, ObjectRow[]>()
  /** Until when names are taken for unknown without another query. */
  const unknown = createRecentObjects<number>()
  const isUnknown = (name: string): boolean => (unknown.get(name) ?? 0) > performance.now()
  const pending: Promise<unknown>[] = []
  const unwritten: ObjectRow[] = []
  let timer: NodeJS.Timeout | null = null

  const remember = (row: ObjectRow): void =>
    known.set(cacheKey(row.provider, row.kind, row.object_id), row)

  /** The first owner stays: the store says who that is. */
  const settle = (row: ObjectRow, kept: ObjectRow): void => {
    remember(kept)
    const name = cacheKey(row.provider, row.kind, row.object_id)
    const items = undecided.get(name) ?? []
    undecided.delete(name)
    if (kept.key_id !== row.key_id) for (const item of items) enter(item)
  }

  const write = (row: ObjectRow): void => {
    store.run(insertObject, row).then(
      (kept) => settle(row, kept),
      (error: unknown) => {
        if (timer === null) onError(error)
        if (transientProblem(error) === undefined || unwritten.length === MAX_UNWRITTEN)
          return void undecided.delete(cacheKey(row.provider, row.kind, row.object_id))
        unwritten.push(row)
        timer ??= setTimeout(writeOwed, RETRY_MS).unref()
      },
    )
  }

  function enter(row: ObjectRow): void {
    remember(row)
    write(row)
  }

  function writeOwed(): void {
    timer = null
    for (const row of unwritten.splice(0)) write(row)
  }

  /** Who owns objects of these kinds with these ids, of those that are known, by name. */
  const find = async (
    provider: string,
    kinds: ReadonlySet<string>,
    asked: ReadonlySet<string>,
  ): Promise<Map<string, ObjectRow>> => {
    const found = new Map<string, ObjectRow>()
    const ids = [...asked]
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const rows = await store.db
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

  /** The owner of each object, in their order; undefined where nobody here made it. */
  const ownersOf = async (
    provider: ObjectLookup['provider'],
    objects: readonly ObjectRef[],
    slices: TimeSlices,
  ): Promise<(ObjectRow | undefined)[]> => {
    const candidates = (object: ObjectRef): readonly ObjectRef[] =>
      object.kind === ANY_KIND
        ? ofAnyKind(provider, object)
        : [...spellingsOf(object), ...lenientSpellings(object)]
    const remembered = ({ kind, id }: ObjectRef): ObjectRow | undefined =>
      known.get(cacheKey(provider.id, kind, id))
    const owners: (ObjectRow | undefined)[] = []
    const kinds = new Set<string>()
    const ids = new Set<string>()
    for (const object of objects) {
      // An item may have a row of its own within another key's range: the query tells.
      const owner =
        remembered(object) ??
        (object.kind === ITEM
          ? undefined
          : candidates(object)
              .map(remembered)
              .find((row) => row !== undefined))
      owners.push(owner)
      if (owner === undefined && !isUnknown(cacheKey(provider.id, object.kind, object.id))) {
        for (const { kind, id } of candidates(object)) {
          kinds.add(kind)
          ids.add(id)
        }
      }
      if (slices.isOver()) await slices.next()
    }
    const found = ids.size === 0 ? NO_ROWS : await find(provider.id, kinds, ids)
    for (const [i, object] of objects.entries()) {
      owners[i] ??= candidates(object)
        .map(({ kind, id }) => found.get(cacheKey(provider.id, kind, id)))
        .find((row) => row !== undefined)
      // An item in a range too: no row of its own appears later, because nobody can name it before
      // it is made.
      const name = cacheKey(provider.id, object.kind, object.id)
      if (owners[i] === undefined) unknown.set(name, performance.now() + UNKNOWN_TTL_MS)
      else known.set(name, owners[i])
      if (slices.isOver()) await slices.next()
    }
    return owners
  }

  const decide = async (naming: ObjectLookup): Promise<LookupResult> => {
    const { provider, key, objects } = naming
    const slices = new TimeSlices(turns, { account_id: key.accountId, key_id: key.id })
    let credential: string | null = null
    let itemCredential: string | null = null
    let next = 0
    for (let at = 0; at < objects.length; at = next) {
      next = at + (at === 0 ? FIRST_BATCH_SIZE : BATCH_SIZE)
      const some = objects.length <= FIRST_BATCH_SIZE ? objects : objects.slice(at, next)
      const owners = await ownersOf(provider, some, slices)
      for (const [i, object] of some.entries()) {
        const owner = owners[i]
        const denied = owner?.key_id === key.id ? null : denialOf(naming, object, owner)
        if (denied !== null) return { denied, credential: null, kind: object.kind }
        if (owner === undefined) continue
        // The newest item stands last.
        if (object.kind === ITEM) itemCredential = owner.credential_id
        else credential ??= owner.credential_id
      }
    }
    return { denied: null, credential: credential ?? itemCredential }
  }

  return {
    recordCreated(provider, object, { key, credential, now, response }) {
      const { kind, id } = object
      const row = {
        provider,
        kind,
        object_id: id,
        key_id: key,
        credential_id: credential,
        created_at: now,
      }
      const name = cacheKey(provider, kind, id)
      // Answers name it again and again.
      if (known.get(name) !== undefined) return
      const range = rangeOf(object, response)
      if (range === null) return enter(row)
      known.set(name, row)
      const common = cacheKey(provider, range.kind, range.id)
      const owner = known.get(common)
      if (owner === undefined) enter({ ...row, kind: range.kind, object_id: range.id })
      if (owner === undefined || undecided.has(common))
        undecided.set(common, [...(undecided.get(common) ?? []), row])
      else if (owner.key_id !== key) enter(row)
    },
    trackPending(reading) {
      pending.push(reading)
      void reading.then(() => pending.splice(pending.indexOf(reading), 1))
    },
    awaitPending: () => Promise.all(pending),
    async lookup(asked, ready) {
      if (ready !== undefined) await ready
      else if (pending.length > 0) await Promise.all(pending)
      const first = await decide(asked)
      const inProse = first.denied === 'unknown' && asked.outsideProse !== undefined
      const naming = inProse ? { ...asked, objects: asked.outsideProse() } : asked
      const found = inProse ? await decide(naming) : first
      // Another process may have made it a moment ago, and be writing it down.
      if ((found.denied !== 'unknown' && found.denied !== 'unread') || store.dialect !== 'postgres')
        return found
      await sleep(PEER_WRITE_MS)
      for (const { kind, id } of naming.objects)
        unknown.set(cacheKey(naming.provider.id, kind, id), 0)
      return decide(naming)
    },
    async mayName(naming) {
      const { provider, key, objects } = naming
      const slices = new TimeSlices(turns, { account_id: key.accountId, key_id: key.id })
      if (pending.length > 0) await Promise.all(pending)
      const owners = await ownersOf(provider, objects, slices)
      return objects.map(
        (object, i) => owners[i]?.key_id === key.id || denialOf(naming, object, owners[i]) === null,
      )
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

const NO_ROWS: ReadonlyMap<string, ObjectRow> = new Map()

const cacheKey = (provider: string, kind: string, id: string): string => `${provider} ${kind} ${id}`

/**
 * Keeps the first owner, and gives it: a provider that gave one id twice must not hand an object
 * over.
 */
export const insertObject = procedure(
  import.meta.url,
  'insertObject',
  function* (db, row: ObjectRow): Steps<ObjectRow> {
    const { provider, kind, object_id } = row
    const isNew = yield* run(
      db
        .insertInto('objects')
        .values(row)
        .onConflict((conflict) => conflict.columns(['provider', 'kind', 'object_id']).doNothing()),
    )
    if (isNew > 0) return row
    return (
      (yield* first(
        db
          .selectFrom('objects')
          .selectAll()
          .where('provider', '=', provider)
          .where('kind', '=', kind)
          .where('object_id', '=', object_id),
      )) ?? row
    )
  },
)
