// How late requests are released after they were stamped, so that the stamps say so from the start.
import { PROMPT_MS, SLACK_MS } from './postgres-reserve.ts'

/** The most that a stamp may be ahead (milliseconds): 0098-allowances.ts has the same. */
const MAX_ALLOWANCE_MS = 250
/** The share of the longest delay that is still expected one call later. */
const REMEMBERED = 0.99

/** The delays of the last calls of a process. */
export class ReleaseDelay {
  #longest = 0

  /** Adds the time from a call's stamps to the release of its requests (milliseconds). */
  observe(delay: number): void {
    this.#longest = Math.max(delay, this.#longest * REMEMBERED)
  }

  /**
   * How much later than PROMPT_MS the next call's requests may be released (milliseconds): with
   * this, even one that takes twice as long as the longest of late is in time.
   */
  get allowance(): number {
    return Math.min(MAX_ALLOWANCE_MS, Math.max(0, 2 * this.#longest - PROMPT_MS))
  }

  /** A request that can pass this soon is held instead of refused (milliseconds). */
  get hold(): number {
    return SLACK_MS + 10 + this.allowance
  }
}
