// State of PostgreSQL's admission between calls: full keys and child keys, and requests that are
// slightly early.
import type { Clock } from '../../common/clock.ts'
import type { ReleaseDelay } from './release-delay.ts'

/**
 * Maximum number of held requests of one key; more are refused, because they would keep retrying.
 */
const MAX_HELD = 1_000

/** Keys that are full according to the last call about them. */
export class FullKeys {
  readonly #clock: Clock
  readonly #delay: ReleaseDelay
  /** Id → its limit, and the time until which it stays full at least (monotonic milliseconds). */
  readonly #keys = new Map<string, { rpm: number; until: number }>()

  constructor(clock: Clock, delay: ReleaseDelay) {
    this.#clock = clock
    this.#delay = delay
  }

  set(key: string, rpm: number, until: number): void {
    this.#keys.set(key, { rpm, until })
  }

  /** Milliseconds for which a key stays full; null if it may have room soon. */
  wait(key: string, rpm: number | null): number | null {
    const full = this.#keys.get(key)
    if (full === undefined || full.rpm !== rpm) return null
    const wait = full.until - this.#clock.mono()
    return wait > this.#delay.hold ? wait : null
  }

  /** Forgets keys that may have room. */
  tidy(): void {
    const now = this.#clock.mono()
    for (const [key, { until }] of this.#keys) if (until < now) this.#keys.delete(key)
  }
}

/** Requests that are submitted again in a few milliseconds. */
export class HeldRequests {
  /** Number of held requests by key. */
  readonly #counts = new Map<string, number>()

  /**
   * Calls `submit` in `wait` milliseconds. Returns false, and does nothing, if too many of the key
   * are held.
   */
  hold(key: string, wait: number, submit: () => void): boolean {
    const count = this.#counts.get(key) ?? 0
    if (count >= MAX_HELD) return false
    this.#counts.set(key, count + 1)
    setTimeout(() => {
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
      submit()
    }, wait)
    return true
  }
}
