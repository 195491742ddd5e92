// Spreads costly work: a bounded amount in each turn of the event loop, and waiting work in turns
// by owner.
import { AccountKeyQueue, type Owner } from './account-key-queue.ts'

interface Waiting {
  readonly owner: Owner
  work(): void
}

const newQueue = (): AccountKeyQueue<Waiting> =>
  new AccountKeyQueue<Waiting>(Infinity, ({ owner }) => owner)

/** Does a bounded number of pieces of work in one turn of the event loop. */
export class TurnBudget {
  /** Counts the turns that reached the bound. */
  turn = 0
  readonly #limit: number
  #left: number
  #isNextPlanned = false
  #waiting = newQueue()

  /** @param most how many are done in one turn of the event loop */
  constructor(most: number) {
    this.#limit = this.#left = most
  }

  /** Counts one that was done without asking. @returns whether it was one more than may be */
  spend(): boolean {
    const isOver = this.#left <= 0 || this.#waiting.size > 0
    // Most turns never come to their end, and need no callback.
    if (isOver || --this.#left === 0) this.#planNext()
    return isOver
  }

  /** Calls `work`, synchronously unless this turn of the event loop has reached the bound. */
  schedule(owner: Owner, work: () => void): void {
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#left--
      work()
    } else this.#waiting.push({ owner, work })
    this.#planNext()
  }

  /** Calls `work` in a later turn of the event loop. */
  defer(owner: Owner, work: () => void): void {
    this.#waiting.push({ owner, work })
    this.#planNext()
  }

  #planNext(): void {
    if (this.#isNextPlanned) return
    this.#isNextPlanned = true
    setImmediate(() => {
      this.#isNextPlanned = false
      this.turn++
      const next = this.#waiting.take(this.#limit)
      this.#left = this.#limit - next.length
      // Owners with nothing waiting are forgotten.
      if (next.length > 0 && this.#waiting.size === 0) this.#waiting = newQueue()
      if (next.length > 0) this.#planNext()
      for (const { work } of next) work()
    })
  }
}

/** Makes a budget of `limit` pieces of work in one turn of the event loop. */
export const createTurns = (limit: number): TurnBudget => new TurnBudget(limit)
