// Places of one kind (uploads, waiting conversions, API requests, sign-ins), given out so that the
// many of one owner never keep out the few of another.
//
// What is free is for anybody. Where nothing is free, an owner within its share still gets a place:
// the newest unfinished one of whoever is furthest over its share is dropped, or the limit is
// exceeded, up to twice as many places. An owner beyond its share is refused.

/** How many slots there are, and how they are shared. */
export interface FairSharesLimits {
  /** Places that anybody may take. */
  readonly slots: number
  /**
   * Places of one owner that nobody else's can keep it from; a quarter of all where it is left out.
   */
  readonly share?: number
  /**
   * Whether an owner without a place always gets one: only where there are no more owners than
   * somebody has let in.
   */
  readonly always: boolean
}

/** Why there is no place: the owner has its share, or there is none for anybody. */
export type RejectReason = 'share' | 'full'

/** A place that has been given; it belongs to one piece of work. */
export class Slot {
  readonly owner: string
  readonly #release: (slot: Slot) => void
  /** Ends the work; undefined: it cannot be dropped any more. */
  #onEvict: (() => void) | undefined

  constructor(owner: string, release: (slot: Slot) => void, evict: (() => void) | undefined) {
    this.owner = owner
    this.#release = release
    this.#onEvict = evict
  }

  get isEvictable(): boolean {
    return this.#onEvict !== undefined
  }

  /** From now on the work is not dropped for others. */
  pin(): void {
    this.#onEvict = undefined
  }

  /** Gives the place back; a second time does nothing. */
  release(): void {
    this.pin()
    this.#release(this)
  }

  /** Gives the place back and ends the work. */
  evict(): void {
    const evict = this.#onEvict
    this.release()
    evict?.()
  }
}

/** Gives out slots, fairly by owner. */
export class FairShares {
  readonly #slots: number
  readonly #share: number
  readonly #always: boolean
  /** Places of each owner, the oldest first. */
  readonly #owners = new Map<string, Set<Slot>>()
  #used = 0

  constructor({ slots, share = Math.floor(slots / 4), always }: FairSharesLimits) {
    this.#slots = slots
    this.#share = Math.max(1, share)
    this.#always = always
  }

  /** Places that are taken. */
  get used(): number {
    return this.#used
  }

  /** Places of one owner. */
  usedBy(owner: string): number {
    return this.#owners.get(owner)?.size ?? 0
  }

  /**
   * Gives the owner a place, or says why not. @param onEvict ends the work where somebody else needs
   * its place; it has been given back by then
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

  /** Looks at every owner: only where all places are taken, of which there are few. */
  #newestOfLargest(atLeast: number): Slot | undefined {
    let found: Slot | undefined
    let largest = Math.max(this.#share, atLeast)
    for (const slots of this.#owners.values()) {
      const newest =
        slots.size > largest ? [...slots].findLast((slot) => slot.isEvictable) : undefined
      if (newest) [found, largest] = [newest, slots.size]
    }
    return found
  }
}
