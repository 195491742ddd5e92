// The work that reading frames is, shared by all sockets: some in one turn of the event loop, and of
// those that have more to read, each owner's in its turn. It is counted and not timed: a clock would
// count what the machine does meanwhile.
import { AccountKeyQueue, type Owner } from '../../common/fairness/account-key-queue.ts'

/** What a frame costs besides its bytes, in bytes: a small one takes about 3 µs. */
const FRAME_COST = 512
/** What all sockets together may read until the event loop goes round: about half a millisecond. */
const TURN_COST = 128 * 1024
/** What one may read before others have their turn. */
export const PUMP_COST = TURN_COST / 2

/** @param bytes with the head of the frame */
export const costOf = (bytes: number): number => FRAME_COST + bytes

interface Waiting {
  readonly owner: Owner
  goOn(): void
}

const newQueue = (): AccountKeyQueue<Waiting> =>
  new AccountKeyQueue<Waiting>(Infinity, ({ owner }) => owner)

/** Turns of all sockets. One per process. */
class PumpTurns {
  /** Since the event loop has been round: at most, as turns with little to read are added up. */
  #spent = 0
  #isPlanned = false
  #waiting = newQueue()

  /** Whether a socket that has something to read has to wait for its turn. */
  get isBusy(): boolean {
    return this.#spent >= TURN_COST || this.#waiting.size > 0
  }

  /** Calls something in a later turn of the event loop, when it is the owner's. */
  wait(owner: Owner, goOn: () => void): void {
    this.#waiting.push({ owner, goOn })
    this.#plan()
  }

  /** Counts what has been read. */
  spend(cost: number): void {
    this.#spent += cost
    if (this.#spent >= TURN_COST) this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isPlanned = false
    this.#spent = 0
    while (this.#spent < TURN_COST && this.#waiting.size > 0)
      for (const { goOn } of this.#waiting.take(1)) goOn()
    if (this.#waiting.size > 0) return this.#plan()
    // Owners with nothing waiting are forgotten.
    this.#waiting = newQueue()
  }
}

/** The turns of this process. */
export const pumpTurns = new PumpTurns()
