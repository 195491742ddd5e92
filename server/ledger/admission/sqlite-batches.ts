// Schedules the writes of SQLite's admission: requests that may pass share a batch, and the next
// batch is planned when none is in flight. Only `writeKey` does not wait for that.
import type { Clock } from '../../common/clock.ts'
import { AccountKeyQueue } from '../../common/fairness/account-key-queue.ts'
import type { Store } from '../../store/store.ts'
import {
  toJson,
  type EncodedRows,
  type Json,
  encodeReservations,
  type Reservation,
} from '../settlement/row-codec.ts'
import { callerLeftError, supersededError, type PendingAdmission } from './backend.ts'
import { type KeyLimiter, WINDOW_MS } from './sliding-window.ts'
import { reserve, type ReserveArgs, type ReserveResult } from './sqlite-reserve.ts'

/**
 * Least time between the starts of two batches (milliseconds), unless a waiting request is more
 * urgent: a batch of any size costs 0.3 ms of CPU, most of it for the sync (`bench -- proxy --only
 * requests`).
 */
export const PATIENCE_MS = 4
/**
 * Maximum number of rows of a planned batch, so that later requests wait only a few milliseconds
 * (`bench -- start` shows it during a burst).
 */
const MAX_BATCH = 512
/** Requests that may wait for a batch; beyond that, accounts and keys have shares. */
const MAX_WAITING = 50_000

/** A request that may pass, with its row. */
export interface BatchEntry {
  readonly pending: PendingAdmission
  /** The limiters in which it has a pending place; none if it has no limit. */
  readonly limiters: readonly KeyLimiter[]
  readonly row: Reservation
}

/** Receives the results of batches. */
export interface BatchListener {
  /** A batch is durable, except for the rows that `result` refuses. */
  reserved(entries: BatchEntry[], result: ReserveResult): void
  /** No row was written. */
  failed(entries: BatchEntry[], error: unknown): void
}

/**
 * TABLE of the states of the next batch:
 *
 * - `none`: nothing waits, or batches are in flight; the last of them to end plans the next.
 * - `timed`: it starts at `#dueAt`, or earlier if a more urgent request arrives.
 * - `due`: it begins in this turn of the event loop.
 */
type BatchPlan = 'none' | 'timed' | 'due'

/** The requests that wait for a batch, and the batches that are not durable yet. */
export class ReservationBatches {
  readonly #store: Store
  readonly #instance: string
  readonly #clock: Clock
  readonly #listener: BatchListener
  readonly #queue = new AccountKeyQueue<BatchEntry>(MAX_WAITING, ({ row }) => row)
  #plan: BatchPlan = 'none'
  #dueAt = Infinity
  #timer: NodeJS.Timeout | undefined
  /** Number of batches in flight: at most one, and those of `writeKey`. */
  #inFlight = 0
  #lastBatchAt = -Infinity
  /** The patience of the least patient waiting request (milliseconds). */
  #patience = Infinity
  /** `seq` of the newest known admission of the ledger. */
  #seen: number
  #onDrained: (() => void) | undefined

  /** @param seen `seq` of the newest admission of the ledger */
  constructor(store: Store, instance: string, clock: Clock, seen: number, listener: BatchListener) {
    this.#store = store
    this.#instance = instance
    this.#clock = clock
    this.#seen = seen
    this.#listener = listener
  }

  /**
   * Adds a request that may pass. @returns the entry that was displaced, if any: this one or
   * another
   */
  add(pending: PendingAdmission, limiters: readonly KeyLimiter[]): BatchEntry | null {
    const row = { ...pending.request, created_at: this.#clock.now(), mono: 0 }
    const dropped = this.#queue.push({ pending, limiters, row })
    this.#patience = Math.min(this.#patience, pending.patience)
    return dropped
  }

  /**
   * Schedules the next batch, unless one is in flight: its end calls this again. The batch starts
   * when the most urgent request has waited long enough. Requests that arrive until then share it,
   * because each batch costs a transaction and a sync.
   */
  plan(): void {
    if (this.#inFlight > 0) return
    if (this.#queue.size === 0) return this.#onDrained?.()
    const at = this.#lastBatchAt + this.#patience
    if (this.#plan === 'due' || (this.#plan === 'timed' && at >= this.#dueAt)) return
    clearTimeout(this.#timer)
    const early = at - performance.now()
    if (early > 0) {
      this.#plan = 'timed'
      this.#dueAt = at
      this.#timer = setTimeout(() => this.#begin(), early)
    } else {
      this.#plan = 'due'
      setImmediate(() => this.#begin())
    }
  }

  /** Writes the waiting requests of one key at once, in a batch of their own. */
  writeKey(key: string): void {
    this.#write(this.#queue.takeKey(key))
  }

  /** Forgets keys and accounts without requests. */
  tidy(): void {
    this.#queue.tidy()
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async drained(): Promise<void> {
    if (this.#queue.size > 0 || this.#inFlight > 0)
      await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }

  #begin(): void {
    this.#plan = 'none'
    this.#write(this.#queue.take(MAX_BATCH))
    this.#patience = this.#queue.size > 0 ? PATIENCE_MS : Infinity
    this.plan()
  }

  /** Writes entries in one transaction. */
  #write(taken: BatchEntry[]): void {
    const entries = taken.some(({ pending }) => pending.superseded || pending.callerLeft)
      ? this.#rejectGone(taken)
      : taken
    if (entries.length === 0) return
    this.#lastBatchAt = performance.now()
    this.#inFlight++
    void this.#reserve(entries).finally(() => {
      this.#inFlight--
      this.plan()
    })
  }

  async #reserve(entries: BatchEntry[]): Promise<void> {
    let result: ReserveResult
    try {
      result = await this.#store.run(reserve, this.#argsOf(entries))
    } catch (error) {
      return this.#listener.failed(entries, error)
    }
    const newest = result.seen + entries.length - result.refused.length
    if (newest > this.#seen) this.#seen = newest
    this.#listener.reserved(entries, result)
  }

  /**
   * All rows are stamped with the current time. Windows may have emptied since the decisions: at an
   * earlier time, expired admissions would still count, and with other processes' admissions, they
   * would be too many.
   */
  #argsOf(entries: BatchEntry[]): [Json<ReserveArgs>, Json<EncodedRows>] {
    const mono = Math.floor(this.#clock.mono() * 1000)
    const now = mono / 1000
    const wantedBy = new Map<KeyLimiter, number>()
    for (const { limiters, row } of entries) {
      row.mono = mono
      for (const limiter of limiters) wantedBy.set(limiter, (wantedBy.get(limiter) ?? 0) + 1)
    }
    const room: ReserveArgs['room'] = []
    for (const [{ id, window, limit }, wanted] of wantedBy)
      room.push([id, window.room(limit, now) + wanted, wanted])
    const args: ReserveArgs = {
      instance: this.#instance,
      seen: this.#seen,
      since: mono - WINDOW_MS * 1000,
      boot: this.#clock.boot,
      size: entries.length,
      room,
    }
    return [toJson(args), encodeReservations(entries.map(({ row }) => row))]
  }

  /** Rejects entries that were decided elsewhere, or whose caller has left; returns the others. */
  #rejectGone(entries: BatchEntry[]): BatchEntry[] {
    const superseded = entries.filter(({ pending }) => pending.superseded)
    const left = entries.filter(({ pending }) => !pending.superseded && pending.callerLeft)
    this.#listener.failed(superseded, supersededError())
    this.#listener.failed(left, callerLeftError())
    return entries.filter(({ pending }) => !pending.superseded && !pending.callerLeft)
  }
}
