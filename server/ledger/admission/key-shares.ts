// The requests that this process may admit under a key's limit without asking the store.
//
// It keeps a window of its own admissions for each key. A lone process may admit what that window
// allows, because no other process has used the limit. With other `web` processes, its share is the
// limit divided by their number, and only from WINDOW_MS after the start of the outage: until then,
// only the store knows what the others had just admitted. If the count of processes is old, because
// this process was suspended before the outage, it has no share.
import type { Clock } from '../../common/clock.ts'
import type { Remaining } from './backend.ts'
import type { Limited } from './request-limits.ts'
import { wholeWait, Window, WINDOW_MS } from './sliding-window.ts'
import { UNCOUNTED_MS } from './web-processes.ts'

/**
 * Added to the time of each admission, so that a small difference between two clocks never makes a
 * minute too short (milliseconds).
 */
const MARGIN_MS = 100
/** How much later than others a process may notice an outage (milliseconds). */
const NOTICE_MS = 2_000
/**
 * A stopped process counts for this long, because our windows do not have its admissions
 * (milliseconds).
 */
const REMEMBERED_MS = WINDOW_MS + 10_000
/**
 * How long after an outage each process keeps to its share: by then, the store has the others'
 * admissions, or they have expired (milliseconds).
 */
const SETTLING_MS = WINDOW_MS + 10_000

/** The decision about a request from this process's share. */
export type ShareDecision =
  /** A place is reserved: `confirm` or `withdraw` must follow. */
  | { readonly verdict: 'admitted' }
  /** `wait`: whole milliseconds until the next one can pass. */
  | { readonly verdict: 'refused'; readonly wait: number }
  /** No room is known to be left, or the share is less than one request. */
  | { readonly verdict: 'unknown' }

/**
 * Decides about requests without the store, from this process's share of each limit. One per
 * process.
 */
export class KeyShares {
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()
  /**
   * The most `web` processes seen lately, including this one; when that was, and when the store was
   * last asked.
   */
  #processes = 1
  #seenAt = -Infinity
  #countedAt = -Infinity
  /** Start of the outage (monotonic milliseconds); null without one. */
  #outageAt: number | null = null
  /** Whether other processes may have started since the last count, in this outage. */
  #isCountOld = false
  #settlingUntil = -Infinity
  #tidiedAt = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Updates the number of `web` processes. @param sentAt when the store was asked (`mono`) */
  countProcesses(count: number, sentAt: number): void {
    const now = this.#clock.mono()
    this.#countedAt = sentAt
    if (count < this.#processes && now - this.#seenAt < REMEMBERED_MS) return
    this.#processes = Math.max(1, count)
    this.#seenAt = now
  }

  beginOutage(): void {
    this.#outageAt = this.#clock.mono()
    this.#isCountOld = this.#outageAt - this.#countedAt > UNCOUNTED_MS
  }

  endOutage(): void {
    const now = this.#clock.mono()
    if (!this.#alone && this.#outageAt !== null && now - this.#outageAt > WINDOW_MS)
      this.#settlingUntil = now + SETTLING_MS
    this.#outageAt = null
  }

  /** Counts admissions at these times (monotonic milliseconds). */
  load(key: string, times: Float64Array): void {
    this.#windowOf(key).addAll(times.map((time) => time + MARGIN_MS))
  }

  /** Counts an admission that the store made. */
  note(request: Limited): void {
    const { key_id, child_id, child_rpm } = request
    const now = this.#clock.mono() + MARGIN_MS
    this.#windowOf(key_id).add(now)
    if (child_id !== null && child_rpm !== null) this.#windowOf(child_id).add(now)
  }

  /** Reserves one admission during an outage. */
  reserve(request: Limited): ShareDecision {
    return this.#ask(request, (rpm) => this.#provable(rpm))
  }

  /**
   * Whether this process keeps to its shares although the outage is over, because others may not
   * have written their rows yet. Then `reserveSettling` decides before the store does.
   */
  get settling(): boolean {
    return this.#clock.mono() < this.#settlingUntil
  }

  /** Reserves one admission that the store will decide about as well. */
  reserveSettling(request: Limited): ShareDecision {
    const asked = this.#ask(request, (rpm) => this.#share(rpm))
    return asked.verdict === 'unknown' ? { verdict: 'refused', wait: wholeWait(WINDOW_MS) } : asked
  }

  /** Marks the reserved place as used now. */
  confirm(request: Limited): void {
    for (const { window } of this.#placesOf(request)) window.confirm(this.#clock.mono() + MARGIN_MS)
  }

  /** Releases the reserved place. */
  withdraw(request: Limited): void {
    for (const { window } of this.#placesOf(request)) window.withdraw()
  }

  /** The remaining part of a key's limit, counting only this process's admissions. */
  left(key: string, rpm: number): Remaining {
    const limit = this.#outageAt === null ? rpm : this.#provable(rpm)
    const left = this.#windows.get(key)?.left(limit, this.#clock.mono())
    return left === undefined
      ? { requests: limit, reset: 0 }
      : { ...left, reset: Math.min(left.reset, WINDOW_MS) }
  }

  /** Drops empty windows, at most once a minute. */
  tidy(): void {
    const now = this.#clock.mono()
    if (now - this.#tidiedAt < WINDOW_MS) return
    this.#tidiedAt = now
    for (const [key, window] of this.#windows) if (window.isIdle(now)) this.#windows.delete(key)
  }

  /**
   * Reserves a place in each window of a request, or in none. @param limitOf 0: nothing is known
   */
  #ask(request: Limited, limitOf: (rpm: number) => number): ShareDecision {
    const now = this.#clock.mono()
    const places = this.#placesOf(request)
    let wait: number | null = null
    const taken: Window[] = []
    for (const { window, rpm } of places) {
      if (rpm !== null && limitOf(rpm) === 0) continue
      const asked = window.ask(rpm === null ? Infinity : limitOf(rpm), now)
      if (asked.pass) taken.push(window)
      else wait = Math.max(wait ?? 0, asked.wait ?? WINDOW_MS)
    }
    if (taken.length === places.length) return { verdict: 'admitted' }
    for (const window of taken) window.withdraw()
    return wait === null ? { verdict: 'unknown' } : { verdict: 'refused', wait: wholeWait(wait) }
  }

  /**
   * The windows of a request: its key's, even if it has no limit now, and that of a child with its
   * own limit.
   */
  #placesOf(request: Limited): { window: Window; rpm: number | null }[] {
    const { key_id, rpm, child_id, child_rpm } = request
    const places = [{ window: this.#windowOf(key_id), rpm }]
    if (child_id !== null && child_rpm !== null)
      places.push({ window: this.#windowOf(child_id), rpm: child_rpm })
    return places
  }

  get #alone(): boolean {
    return this.#processes === 1
  }

  #share(rpm: number): number {
    return Math.floor(rpm / this.#processes)
  }

  /** The part of a limit that is certainly free in an outage. */
  #provable(rpm: number): number {
    if (this.#isCountOld) return 0
    if (this.#alone) return rpm
    const isProvable =
      this.#outageAt !== null && this.#clock.mono() - this.#outageAt > WINDOW_MS + NOTICE_MS
    return isProvable ? this.#share(rpm) : 0
  }

  #windowOf(key: string): Window {
    let window = this.#windows.get(key)
    if (window === undefined) this.#windows.set(key, (window = new Window()))
    return window
  }
}
