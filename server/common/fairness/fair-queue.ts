// Queues work by owner. Owners take turns, however much work each has waiting.
import { FairShares, type FairSharesLimits, type RejectReason, type Slot } from './shares.ts'

/** Limits of a fair queue, and the error for work that it rejects. */
export interface FairQueueLimits {
  /** Maximum number of pieces of work that run at the same time. */
  readonly concurrency: number
  /**
   * Extra pieces that may run beyond `concurrency`: for an owner with none running, after its
   * oldest one has waited for `after` milliseconds. Default: none.
   */
  readonly beyond?: { readonly pieces: number; readonly after: number }
  /** Maximum number of pieces of one owner's work that run at the same time. */
  readonly perOwner: number
  /** Limits of the waiting work. */
  readonly waiting: FairSharesLimits
  /** Creates the error for work that is rejected. */
  readonly refusal: (why: RejectReason) => Error
}

/** One owner with work, now or recently. */
interface OwnerState {
  running: number
  /** The start tag of the owner's next piece of work. */
  startTag: number
  /**
   * The callbacks that start the waiting pieces, oldest first, and when each began to wait
   * (`performance.now()`).
   */
  readonly waiting: Map<() => void, number>
}

/** From this many owners on, those without work are forgotten. */
const MAX_OWNERS = 1_024

/**
 * Start-time fair queuing (Goyal, Vin and Cheng, 1996): a piece of work starts one tag after the
 * owner's previous piece, and not before the virtual time. So small pieces or frequent returns gain
 * nothing.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #slots: FairShares
  readonly #owners = new Map<string, OwnerState>()
  #running = 0
  /** The start tag of the last piece that was started. */
  #virtualTime = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
    this.#slots = new FairShares(limits.waiting)
  }

  /** Pieces of work that are waiting. */
  get waiting(): number {
    return this.#slots.used
  }

  /**
   * Waits until one piece of work may run. Dispose of the result when the work has ended.
   *
   * @throws the refusal; the reason of `signal`
   */
  async acquire(owner: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted()
    const state = this.#stateOf(owner)
    if (this.#mayStart(state) && state.waiting.size === 0) return this.#start(state)
    const slot = this.#slots.acquire(owner)
    if (typeof slot === 'string') throw this.#limits.refusal(slot)
    return this.#wait(state, slot, signal)
  }

  /**
   * Counts a piece of work that does not use this queue's slots, until the result is disposed of;
   * null if the owner already runs its maximum.
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

  /** Running pieces of each owner that has some. */
  running(): [owner: string, pieces: number][] {
    return [...this.#owners].flatMap(([owner, { running }]) =>
      running > 0 ? [[owner, running] as [string, number]] : [],
    )
  }

  #wait(state: OwnerState, slot: Slot, signal: AbortSignal): Promise<Disposable> {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const { beyond } = this.#limits
    const timer = beyond && setTimeout(() => this.#next(), beyond.after + 1)
    const stopWaiting = (): void => {
      clearTimeout(timer)
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
    state.waiting.set(start, performance.now())
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

  #mayStart({ running, waiting }: OwnerState): boolean {
    const { concurrency, beyond, perOwner } = this.#limits
    if (this.#running < concurrency) return running < perOwner
    const [since = Infinity] = waiting.values()
    return (
      beyond !== undefined &&
      running === 0 &&
      this.#running < concurrency + beyond.pieces &&
      performance.now() - since >= beyond.after
    )
  }

  #next(): void {
    for (;;) {
      const ready = [...this.#owners.values()].filter(
        (state) => state.waiting.size > 0 && this.#mayStart(state),
      )
      const [first] = ready.sort((a, b) => a.startTag - b.startTag)
      const [start] = first?.waiting.keys() ?? []
      if (!start) return
      start()
    }
  }

  #stateOf(owner: string): OwnerState {
    if (this.#owners.size >= MAX_OWNERS) this.#forget()
    const state = this.#owners.get(owner) ?? {
      running: 0,
      startTag: this.#virtualTime,
      waiting: new Map(),
    }
    this.#owners.set(owner, state)
    return state
  }

  #forget(): void {
    for (const [owner, { running, waiting, startTag }] of this.#owners)
      if (running + waiting.size === 0 && startTag <= this.#virtualTime) this.#owners.delete(owner)
  }
}
