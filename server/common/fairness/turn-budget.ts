// What costs time, done a little at a time: so much in one turn of the event loop, and of what
// waits, each owner's in its turn.
import { AccountKeyQueue, type Owner } from './account-key-queue.ts'

interface Waiting {
  readonly owner: Owner
  work(): void
}

const newQueue = (): AccountKeyQueue<Waiting> =>
  new AccountKeyQueue<Waiting>(Infinity, ({ owner }) => owner)

/** Does at most so many pieces of work in one turn of the event loop. */
export class TurnBudget {
  /** Counts the turns in which as many were done as may be. */
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

  /** Calls `work`, at once unless as many as may be were called in this turn of the event loop. */
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
