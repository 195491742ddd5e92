// The exact sliding window of one key.

/** The length of the window, in milliseconds. */
export const WINDOW_MS = 60_000
/** AI SDKs ignore a wait of 60 s or more; the first millisecond of it has passed when they read it. */
const LONGEST_WAIT_MS = WINDOW_MS - 1

/** The wait that a refusal tells, in whole milliseconds: when it is over, the next one can pass. */
export function toldWait(wait: number): number {
  return Math.min(Math.floor(wait) + 1, LONGEST_WAIT_MS)
}

/** What the window says to one more request. */
export type Verdict =
  | { pass: true }
  /** Refused; `wait` milliseconds from now the next one can pass. Null: it depends on admissions that are not durable yet. */
  | { pass: false; wait: number | null }

/**
 * The admissions of the last minute, oldest first, in a ring that grows as needed. Times are monotonic milliseconds.
 *
 * A request may pass where fewer than N admissions lie in the 60 s up to now, both ends included: then no interval of 60 s ever
 * holds more than N, and nothing that could pass is refused. An admission counts as pending from the decision until it is durable, and
 * from then on as of that moment, because only then can the upstream hear of it.
 */
export class Window {
  /** Decided, not durable yet. They count, and cannot expire. */
  pending = 0
  #stamps = new Float64Array(16)
  #first = 0
  #count = 0

  /** Asks for one admission under `limit` a minute. Passing makes it pending: `confirm` or `withdraw` must follow. */
  ask(limit: number, now: number): Verdict {
    this.#expire(now)
    const over = this.#count + this.pending - limit
    if (over < 0) {
      this.pending++
      return { pass: true }
    }
    // When the admissions up to this one have expired, there is room for one more.
    if (over >= this.#count) return { pass: false, wait: null }
    return { pass: false, wait: WINDOW_MS - (now - this.#at(over)) }
  }

  /** A pending admission is durable as of `now`. */
  confirm(now: number): void {
    this.pending--
    this.add(now)
  }

  /** A pending admission did not happen. */
  withdraw(): void {
    this.pending--
  }

  /** Counts an admission that was made elsewhere, at `time`. */
  add(time: number): void {
    if (this.#count === this.#stamps.length) this.#grow()
    let at = this.#count++
    for (; at > 0 && this.#at(at - 1) > time; at--) this.#stamps[this.#index(at)] = this.#at(at - 1)
    this.#stamps[this.#index(at)] = time
  }

  /** How many more would pass now; negative where admissions made elsewhere have come on top of pending ones. */
  room(limit: number, now: number): number {
    this.#expire(now)
    return limit - this.#count - this.pending
  }

  /**
   * Milliseconds until one more can pass, where the durable admissions alone fill `limit`; null where they do not, or where it depends on
   * pending ones. Changes nothing that counts.
   */
  fullFor(limit: number, now: number): number | null {
    this.#expire(now)
    const over = this.#count + this.pending - limit
    return this.#count < limit || over >= this.#count ? null : WINDOW_MS - (now - this.#at(over))
  }

  /** Whether nothing in it matters any more. */
  idle(now: number): boolean {
    this.#expire(now)
    return this.#count === 0 && this.pending === 0
  }

  #expire(now: number): void {
    while (this.#count > 0 && now - this.#at(0) > WINDOW_MS) {
      this.#first = (this.#first + 1) % this.#stamps.length
      this.#count--
    }
  }

  #index(at: number): number {
    return (this.#first + at) % this.#stamps.length
  }

  #at(at: number): number {
    return this.#stamps[this.#index(at)]!
  }

  #grow(): void {
    const grown = new Float64Array(this.#stamps.length * 2)
    for (let at = 0; at < this.#count; at++) grown[at] = this.#at(at)
    this.#stamps = grown
    this.#first = 0
  }
}
