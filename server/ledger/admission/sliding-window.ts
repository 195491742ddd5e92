// The exact sliding window of one key, and the limiter that lets requests wait for it.
// oxlint-disable typescript/no-non-null-assertion -- a ring of numbers: each index is taken modulo its length
import type { PendingAdmission } from './backend.ts'
import type { LimitOwner, RequestLimit } from './request-limits.ts'

/** The length of the window, in milliseconds. */
export const WINDOW_MS = 60_000
/**
 * AI SDKs ignore a wait of 60 s or more, so the longest is a millisecond less; that one has passed
 * when they read it.
 */
const MAX_WAIT_MS = WINDOW_MS - 1

/**
 * The wait in a refusal, in whole milliseconds, after which the next request can pass: more than
 * `wait`, because an admission still counts at the end of its minute.
 */
export function wholeWait(wait: number): number {
  return Math.min(Math.floor(wait) + 1, MAX_WAIT_MS)
}

/** The window's decision about one more request. */
type Verdict =
  | { pass: true }
  /**
   * Refused; `wait` milliseconds from now the next one can pass. Null: it depends on admissions
   * that are not durable yet.
   */
  | { pass: false; wait: number | null }

/**
 * The admissions of the last minute, oldest first, in a ring that grows as needed. Times are
 * monotonic milliseconds.
 *
 * A request may pass if fewer than N admissions are in the 60 s up to now, including both ends. So
 * no interval of 60 s ever has more than N, and no request that could pass is refused. An admission
 * is pending from the decision until it is durable. Its 60 seconds begin then, because the upstream
 * cannot see it earlier. A durable admission keeps its place until it expires, however its request
 * ends.
 */
export class Window {
  /** Pending admissions, decided but not durable yet. They count, and cannot expire. */
  pending = 0
  #stamps = new Float64Array(16)
  #first = 0
  #count = 0

  /**
   * Decides about one admission under `limit` per minute. If it passes, it is pending: `confirm` or
   * `withdraw` must follow.
   *
   * @param ahead number of requests that will take places before this one
   */
  ask(limit: number, now: number, ahead = 0): Verdict {
    this.#expire(now)
    const surplus = this.#count + this.pending + ahead - limit
    if (surplus < 0) {
      this.pending++
      return { pass: true }
    }
    return { pass: false, wait: this.#waitFor(surplus, now) }
  }

  /** Makes a pending admission durable as of `now`. */
  confirm(now: number): void {
    this.pending--
    this.add(now)
  }

  /** Removes a pending admission. */
  withdraw(): void {
    this.pending--
  }

  /** Counts a durable admission at `time`, which is seldom far before the newest one. */
  add(time: number): void {
    this.#grow(1)
    let at = this.#count++
    for (; at > 0 && this.#at(at - 1) > time; at--) this.#set(at, this.#at(at - 1))
    this.#set(at, time)
  }

  /**
   * Counts many, in any order. The cost is that of sorting them and moving the newer ones already
   * here.
   */
  addAll(times: Float64Array): void {
    const sorted = isAscending(times) ? times : times.toSorted()
    this.#grow(sorted.length)
    let old = this.#count - 1
    this.#count += sorted.length
    let to = this.#count - 1
    for (let at = sorted.length - 1; at >= 0; to--) {
      if (old >= 0 && this.#at(old) > sorted[at]!) this.#set(to, this.#at(old--))
      else this.#set(to, sorted[at--]!)
    }
  }

  /**
   * How many more would pass now; negative if other processes' admissions have been added to
   * pending ones.
   */
  room(limit: number, now: number): number {
    this.#expire(now)
    return limit - this.#count - this.pending
  }

  /**
   * Milliseconds until one more can pass, if the durable admissions alone fill `limit`; null if
   * they do not, or if it depends on pending ones. Reserves nothing.
   */
  fullFor(limit: number, now: number): number | null {
    this.#expire(now)
    return this.#count < limit ? null : this.#waitFor(this.#count + this.pending - limit, now)
  }

  /**
   * Milliseconds until one more than `surplus` admissions have expired; null if some of those are
   * pending.
   */
  #waitFor(surplus: number, now: number): number | null {
    return surplus >= this.#count ? null : WINDOW_MS - (now - this.#at(surplus))
  }

  /**
   * How many more would pass under `limit`, and milliseconds until the oldest admission expires; 0
   * if there are none.
   */
  left(limit: number, now: number): { requests: number; reset: number } {
    const requests = Math.max(0, this.room(limit, now))
    return { requests, reset: this.#count === 0 ? 0 : WINDOW_MS - (now - this.#at(0)) }
  }

  /** Whether no admission counts. */
  isIdle(now: number): boolean {
    this.#expire(now)
    return this.#count === 0 && this.pending === 0
  }

  /** Drops expired admissions. By binary search, because after a pause there may be a million. */
  #expire(now: number): void {
    if (this.#count === 0 || now - this.#at(0) <= WINDOW_MS) return
    let [low, high] = [0, 1]
    while (high < this.#count && now - this.#at(high) > WINDOW_MS) [low, high] = [high, 2 * high]
    high = Math.min(high, this.#count)
    while (low + 1 < high) {
      const middle = (low + high) >> 1
      if (now - this.#at(middle) > WINDOW_MS) low = middle
      else high = middle
    }
    this.#first = this.#index(high)
    this.#count -= high
  }

  // The buffer's length is a power of two.
  #index(at: number): number {
    return (this.#first + at) & (this.#stamps.length - 1)
  }

  #at(at: number): number {
    return this.#stamps[this.#index(at)]!
  }

  #set(at: number, time: number): void {
    this.#stamps[this.#index(at)] = time
  }

  /** Makes room for `more`. */
  #grow(more: number): void {
    let length = this.#stamps.length
    while (length < this.#count + more) length *= 2
    if (length === this.#stamps.length) return
    const grown = new Float64Array(length)
    const toEnd = this.#stamps.subarray(this.#first, this.#first + this.#count)
    grown.set(toEnd)
    grown.set(this.#stamps.subarray(0, this.#count - toEnd.length), toEnd.length)
    this.#stamps = grown
    this.#first = 0
  }
}

function isAscending(times: Float64Array): boolean {
  for (let at = 1; at < times.length; at++) if (times[at]! < times[at - 1]!) return false
  return true
}

/**
 * TABLE of the states of a limiter:
 *
 * - `loading`: its window is being read from the ledger; requests wait.
 * - `ready`: its window decides.
 */
type LimiterState = 'loading' | 'ready'

/**
 * One key, or child key, under one limit, in SQLite's admission. It is replaced when the limit
 * changes.
 */
export class KeyLimiter {
  readonly id: string
  readonly owner: LimitOwner
  /** The key's id; for a child key, its parent's. */
  readonly key: string
  /** Requests in any 60 seconds. */
  readonly limit: number
  readonly window = new Window()
  state: LimiterState = 'loading'
  /** The `seq` of the newest admission read from the ledger; Infinity while it is loading. */
  loadedTo = Infinity
  /** Requests that wait for the window, or for the result of a batch. */
  waiting: PendingAdmission[]
  /** Requests that are a few milliseconds early; one timer retries all of them. */
  readonly held: PendingAdmission[] = []
  isTimerSet = false

  constructor({ id, owner, rpm }: RequestLimit, key: string, waiting: PendingAdmission[]) {
    this.id = id
    this.owner = owner
    this.key = key
    this.limit = rpm
    this.waiting = waiting
  }

  /** Whether a request has to wait before it can be decided. */
  get isBusy(): boolean {
    return this.state === 'loading' || this.waiting.length > 0
  }

  /** Whether it can be dropped, because a new one would be the same. */
  isIdle(now: number): boolean {
    return (
      this.state === 'ready' &&
      this.waiting.length === 0 &&
      this.held.length === 0 &&
      this.window.isIdle(now)
    )
  }
}

/** A refusal, and the limiter that it depends on. */
type Refusal = Extract<Verdict, { pass: false }> & { readonly limiter: KeyLimiter }

/**
 * Reserves a place under each limiter. Either all of them have a pending place, or none has; then
 * the refusal is that of the limiter with the longest wait, or of one that cannot tell yet.
 */
export function askAll(limiters: readonly KeyLimiter[], now: number): { pass: true } | Refusal {
  if (limiters.length === 0) return PASS
  let refusal: Refusal | null = null
  const asked: KeyLimiter[] = []
  for (const limiter of limiters) {
    const verdict = limiter.window.ask(limiter.limit, now, limiter.held.length)
    if (verdict.pass) asked.push(limiter)
    else if (refusal === null || isLater(verdict.wait, refusal.wait))
      refusal = { ...verdict, limiter }
  }
  if (refusal === null) return PASS
  for (const { window } of asked) window.withdraw()
  return refusal
}

const PASS = { pass: true } as const

/** Whether a wait is longer than another; null, an unknown wait, is the longest. */
function isLater(wait: number | null, than: number | null): boolean {
  return than !== null && (wait === null || wait > than)
}
