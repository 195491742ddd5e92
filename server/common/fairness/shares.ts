// Slots of one kind (uploads, waiting conversions, API requests, sign-ins), shared so that an owner
// with many never keeps out an owner with few.
//
// Any owner may take a free slot. When none is free, an owner within its share still gets one: the
// newest evictable slot of the owner furthest over its share is evicted, or the limit is exceeded,
// up to twice the slots. An owner beyond its share is rejected.

/** How many slots there are, and how they are shared. */
export interface FairSharesLimits {
  /** Slots that any owner may take. */
  readonly slots: number
  /** Slots that an owner gets even when all are taken; default: a quarter. */
  readonly share?: number
  /**
   * Whether an owner without a slot always gets one. Use it only for a bounded number of owners.
   */
  readonly always: boolean
}

/** Why there is no slot: the owner has used its share, or all are taken. */
export type RejectReason = 'share' | 'full'

/** An acquired slot; it belongs to one piece of work. */
export class Slot {
  readonly owner: string
  readonly #release: (slot: Slot) => void
  /** Ends the work; undefined if it can no longer be evicted. */
  #onEvict: (() => void) | undefined

  constructor(owner: string, release: (slot: Slot) => void, evict: (() => void) | undefined) {
    this.owner = owner
    this.#release = release
    this.#onEvict = evict
  }

  get isEvictable(): boolean {
    return this.#onEvict !== undefined
  }

  /** Makes the slot no longer evictable. */
  pin(): void {
    this.#onEvict = undefined
  }

  /** Releases the slot; idempotent. */
  release(): void {
    this.pin()
    this.#release(this)
  }

  /** Releases the slot and ends its work. */
  evict(): void {
    const evict = this.#onEvict
    this.release()
    evict?.()
  }
}

/** Hands out slots, fairly by owner. */
export class FairShares {
  readonly #slots: number
  readonly #share: number
  readonly #always: boolean
  /** Slots of each owner, the oldest first. */
  readonly #owners = new Map<string, Set<Slot>>()
  #used = 0

  constructor({ slots, share = Math.floor(slots / 4), always }: FairSharesLimits) {
    this.#slots = slots
    this.#share = Math.max(1, share)
    this.#always = always
  }

  /** Slots in use. */
  get used(): number {
    return this.#used
  }

  /** Slots of one owner. */
  usedBy(owner: string): number {
    return this.#owners.get(owner)?.size ?? 0
  }

  /**
   * Acquires a slot, or returns why not.
   *
   * @param onEvict ends the work when the slot is evicted; the slot is released before the call.
   *   Without it the slot cannot be evicted
   */
  acquire(owner: string, onEvict?: () => void): Slot | RejectReason {
    if (this.#used >= this.#slots) {
      const owned = this.usedBy(owner)
      if (owned >= this.#share) return 'share'
      const victim = this.#newestOfLargest(owned + 1)
      if (victim) victim.evict()
      else if (this.#used >= this.#slots * 2 && !(this.#always && owned === 0)) return 'full'
    }
    return this.#add(owner, onEvict)
  }

  #add(owner: string, onEvict: (() => void) | undefined): Slot {
    const slots = this.#owners.get(owner) ?? new Set()
    this.#owners.set(owner, slots)
    const slot = new Slot(owner, (left) => this.#remove(slots, left), onEvict)
    slots.add(slot)
    this.#used++
    return slot
  }

  #remove(slots: Set<Slot>, slot: Slot): void {
    if (!slots.delete(slot)) return
    this.#used--
    if (slots.size === 0) this.#owners.delete(slot.owner)
  }

  /**
   * The newest evictable slot of the owner with the most slots, if it has more than its share and
   * more than `others`. Looks at every owner, but is called only if all slots are taken.
   */
  #newestOfLargest(others: number): Slot | undefined {
    let found: Slot | undefined
    let largest = Math.max(this.#share, others)
    for (const slots of this.#owners.values()) {
      const newest =
        slots.size > largest ? [...slots].findLast((slot) => slot.isEvictable) : undefined
      if (newest) [found, largest] = [newest, slots.size]
    }
    return found
  }
}
