// This process's estimate of the database's time, relative to its own monotonic clock.

/** How far two clocks may drift apart, as a fraction of the time since they were compared. */
const DRIFT = 200e-6
/**
 * Deviations up to this count as imprecision, not as a step of the database's clock (milliseconds).
 */
export const TOLERANCE_MS = 20

/**
 * The offset of the ledger's time from ours lies in an interval: each response has the database's
 * time at some moment between sending and receiving, and so narrows the interval. A response
 * outside the interval means that the database's clock has been set. All times in milliseconds.
 */
export class DatabaseClock {
  #low = -Infinity
  #high = Infinity
  #at = 0

  /** Adds a reading; false, and no change, if it contradicts earlier ones. */
  observe(sent: number, received: number, there: number): boolean {
    const slack = this.#slack(received)
    const [low, high] = [
      Math.max(this.#low - slack, there - received),
      Math.min(this.#high + slack, there - sent),
    ]
    if (low > high + TOLERANCE_MS) return false
    // Within the tolerance, the newest reading is as good as any.
    if (low > high) this.restart(sent, received, there)
    else [this.#low, this.#high, this.#at] = [low, high, received]
    return true
  }

  /** Forgets everything except this response. */
  restart(sent: number, received: number, there: number): void {
    this.#low = there - received
    this.#high = there - sent
    this.#at = received
  }

  /**
   * The earliest and latest possible database time at a moment of our clock; infinite while nothing
   * is known.
   */
  at(here: number): [earliest: number, latest: number] {
    const slack = this.#slack(here)
    return [here + this.#low - slack, here + this.#high + slack]
  }

  #slack(here: number): number {
    return Math.max(0, here - this.#at) * DRIFT
  }
}
