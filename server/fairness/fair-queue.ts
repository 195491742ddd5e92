// Work that waits for one of a few places, by owner: owners take turns, however much each of them
// has waiting.
import { FairShares, type FairSharesLimits, type RejectReason, type Slot } from './shares.ts'

/** Limits of a fair queue, and the error for work that it rejects. */
export interface FairQueueLimits {
  /** Pieces of work at once. */
  readonly concurrency: number
  /** Of one owner. */
  readonly perOwner: number
  /** Those that wait. */
  readonly waiting: FairSharesLimits
  /** What somebody is told for whom there is no place, or who had to give it up while it waited. */
  readonly refusal: (why: RejectReason) => Error
}

/** One owner that has work, or had some lately. */
interface OwnerState {
  running: number
  /** When its next piece may begin, among those of the others. */
  startTag: number
  readonly waiting: Set<() => void>
}

/** Owners without work are forgotten when there are this many lanes. */
const MAX_OWNERS = 1_024

/**
 * The next piece of an owner's work has a turn one behind its last one, and not before the last one
 * of all that was begun (start-time fair queuing: Goyal, Vin and Cheng, 1996). So nobody gains by
 * coming in small pieces, or again and again.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #slots: FairShares
  readonly #owners = new Map<string, OwnerState>()
  #running = 0
  /** The turn of the last piece that was begun. */
  #virtualTime = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
    this.#slots = new FairShares(limits.waiting)
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#slots.used
  }

  /**
   * Waits for the turn of one piece of work; disposing of what it gives ends the turn.
   *
   * @param isEvictable whether it may be ended while it waits, where somebody else needs its place
   * @throws the refusal; what `signal` was aborted with
   */
  async acquire(owner: string, signal: AbortSignal, isEvictable: boolean): Promise<Disposable> {
    signal.throwIfAborted()
    const state = this.#stateOf(owner)
    if (
      this.#running < this.#limits.concurrency &&
      state.running < this.#limits.perOwner &&
      state.waiting.size === 0
    )
      return this.#start(state)
    const evicted = new AbortController()
    const evict = (): void => evicted.abort(this.#limits.refusal('full'))
    const slot = this.#slots.acquire(owner, isEvictable ? evict : undefined)
    if (typeof slot === 'string') throw this.#limits.refusal(slot)
    return this.#wait(state, slot, AbortSignal.any([signal, evicted.signal]))
  }

  /**
   * Counts a piece of an owner's work that needs no place of this queue, until what it gives is
   * disposed of; null where as many run as may.
   */
  occupy(owner: string): Disposable | null {
    const state = this.#stateOf(owner)
    if (state.running >= this.#limits.perOwner) return null
    state.running++
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        state.running--
        this.#next()
      },
    }
  }

  /** How many pieces of each owner's work run, where any does. */
  running(): [owner: string, pieces: number][] {
    return [...this.#owners].flatMap(([owner, { running }]) =>
      running > 0 ? [[owner, running] as [string, number]] : [],
    )
  }

  #wait(state: OwnerState, slot: Slot, signal: AbortSignal): Promise<Disposable> {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const stopWaiting = (): void => {
      state.waiting.delete(start)
      slot.release()
      signal.removeEventListener('abort', abort)
    }
    const start = (): void => {
      stopWaiting()
      resolve(this.#start(state))
    }
    const abort = (): void => {
      stopWaiting()
      reject(signal.reason)
    }
    if (state.waiting.size === 0) state.startTag = Math.max(state.startTag, this.#virtualTime)
    state.waiting.add(start)
    signal.addEventListener('abort', abort)
    return promise
  }

  #start(state: OwnerState): Disposable {
    this.#running++
    state.running++
    this.#virtualTime = Math.max(this.#virtualTime, state.startTag)
    state.startTag = this.#virtualTime + 1
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        this.#running--
        state.running--
        this.#next()
      },
    }
  }

  #next(): void {
    while (this.#running < this.#limits.concurrency) {
      const ready = [...this.#owners.values()].filter(
        (state) => state.waiting.size > 0 && state.running < this.#limits.perOwner,
      )
      const [first] = ready.sort((a, b) => a.startTag - b.startTag)
      const [start] = first?.waiting ?? []
      if (!start) return
      start()
    }
  }

  #stateOf(owner: string): OwnerState {
    if (this.#owners.size >= MAX_OWNERS) this.#forget()
    const state = this.#owners.get(owner) ?? {
      running: 0,
      startTag: this.#virtualTime,
      waiting: new Set(),
    }
    this.#owners.set(owner, state)
    return state
  }

  #forget(): void {
    for (const [owner, { running, waiting, startTag }] of this.#owners)
      if (running + waiting.size === 0 && startTag <= this.#virtualTime) this.#owners.delete(owner)
  }
}
