// The ledger of a process: lets requests through, which are in it, durably, before anybody hears of
// that, and completes them when they are over.
import type { Clock } from '../common/clock.ts'
import type { Log } from '../common/log.ts'
import type { Store } from '../store/open.ts'
import { openGrace } from './admission/outage-fallback.ts'
import { retryUntilClosed, writeInOrder } from './settlement/ordered-writes.ts'
import { openSqliteAdmission, PATIENCE_MS } from './admission/sqlite.ts'
import { openRefusals } from './refusals/limit-counts.ts'
import type { Reservation, Settlement } from './settlement/row-codec.ts'
import { markUnknown } from './settlement/sqlite.ts'

export { PATIENCE_MS } from './admission/sqlite.ts'
export type { Settlement } from './settlement/row-codec.ts'

/** What a request says of itself when it asks to be let through. */
export type AdmissionRequest = Omit<Reservation, 'created_at' | 'mono'>

/** What is left of a key's limit. */
export interface Remaining {
  /** Requests that could pass now. */
  readonly requests: number
  /** Milliseconds until one more can pass; 0 where none has passed. */
  readonly reset: number
}

/** Who may leave before the verdict. */
export interface CallerState {
  readonly closed: boolean
}

export type Admission =
  /**
   * `seq` is its place in the ledger, or below 0 and only for its settlement as long as it has
   * none, `created_at` the ledger's time of it.
   */
  | { admitted: true; seq: number; created_at: number }
  /** `wait`: whole milliseconds until the next one can pass. */
  | { admitted: false; wait: number }

export interface Ledger extends AsyncDisposable {
  /**
   * Resolves when the reservation is durable, or the request is refused; while the store fails, see
   * `openLedger`.
   *
   * @param caller where it has left before the row is on its way to the store, there is no row, and
   *   the key's window is as before
   * @param patience milliseconds between the beginnings of two batches of admissions, where this one
   *   waits for the second: 0 for a caller alone
   * @throws StoreError
   */
  admit(asking: AdmissionRequest, caller?: CallerState, patience?: number): Promise<Admission>
  /**
   * Whole milliseconds for which a key's window is known to stay full, so that `admit` would
   * refuse; null where there may be room. Synchronous: it reads memory only, reserves nothing and
   * counts nothing. Whoever refuses a request for it calls `countRefusal`.
   */
  fullFor(key: string, rpm: number | null): number | null
  /**
   * What is left of a key's limit now, as far as this process knows; synchronous, from memory. It
   * may not have seen what other processes admitted.
   */
  leftFor(key: string, rpm: number): Remaining
  /** Counts a request that was refused for `fullFor`, as `admit` counts those that it refuses. */
  countRefusal(key: { key_id: string; account_id: string }): void
  /** Completes a row, soon. */
  settle(settlement: Settlement): void
  /** Whether the store has not answered since about a second, or refuses to write. */
  failing(): boolean
  /** Ends when everything settled so far is durable. */
  close(): Promise<void>
}

/** How often it is looked for requests that dead processes left under way. */
const MARK_UNKNOWN_MS = 10_000
/**
 * Settlements wait so long for company: many rows of one moment share pages, and one row of the
 * roll-ups.
 */
const SETTLE_DELAY_MS = 50
/**
 * Where there was more to do the last time than with `BUSY` rows, they wait longer: a batch of few
 * rows costs 0.5 ms of CPU, and most rows of a longer moment have ended by then, so that they are
 * written once.
 */
const SETTLE_DELAY_BUSY_MS = 200
const BUSY_ROWS = 8
/**
 * So many, or twice as many rows that were let through, do not wait for more: whoever asks to be
 * let through meanwhile waits behind all of them.
 */
const FLUSH_ROWS = 256
/** When settlements that could not be written are tried again. */
const RETRY_MS = 1_000
/** Settlements that are kept while the store cannot be written. */
const MAX_UNSETTLED = 100_000
/** Settlements of one batch at most. */
const MAX_BATCH = 2_000

const NEVER_LEAVES: CallerState = { closed: false }

/** A request that waits for its verdict. */
export interface PendingAdmission {
  readonly request: AdmissionRequest
  /** See `Ledger`. */
  readonly patience: number
  /**
   * Decided elsewhere meanwhile: where its row is not on its way to the store yet, it is rejected
   * with `goneError`, and no row is written.
   */
  readonly superseded: boolean
  /**
   * Its caller has left: where its row is not on its way to the store yet, it is rejected with
   * `leftError`, and no row is written.
   */
  readonly callerLeft: boolean
  resolve(admission: Admission): void
  reject(error: unknown): void
}

/** The windows of all keys, and what is admitted under them. */
export interface AdmissionBackend {
  submit(asked: PendingAdmission): void
  /** See `Ledger`. */
  fullFor(key: string, rpm: number): number | null
  /** See `Ledger`; null where the key's window is not in memory. */
  leftFor(key: string, rpm: number): Remaining | null
  /** Completes rows, in one batch with whatever else waits to enter the ledger. */
  settle(rows: readonly Settlement[]): Promise<void>
  /**
   * Writes rows that were let through without the store, once each, in the order of the times
   * (`mono`) that they have by this process's clock. Gives their places. Meanwhile nothing is
   * asked.
   */
  recordAdmitted(rows: Reservation[]): Promise<number[]>
  /**
   * The admissions of the last minute, with their times by this process's clock. Those from before
   * the machine was started are left out.
   */
  recentAdmissions(): Promise<[key: string, times: Float64Array][]>
  /** Ends when everything that was asked has its answer. */
  close(): Promise<void>
}

/**
 * Opens the ledger of this process, and writes off what dead processes left under way.
 *
 * While the store does not answer, requests are let through by this process's own memory for the
 * time of `grace` (milliseconds), and refused after it. What they leave is written when the store
 * is back: a process that is killed before loses those rows, up to 10,000. See outage-fallback.ts.
 *
 * @param instance id of this process among the instances of the store
 */
export async function openLedger(
  store: Store,
  instance: string,
  clock: Clock,
  log: Log,
  grace = 0,
): Promise<Ledger> {
  let unsettled: Settlement[] = []
  let settleTimer: NodeJS.Timeout | null = null
  /**
   * Rows that were let through, and those that were settled, since the last flush, and before it.
   */
  let rowsSinceFlush = 0
  let rowsBeforeFlush = 0
  let flushing = Promise.resolve()
  let closed = false
  const inner = await openAdmissions()
  const admissions = await openGrace(inner, { store, clock, log, grace, write: queueSettlement })
  const refusals = openRefusals(store, () => clock.now(), reportError)
  await markDeadProcesses()
  const timer = setInterval(
    () => void markDeadProcesses().catch(reportError),
    MARK_UNKNOWN_MS,
  ).unref()

  async function openAdmissions(): Promise<AdmissionBackend> {
    if (store.dialect === 'sqlite') return openSqliteAdmission(store, instance, clock, noteAdmitted)
    const { openPostgresAdmission } = await import('./admission/postgres.ts')
    return openPostgresAdmission(store, instance, clock, reportError)
  }

  function reportError(error: unknown): void {
    if (!closed) log.error('The ledger cannot be written.', error)
  }

  async function markDeadProcesses(): Promise<void> {
    let count = 0
    for (let some = 1; some > 0; count += some) some = await store.run(markUnknown, null)
    if (count > 0)
      log.warn('A process ended with requests under way; how they ended is unknown.', {
        requests: count,
      })
  }

  function queueSettlement(settlement: Settlement): void {
    if (unsettled.push(settlement) === FLUSH_ROWS) void flush()
    else scheduleFlush()
  }

  function scheduleFlush(): void {
    rowsSinceFlush++
    flushIn(rowsBeforeFlush > BUSY_ROWS ? SETTLE_DELAY_BUSY_MS : SETTLE_DELAY_MS)
  }

  /** As many rows are written down. */
  function noteAdmitted(rows: number): void {
    rowsSinceFlush += rows - 1
    if (rowsSinceFlush >= 2 * FLUSH_ROWS) void flush()
    else scheduleFlush()
  }

  function flushIn(wait: number): void {
    settleTimer ??= setTimeout(() => void flush(), wait)
  }

  /** One batch of settlements at a time. */
  function flush(): Promise<void> {
    if (settleTimer !== null) clearTimeout(settleTimer)
    settleTimer = null
    rowsBeforeFlush = rowsSinceFlush
    rowsSinceFlush = 0
    return (flushing = flushing.then(flushSettlements))
  }

  async function flushSettlements(): Promise<void> {
    const due = unsettled.splice(0)
    try {
      await writeInOrder(due, MAX_BATCH, inner.settle, giveUp)
    } catch (error) {
      reportError(error)
      unsettled = [...due, ...unsettled].slice(-MAX_UNSETTLED)
      if (!closed) flushIn(RETRY_MS)
    }
  }

  async function giveUp({ seq, key_id }: Settlement, error: unknown): Promise<void> {
    // What enters together with it may be what is refused.
    await inner.settle([])
    log.error(
      `The store will never take how request ${seq} of the ledger, with ${key_id}, ended: that stays unknown.`,
      error,
    )
  }

  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    clearInterval(timer)
    await admissions.close()
    const settled = retryUntilClosed(async () => {
      await flush()
      return unsettled.length === 0
    })
    await refusals.flush()
    if (!(await settled))
      log.error(
        'How requests ended is not in the ledger.',
        new Error(`the ends of ${unsettled.length} requests are lost`),
      )
  }

  return {
    admit: (asking, caller = NEVER_LEAVES, patience = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const answer = (admission: Admission): void => {
          if (!admission.admitted) refusals.note(asking)
          resolve(admission)
        }
        admissions.ask({
          asking,
          caller,
          patience,
          resolve: asking.rpm === null ? resolve : answer,
          reject,
        })
      }),
    fullFor: (key, rpm) => (rpm === null ? null : admissions.fullFor(key, rpm)),
    leftFor: admissions.leftFor,
    countRefusal: refusals.note,
    settle: admissions.settle,
    failing: admissions.failing,
    close,
    [Symbol.asyncDispose]: close,
  }
}
