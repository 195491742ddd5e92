// Spreads costly work: a bounded amount in each turn of the event loop, and waiting work in turns
// by owner.
import { unboundedQueue, type Owner } from './account-key-queue.ts'

interface Waiting {
  readonly owner: Owner
  readonly cost: number
  work(): void
}

/**
 * Does a bounded amount of work in one turn of the event loop. The amount is counted in pieces or
 * their cost, not timed: a clock would include whatever else the machine does.
 */
export class TurnBudget {
  /**
   * How often the budget has been renewed: not after turns in which work was only counted with
   * `spend` and stayed below the limit.
   */
  turn = 0
  readonly #limit: number
  /** What is left of the budget until it is renewed. */
  #left: number
  #isNextPlanned = false
  #waiting = unboundedQueue<Waiting>()

  /** @param limit the amount of work in one turn of the event loop */
  constructor(limit: number) {
    this.#limit = this.#left = limit
  }

  /** Whether more work has to wait for a later turn. */
  get isBusy(): boolean {
    return this.#left <= 0 || this.#waiting.size > 0
  }

  /**
   * Counts work that was done without asking. @returns whether the limit had already been reached,
   * so that it should have waited
   */
  spend(cost = 1): boolean {
    const { isBusy } = this
    this.#left -= cost
    // Most turns never reach the limit, and need no callback.
    if (isBusy || this.#left <= 0) this.#planNext()
    return isBusy
  }

  /** Calls `work`, synchronously unless this turn of the event loop has reached the bound. */
  schedule(owner: Owner, work: () => void, cost = 1): void {
    if (this.isBusy) return this.defer(owner, work, cost)
    this.#left -= cost
    work()
    this.#planNext()
  }

  /**
   * Calls `work` in a later turn of the event loop, when it is the owner's turn.
   * @param cost 0 for work that counts itself
   */
  defer(owner: Owner, work: () => void, cost = 1): void {
    this.#waiting.push({ owner, cost, work })
    this.#planNext()
  }

  #planNext(): void {
    if (this.#isNextPlanned) return
    this.#isNextPlanned = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isNextPlanned = false
    this.turn++
    this.#left = this.#limit
    if (this.#waiting.size === 0) return
    this.#planNext()
    while (this.#left > 0 && this.#waiting.size > 0)
      for (const { cost, work } of this.#waiting.take(1)) {
        this.#left -= cost
        work()
      }
    // Owners with nothing waiting are forgotten.
    if (this.#waiting.size === 0) this.#waiting = unboundedQueue()
  }
}

/** Creates a budget of `limit` pieces of work per turn of the event loop. */
export const createTurns = (limit: number): TurnBudget => new TurnBudget(limit)
