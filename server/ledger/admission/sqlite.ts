// Admission where the processes of one machine share the ledger, on SQLite. Each key's window is in
// memory; the writer checks what other processes have admitted since, in the transaction that
// writes the rows.
import type { Clock } from '../../common/clock.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/open.ts'
import { flushJournal } from '../settlement/journal.ts'
import {
  upstreamErrorsOf,
  encodeReservations,
  encodeSettlements,
  type Reservation,
  type Settlement,
} from '../settlement/row-codec.ts'
import { settle, settleWithErrors } from '../settlement/sqlite.ts'
import {
  callerLeftError,
  supersededError,
  type AdmissionBackend,
  type AdmissionOrigin,
  type PendingAdmission,
  type Remaining,
} from './backend.ts'
import { KeyLimiter } from './key-limiter.ts'
import { recent, recentAdmissions, timesByKey } from './recent-admissions.ts'
import { wholeWait, WINDOW_MS } from './sliding-window.ts'
import { ReservationBatches, type BatchEntry, type BatchListener } from './sqlite-batches.ts'
import { recordAdmitted, type ForeignAdmission, type ReserveResult } from './sqlite-reserve.ts'

/**
 * A request that can pass this soon is held instead of refused (milliseconds): a caller that waits
 * exactly as told may be this early.
 */
const HOLD_MS = 5
/** Requests of a key that are decided at once when what they waited for has happened. */
const MAX_WOKEN = 256
/** How often windows that have emptied are dropped. */
const TIDY_MS = 60_000

/**
 * Opens the admission of this process.
 *
 * @param onWritten told how many rows have been written to the journal: a settlement must follow
 *   soon, if only of no rows, so that they enter the table of requests
 * @throws StoreError
 */
export async function openSqliteAdmission(
  store: Store,
  instance: string,
  clock: Clock,
  onWritten: (rows: number) => void,
): Promise<AdmissionBackend> {
  const seen = await store.run(flushJournal, null)
  return new SqliteAdmission(store, instance, clock, seen, onWritten)
}

class SqliteAdmission implements AdmissionBackend, BatchListener {
  readonly #store: Store
  readonly #instance: string
  readonly #clock: Clock
  readonly #onWritten: (rows: number) => void
  readonly #limiters = new Map<string, KeyLimiter>()
  readonly #batches: ReservationBatches
  readonly #tidying: NodeJS.Timeout
  /** The newest admission of another process that the windows hold. */
  #merged = 0

  constructor(
    store: Store,
    instance: string,
    clock: Clock,
    seen: number,
    onWritten: (rows: number) => void,
  ) {
    this.#store = store
    this.#instance = instance
    this.#clock = clock
    this.#onWritten = onWritten
    this.#batches = new ReservationBatches(store, instance, clock, seen, this)
    this.#tidying = setInterval(() => this.#tidy(), TIDY_MS).unref()
  }

  submit(pending: PendingAdmission): void {
    if (pending.superseded) return pending.reject(supersededError())
    if (pending.callerLeft) return pending.reject(callerLeftError())
    const { rpm, key_id } = pending.request
    if (rpm === null) {
      // If its key gets a limit again, this request counts too: the window is then read from the
      // ledger.
      this.#drop(key_id)
      return this.#enqueue(pending, null)
    }
    const limiter = this.#limiterOf(key_id, rpm)
    if (limiter.state === 'loading' || limiter.waiting.length > 0) limiter.waiting.push(pending)
    else this.#decide(limiter, pending)
  }

  fullFor(key: string, rpm: number): number | null {
    const window = this.#windowOf(key, rpm)
    const wait = window?.fullFor(rpm, this.#clock.mono()) ?? null
    return wait === null || wait <= HOLD_MS ? null : wholeWait(wait)
  }

  leftFor(key: string, rpm: number): Remaining | null {
    return this.#windowOf(key, rpm)?.left(rpm, this.#clock.mono()) ?? null
  }

  settle(rows: readonly Settlement[]): Promise<void> {
    const failures = upstreamErrorsOf(rows)
    const packed = encodeSettlements(rows)
    return failures.length === 0
      ? this.#store.run(settle, packed)
      : this.#store.run(settleWithErrors, { packed, failures })
  }

  recordAdmitted(
    rows: Reservation[],
    origin: AdmissionOrigin = { instance: this.#instance, boot: this.#clock.boot },
  ): Promise<number[]> {
    this.#dropAll()
    return this.#store.run(recordAdmitted, { ...origin, rows: encodeReservations(rows) })
  }

  async recentAdmissions(): Promise<[key: string, times: Float64Array][]> {
    const since = (this.#clock.mono() - WINDOW_MS) * 1000
    return timesByKey(
      await this.#store.readNow(recentAdmissions, { boot: this.#clock.boot, since }),
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#tidying)
    await this.#batches.drained()
    // The writer works in order: when this is done, so is everything before it.
    await this.#store.run(flushJournal, null).catch(() => {})
  }

  /** A batch is durable, as far as the writer has not refused rows of it. */
  reserved(entries: BatchEntry[], result: ReserveResult): void {
    if (result.foreign === null) this.#dropAll()
    else this.#merge(result.foreign)
    const now = this.#clock.mono()
    const refused = result.refused.length > 0 ? new Set(result.refused) : null
    const changed = new Set<KeyLimiter>()
    const again: PendingAdmission[] = []
    let { seen: seq } = result
    entries.forEach(({ limiter, pending, row }, place) => {
      if (limiter !== null) changed.add(limiter)
      if (refused?.has(place)) {
        limiter?.window.withdraw()
        again.push(pending)
      } else {
        limiter?.window.confirm(now)
        pending.resolve({ admitted: true, seq: ++seq, created_at: row.created_at })
      }
    })
    this.#onWritten(entries.length - again.length)
    for (const pending of again) this.submit(pending)
    this.#wake(changed)
  }

  /** Entries of a batch, or one that had no place in it, are not written. */
  failed(entries: BatchEntry[], error: unknown): void {
    const changed = new Set<KeyLimiter>()
    for (const { limiter, pending } of entries) {
      limiter?.window.withdraw()
      if (limiter !== null) changed.add(limiter)
      pending.reject(error)
    }
    // Not at once: a request that takes a freed place may push out another, and so on.
    if (changed.size > 0) setImmediate(() => this.#wake(changed))
  }

  #limiterOf(key: string, limit: number): KeyLimiter {
    const known = this.#limiters.get(key)
    if (known !== undefined && (known.state === 'loading' || known.limit === limit)) return known
    this.#drop(key)
    const limiter = new KeyLimiter(key, limit, known?.waiting.splice(0) ?? [])
    this.#limiters.set(key, limiter)
    void this.#load(limiter)
    return limiter
  }

  /** The window of a key, if it is in memory and for this limit. */
  #windowOf(key: string, rpm: number): KeyLimiter['window'] | null {
    const limiter = this.#limiters.get(key)
    return limiter?.state === 'ready' && limiter.limit === rpm ? limiter.window : null
  }

  /** Forgets a key's window; requests held for it ask again. */
  #drop(key: string): void {
    const limiter = this.#limiters.get(key)
    if (limiter === undefined) return
    this.#limiters.delete(key)
    for (const pending of limiter.held.splice(0)) setImmediate(() => this.submit(pending))
  }

  /** Every window must be read from the ledger again. */
  #dropAll(): void {
    for (const key of this.#limiters.keys()) this.#drop(key)
  }

  #decide(limiter: KeyLimiter, pending: PendingAdmission): void {
    const { held, window, limit } = limiter
    const verdict = window.ask(limit, this.#clock.mono(), held.length)
    if (verdict.pass) this.#enqueue(pending, limiter)
    else if (verdict.wait === null) limiter.waiting.push(pending)
    else if (verdict.wait > HOLD_MS)
      pending.resolve({ admitted: false, wait: wholeWait(verdict.wait) })
    else {
      held.push(pending)
      this.#scheduleHeld(limiter, verdict.wait)
    }
  }

  /**
   * Lets held requests ask again, with one timer for all of a key. Each was held for a place of its
   * own, so they are few.
   */
  #scheduleHeld(limiter: KeyLimiter, wait: number): void {
    if (limiter.isTimerSet) return
    limiter.isTimerSet = true
    setTimeout(() => {
      limiter.isTimerSet = false
      // What came after them may wait for what becomes of them.
      limiter.waiting = limiter.held.splice(0).concat(limiter.waiting)
      this.#wake([limiter])
    }, wait)
  }

  /** Puts a request that may pass into a next batch. */
  #enqueue(pending: PendingAdmission, limiter: KeyLimiter | null): void {
    const dropped = this.#batches.add(pending, limiter)
    if (dropped !== null)
      this.failed([dropped], new StoreError('busy', 'too many requests wait for the ledger'))
    this.#batches.plan()
  }

  /** Asks again for requests whose decision depended on what has just happened. */
  #wake(limiters: Iterable<KeyLimiter>): void {
    for (const limiter of limiters) {
      const woken = limiter.waiting.splice(0)
      for (const pending of woken.slice(0, MAX_WOKEN)) this.submit(pending)
      if (woken.length <= MAX_WOKEN) continue
      // The order stays: those that have waited longest are first.
      limiter.waiting = woken.slice(MAX_WOKEN).concat(limiter.waiting)
      setImmediate(() => this.#wake([limiter]))
    }
  }

  /** Counts what other processes have admitted. */
  #merge(foreign: ForeignAdmission[]): void {
    const times = new Map<KeyLimiter, number[]>()
    for (const { key_id, mono, seq, boot } of foreign) {
      if (seq <= this.#merged) continue
      this.#merged = seq
      const limiter = this.#limiters.get(key_id)
      if (limiter === undefined || seq <= limiter.loadedTo || boot !== this.#clock.boot) continue
      const own = times.get(limiter)
      if (own === undefined) times.set(limiter, [mono / 1000])
      else own.push(mono / 1000)
    }
    for (const [limiter, own] of times) limiter.window.addAll(Float64Array.from(own))
  }

  /**
   * Reads a key's window from the ledger. The writer says up to where, so that nothing on its way
   * is missed; what others admit after that comes by `#merge`. The rows are read beside the writer,
   * so only this key waits for them.
   */
  async #load(limiter: KeyLimiter): Promise<void> {
    const { key, limit } = limiter
    // Requests that could pass under another limit go first, so that they are among the rows.
    this.#batches.writeKey(key)
    try {
      const upTo = await this.#store.run(flushJournal, null)
      limiter.loadedTo = upTo
      const since = (this.#clock.mono() - WINDOW_MS) * 1000
      const { boot } = this.#clock
      const now = this.#clock.now()
      const { times } = await this.#store.readNow(recent, { key, limit, upTo, since, boot, now })
      limiter.window.addAll(times)
      limiter.state = 'ready'
      this.#wake([limiter])
    } catch (error) {
      if (this.#limiters.get(key) === limiter) this.#limiters.delete(key)
      for (const pending of limiter.waiting.splice(0)) pending.reject(error)
    }
  }

  #tidy(): void {
    const now = this.#clock.mono()
    for (const [key, limiter] of this.#limiters) if (limiter.isIdle(now)) this.#limiters.delete(key)
    this.#batches.tidy()
  }
}
