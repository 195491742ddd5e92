// Bounds how much work is in progress at the same time, by key, by account and in total. The rest
// waits, in turns by owner.
import { unboundedQueue, type Owner } from './account-key-queue.ts'
import { OwnerCounts } from './owner-counts.ts'

/** How many pieces of work may be in progress. */
export interface WorkLimits {
  readonly total: number
  readonly account: number
  readonly key: number
}

interface Waiting {
  readonly owner: Owner
  begin(): void
}

/** The slots of one kind of work, shared by all owners. */
export class WorkSlots {
  readonly #limits: WorkLimits
  #inProgress = 0
  readonly #counts = new OwnerCounts()
  #waiting = unboundedQueue<Waiting>()
  #isBeginning = false

  constructor(limits: WorkLimits) {
    this.#limits = limits
  }

  /** Calls `begin` when the owner has a slot, at once if one is free; `release` must follow. */
  acquire(owner: Owner, begin: () => void): void {
    // Whoever waits has no free slot, so this one takes it from nobody.
    if (!this.#isFree(owner)) return void this.#waiting.push({ owner, begin })
    this.#count(owner, 1)
    begin()
  }

  release(owner: Owner): void {
    this.#count(owner, -1)
    // What begins may end at once.
    if (this.#isBeginning) return
    this.#isBeginning = true
    while (this.#waiting.size > 0 && this.#beginNext());
    this.#isBeginning = false
    // Owners with nothing waiting are forgotten.
    if (this.#waiting.size === 0) this.#waiting = unboundedQueue()
  }

  #beginNext(): boolean {
    const [next] = this.#waiting.take(1, ({ owner }) => this.#isFree(owner))
    if (next === undefined) return false
    this.#count(next.owner, 1)
    next.begin()
    return true
  }

  #isFree(owner: Owner): boolean {
    return (
      this.#inProgress < this.#limits.total &&
      this.#counts.ofAccount(owner) < this.#limits.account &&
      this.#counts.ofKey(owner) < this.#limits.key
    )
  }

  #count(owner: Owner, by: 1 | -1): void {
    this.#inProgress += by
    this.#counts.add(owner, by)
  }
}
