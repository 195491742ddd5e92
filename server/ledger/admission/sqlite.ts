// Admission on SQLite, where the processes of one machine share the ledger. Each key's window is in
// memory; the transaction that writes the rows also checks what other processes have admitted
// since.
import type { Clock } from '../../common/clock.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
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
import { askAll, KeyLimiter, wholeWait, WINDOW_MS } from './sliding-window.ts'
import { hasAdmissions, recent, recentAdmissions, timesByKey } from './recent-admissions.ts'
import type { RequestLimit } from './request-limits.ts'
import { ReservationBatches, type BatchEntry, type BatchListener } from './sqlite-batches.ts'
import { recordAdmitted, type ForeignAdmission, type ReserveResult } from './sqlite-reserve.ts'

/**
 * A request that can pass this soon is held instead of refused (milliseconds): a caller that waits
 * exactly for the `Retry-After` may be this early.
 */
const HOLD_MS = 5
/** Maximum number of requests of a key that are decided at a time after a wait. */
const MAX_WOKEN = 256
/** How often empty windows are dropped (milliseconds). */
const TIDY_MS = 60_000

/**
 * Opens the admission of this process.
 *
 * @param onWritten called with the number of rows written to the journal: a settlement, even of no
 *   rows, must follow soon, so that they are moved to the table of requests
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
  /** `seq` of the newest admission of another process in the windows. */
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
    const { rpm, key_id, child_id, child_rpm } = pending.request
    const limiters: KeyLimiter[] = []
    if (rpm !== null) limiters.push(this.#limiterOf({ owner: 'key_id', id: key_id, rpm }, key_id))
    // If its key gets a limit again, this request counts too, because the window is then read from
    // the ledger.
    else this.#drop(key_id)
    if (child_id !== null && child_rpm !== null) {
      const limit = { owner: 'child_id', id: child_id, rpm: child_rpm } as const
      limiters.push(this.#limiterOf(limit, key_id))
    }
    for (const limiter of limiters)
      if (limiter.isBusy) {
        limiter.waiting.push(pending)
        return
      }
    this.#decide(limiters, pending)
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
    if (!(await hasAdmissions(this.#store))) return []
    return timesByKey(
      await this.#store.readNow(recentAdmissions, { boot: this.#clock.boot, since }),
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#tidying)
    await this.#batches.drained()
    // The writer works in order: when this is done, everything before it is, too.
    await this.#store.run(flushJournal, null).catch(() => {})
  }

  /** A batch is durable, except for rows that the writer has refused. */
  reserved(entries: BatchEntry[], result: ReserveResult): void {
    if (result.foreign === null) this.#dropAll()
    else this.#merge(result.foreign)
    const now = this.#clock.mono()
    const refused = result.refused.length > 0 ? new Set(result.refused) : null
    const changed = new Set<KeyLimiter>()
    const again: PendingAdmission[] = []
    let { seen: seq } = result
    entries.forEach(({ limiters, pending, row }, place) => {
      for (const limiter of limiters) changed.add(limiter)
      if (refused?.has(place)) {
        for (const { window } of limiters) window.withdraw()
        again.push(pending)
      } else {
        for (const { window } of limiters) window.confirm(now)
        pending.resolve({ admitted: true, seq: ++seq, created_at: row.created_at })
      }
    })
    this.#onWritten(entries.length - again.length)
    for (const pending of again) this.submit(pending)
    this.#wake(changed)
  }

  /** Entries of a batch, or an entry that did not fit, are not written. */
  failed(entries: BatchEntry[], error: unknown): void {
    const changed = new Set<KeyLimiter>()
    for (const { limiters, pending } of entries) {
      for (const limiter of limiters) {
        limiter.window.withdraw()
        changed.add(limiter)
      }
      pending.reject(error)
    }
    // Not all at a time: a request that takes a freed slot may displace another, and so on.
    if (changed.size > 0) setImmediate(() => this.#wake(changed))
  }

  #limiterOf(limit: RequestLimit, key: string): KeyLimiter {
    const { id, rpm } = limit
    const known = this.#limiters.get(id)
    if (known !== undefined && (known.state === 'loading' || known.limit === rpm)) return known
    this.#drop(id)
    const limiter = new KeyLimiter(limit, key, known?.waiting.splice(0) ?? [])
    this.#limiters.set(id, limiter)
    void this.#load(limiter)
    return limiter
  }

  /** The window of a key or child, if it is in memory and has this limit. */
  #windowOf(id: string, rpm: number): KeyLimiter['window'] | null {
    const limiter = this.#limiters.get(id)
    return limiter?.state === 'ready' && limiter.limit === rpm ? limiter.window : null
  }

  /** Drops the window of a key or child; its held requests are decided again. */
  #drop(id: string): void {
    const limiter = this.#limiters.get(id)
    if (limiter === undefined) return
    this.#limiters.delete(id)
    for (const pending of limiter.held.splice(0)) setImmediate(() => this.submit(pending))
  }

  /** Drops every window, so that it is read from the ledger again. */
  #dropAll(): void {
    for (const id of this.#limiters.keys()) this.#drop(id)
  }

  #decide(limiters: readonly KeyLimiter[], pending: PendingAdmission): void {
    const verdict = askAll(limiters, this.#clock.mono())
    if (verdict.pass) return this.#enqueue(pending, limiters)
    const { limiter, wait } = verdict
    if (wait === null) limiter.waiting.push(pending)
    else if (wait > HOLD_MS) pending.resolve({ admitted: false, wait: wholeWait(wait) })
    else {
      limiter.held.push(pending)
      this.#scheduleHeld(limiter, wait)
    }
  }

  /**
   * Schedules a new decision about held requests, with one timer per limit. Each was held for a
   * slot of its own, so they are few.
   */
  #scheduleHeld(limiter: KeyLimiter, wait: number): void {
    if (limiter.isTimerSet) return
    limiter.isTimerSet = true
    setTimeout(() => {
      limiter.isTimerSet = false
      // Later requests may be waiting for their outcome.
      limiter.waiting = limiter.held.splice(0).concat(limiter.waiting)
      this.#wake([limiter])
    }, wait)
  }

  /** Adds a request that may pass to the next batch. */
  #enqueue(pending: PendingAdmission, limiters: readonly KeyLimiter[]): void {
    const dropped = this.#batches.add(pending, limiters)
    if (dropped !== null)
      this.failed([dropped], new StoreError('busy', 'too many requests wait for the ledger'))
    this.#batches.plan()
  }

  /** Decides about requests that were waiting for this. */
  #wake(limiters: Iterable<KeyLimiter>): void {
    for (const limiter of limiters) {
      const woken = limiter.waiting.splice(0)
      for (const pending of woken.slice(0, MAX_WOKEN)) this.submit(pending)
      if (woken.length <= MAX_WOKEN) continue
      // If they have to wait again, the outcome of a batch wakes them, and those behind them.
      const isBlocked = limiter.waiting.length > 0
      limiter.waiting = limiter.waiting.concat(woken.slice(MAX_WOKEN))
      if (!isBlocked) setImmediate(() => this.#wake([limiter]))
    }
  }

  /** Counts what other processes have admitted. */
  #merge(foreign: ForeignAdmission[]): void {
    const times = new Map<KeyLimiter, number[]>()
    for (const { key_id, child_id, mono, seq, boot } of foreign) {
      if (seq <= this.#merged) continue
      this.#merged = seq
      for (const id of child_id === null ? [key_id] : [key_id, child_id]) {
        const limiter = this.#limiters.get(id)
        if (limiter === undefined || seq <= limiter.loadedTo || boot !== this.#clock.boot) continue
        const own = times.get(limiter)
        if (own === undefined) times.set(limiter, [mono / 1000])
        else own.push(mono / 1000)
      }
    }
    for (const [limiter, own] of times) limiter.window.addAll(Float64Array.from(own))
  }

  /**
   * Reads a window from the ledger. The writer supplies the position, so that no row in flight is
   * missed; later admissions by others arrive through `#merge`. The rows are read outside the
   * writer, so only requests under this limit wait for them.
   */
  async #load(limiter: KeyLimiter): Promise<void> {
    const { id, owner, key, limit } = limiter
    // Requests that already passed under another limit are written first, so that they are among
    // the rows.
    this.#batches.writeKey(key)
    try {
      const upTo = await this.#store.run(flushJournal, null)
      limiter.loadedTo = upTo
      const since = (this.#clock.mono() - WINDOW_MS) * 1000
      const { boot } = this.#clock
      const now = this.#clock.now()
      const found = { id, owner, limit, upTo, since, boot, now }
      if (await hasAdmissions(this.#store, found)) {
        const { times } = await this.#store.readNow(recent, found)
        limiter.window.addAll(times)
      }
      limiter.state = 'ready'
      this.#wake([limiter])
    } catch (error) {
      if (this.#limiters.get(id) === limiter) this.#limiters.delete(id)
      for (const pending of limiter.waiting.splice(0)) pending.reject(error)
    }
  }

  #tidy(): void {
    const now = this.#clock.mono()
    for (const [id, limiter] of this.#limiters) if (limiter.isIdle(now)) this.#limiters.delete(id)
    this.#batches.tidy()
  }
}
