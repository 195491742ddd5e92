// Different objects that one body names.
import type { ObjectRef } from '../providers/object-ref.ts'

/** Sets of a kind: one of 10,000 ids takes 0.3 ms to grow, in the middle of a step. */
const SETS = 16

/** Different objects, by kind and id: half the cost of one set of both joined. */
export class RefSet {
  /** Most bodies name nothing. */
  #kinds: Map<string, Set<string>[]> | null = null
  size = 0

  has({ kind, id }: ObjectRef): boolean {
    return this.#kinds !== null && this.#kinds.get(kind)?.[setOf(id)]?.has(id) === true
  }

  /** @returns false where it is there already */
  add({ kind, id }: ObjectRef): boolean {
    const kinds = (this.#kinds ??= new Map())
    let sets = kinds.get(kind)
    if (sets === undefined) kinds.set(kind, (sets = []))
    const ids = (sets[setOf(id)] ??= new Set())
    // A set that has not grown had it.
    const { size } = ids
    if (ids.add(id).size === size) return false
    this.size++
    return true
  }
}

const setOf = (id: string): number =>
  (id.charCodeAt(id.length - 1) * 7 + id.charCodeAt(id.length - 2)) & (SETS - 1)
