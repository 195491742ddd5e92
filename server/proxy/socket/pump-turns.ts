// The time that reading frames takes, shared by all sockets: some in one turn of the event loop, and
// of those that have more to read, each owner's in its turn.
import { AccountKeyQueue, type Owner } from '../../common/fairness/account-key-queue.ts'

/** What all sockets together may read for until the event loop goes round (milliseconds). */
const TURN_MS = 0.5
/** What one may read for before others have their turn (milliseconds). */
export const PUMP_MS = 0.25

interface Waiting {
  readonly owner: Owner
  goOn(): void
}

const newQueue = (): AccountKeyQueue<Waiting> =>
  new AccountKeyQueue<Waiting>(Infinity, ({ owner }) => owner)

/** Turns of all sockets. One per process. */
class PumpTurns {
  /** Since the event loop has been round: at least, as turns with little to read are added up. */
  #spentMs = 0
  #isPlanned = false
  #waiting = newQueue()

  /** Whether a socket that has something to read has to wait for its turn. */
  get isBusy(): boolean {
    return this.#spentMs >= TURN_MS || this.#waiting.size > 0
  }

  /** Calls something in a later turn of the event loop, when it is the owner's. */
  wait(owner: Owner, goOn: () => void): void {
    this.#waiting.push({ owner, goOn })
    this.#plan()
  }

  /** Counts time that was spent on reading. */
  spend(milliseconds: number): void {
    this.#spentMs += milliseconds
    if (this.#spentMs >= TURN_MS) this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isPlanned = false
    this.#spentMs = 0
    while (this.#spentMs < TURN_MS && this.#waiting.size > 0)
      for (const { goOn } of this.#waiting.take(1)) goOn()
    if (this.#waiting.size > 0) return this.#plan()
    // Owners with nothing waiting are forgotten.
    this.#waiting = newQueue()
  }
}

/** The turns of this process. */
export const pumpTurns = new PumpTurns()
