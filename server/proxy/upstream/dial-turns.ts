// New connections to upstreams, begun in turns.
//
// A TLS handshake costs about a millisecond of our processor. A thousand of them at once, which is what a burst of one key asks for, would hold up
// everything else for a second. So a few are begun in one turn of the event loop, and of those that wait, each account and key in its turn. How many are
// under way is not limited: an upstream that is far away takes its time.
import { FairQueue, type Owner } from '../../ledger/fair-queue.ts'

/** Connections that are begun in one turn of the event loop. */
const DIALS_A_TURN = 8
/** How often owners with nothing waiting are forgotten (milliseconds). */
const TIDY_MS = 60_000

interface Waiting {
  readonly owner: Owner
  dial(): void
}

export class DialTurns {
  #left = DIALS_A_TURN
  #isNextPlanned = false
  readonly #waiting = new FairQueue<Waiting>(Infinity, ({ owner }) => owner)
  readonly #tidying = setInterval(() => this.#waiting.tidy(), TIDY_MS).unref()

  /** Calls `dial`, at once unless many others have dialled in this turn of the event loop. */
  take(owner: Owner, dial: () => void): void {
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#left--
      dial()
    } else this.#waiting.push({ owner, dial })
    this.#planNext()
  }

  close(): void {
    clearInterval(this.#tidying)
  }

  #planNext(): void {
    if (this.#isNextPlanned) return
    this.#isNextPlanned = true
    setImmediate(() => {
      this.#isNextPlanned = false
      const next = this.#waiting.take(DIALS_A_TURN)
      this.#left = DIALS_A_TURN - next.length
      for (const { dial } of next) dial()
      if (this.#waiting.size > 0) this.#planNext()
    })
  }
}
