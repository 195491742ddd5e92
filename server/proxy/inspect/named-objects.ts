// The stored objects that one body names.
import { ITEM } from '../objects/item-ranges.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import { MAX_IDS } from './places.ts'

/** Collects the objects that one body names. */
export class NamedObjects {
  /** Objects in places where the endpoint expects one. */
  readonly placed: ObjectRef[] = []
  /** Objects anywhere else: each once, without those above. */
  readonly elsewhere: ObjectRef[] = []
  /**
   * Whether the body refers to stored items, rather than repeating them: known when it has ended.
   */
  refers = false
  readonly #seen = new RefSet()
  readonly #seenPerhaps = new RefSet()
  /** The objects whose names are in places for one, for lookup. */
  readonly #inPlaces = new RefSet()

  /** Everything that the body names; objects in expected places come first. */
  get all(): readonly ObjectRef[] {
    return this.elsewhere.length === 0 ? this.placed : this.placed.concat(this.elsewhere)
  }

  /** An object anywhere. @returns false if there are more than MAX_IDS of them */
  mention(ref: ObjectRef): boolean {
    const seen = ref.mayBeUnknown === true ? this.#seenPerhaps : this.#seen
    if (!seen.add(ref)) return true
    if (this.#seen.size + this.#seenPerhaps.size > MAX_IDS) return false
    if (!this.isPlaced(ref)) this.elsewhere.push(this.#asMentioned(ref))
    return true
  }

  /** An object in a place where the endpoint expects one. */
  place(ref: ObjectRef): void {
    this.placePerhaps(ref)
    this.#inPlaces.add(ref)
    // The same string has just been checked, before its place was known.
    const last = this.elsewhere.at(-1)
    if (last !== undefined && last.kind === ref.kind && last.id === ref.id) this.elsewhere.pop()
  }

  /** The same, if the place may be another one. */
  placePerhaps(ref: ObjectRef): void {
    this.placed.push(this.#asMentioned(ref))
  }

  isPlaced(ref: ObjectRef): boolean {
    return this.#inPlaces.has(ref)
  }

  #asMentioned(ref: ObjectRef): ObjectRef {
    return ref.kind === ITEM ? new MentionedItem(ref.id, this) : ref
  }
}

/**
 * A referenced item must have an owner; a repeated one need not. Only the end of the body may tell
 * which it is.
 */
class MentionedItem implements ObjectRef {
  readonly kind = ITEM
  readonly id: string
  readonly #body: Pick<NamedObjects, 'refers'>

  constructor(id: string, body: Pick<NamedObjects, 'refers'>) {
    this.id = id
    this.#body = body
  }

  get mayBeUnknown(): boolean {
    return !this.#body.refers
  }
}

/**
 * Number of sets over which the ids of a kind are spread: a single set of 10,000 ids takes 0.3 ms
 * to grow, in the middle of a step.
 */
const SETS = 16

/** A set of objects, by kind and id: half the cost of a set of both joined. */
class RefSet {
  /** Most bodies name nothing. */
  #kinds: Map<string, Set<string>[]> | null = null
  size = 0

  has({ kind, id }: ObjectRef): boolean {
    return this.#kinds !== null && this.#kinds.get(kind)?.[setOf(id)]?.has(id) === true
  }

  /** @returns false if it already exists */
  add({ kind, id }: ObjectRef): boolean {
    const kinds = (this.#kinds ??= new Map())
    let sets = kinds.get(kind)
    if (sets === undefined) kinds.set(kind, (sets = []))
    const ids = (sets[setOf(id)] ??= new Set())
    // If the set has not grown, it already had it.
    const { size } = ids
    if (ids.add(id).size === size) return false
    this.size++
    return true
  }
}

const setOf = (id: string): number =>
  (id.charCodeAt(id.length - 1) * 7 + id.charCodeAt(id.length - 2)) & (SETS - 1)
