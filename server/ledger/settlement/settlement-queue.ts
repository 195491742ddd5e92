// Queues settlements for the store. They wait briefly for others, because rows that are written
// together share pages, and one row of the roll-ups.
import type { Log } from '../../common/log.ts'
import type { DialectName } from '../../store/dialect.ts'
import type { AdmissionBackend } from '../admission/backend.ts'
import { retryUntilClosed, writeInOrder } from './ordered-writes.ts'
import type { Settlement } from './row-codec.ts'

/** How long settlements wait to be flushed (milliseconds). */
const FLUSH_DELAY_MS = 50
/**
 * The delay if the previous flush had more than BUSY_ROWS: a flush of few rows costs 0.5 ms of CPU,
 * and after a longer delay, most rows have ended, so that they are written only once.
 */
const FLUSH_DELAY_BUSY_MS = 200
const BUSY_ROWS = 8
/**
 * TABLE of databases: a flush starts at this many settlements, or twice as many admissions. On
 * SQLite, admissions wait for it. On PostgreSQL, each costs 2 ms of processor time besides its
 * rows; admissions do not wait for it (bench -- ledger-processes).
 */
const FLUSH_ROWS: Readonly<Record<DialectName, number>> = {
  sqlite: 256,
  postgres: 2_000,
}
/** How soon a failed write is retried (milliseconds). */
const RETRY_MS = 1_000
/**
 * Settlements that are kept while the store cannot be written; beyond that, the oldest are dropped.
 */
const MAX_UNSETTLED = 100_000
/** Settlements per transaction. */
const MAX_BATCH = 2_000

/** Dependencies and callbacks of the queue. */
export interface SettlementQueueParts {
  readonly dialect: DialectName
  readonly log: Log
  /** Writes rows: `AdmissionBackend.settle`. */
  readonly settle: AdmissionBackend['settle']
  /** Called with an error that will be retried. */
  readonly onError: (error: unknown) => void
}

/** Settlements that wait to be written, in order. One per process. */
export class SettlementQueue {
  readonly #parts: SettlementQueueParts
  readonly #flushRows: number
  #unsettled: Settlement[] = []
  #timer: NodeJS.Timeout | null = null
  /** Rows admitted and settled since the last flush, and in the interval before it. */
  #rowsSinceFlush = 0
  #rowsBeforeFlush = 0
  #flushing = Promise.resolve()
  #closed = false

  constructor(parts: SettlementQueueParts) {
    this.#parts = parts
    this.#flushRows = FLUSH_ROWS[parts.dialect]
  }

  /** Writes a settlement, soon. */
  push(settlement: Settlement): void {
    if (this.#unsettled.push(settlement) === this.#flushRows) void this.#flush()
    else this.#scheduleFlush()
  }

  /**
   * Records that rows were admitted: a flush must follow, because it moves them out of the journal.
   */
  noteAdmitted(rows: number): void {
    this.#rowsSinceFlush += rows - 1
    if (this.#rowsSinceFlush >= 2 * this.#flushRows) void this.#flush()
    else this.#scheduleFlush()
  }

  /** Resolves when everything pushed is durable, or could not be written. */
  async close(): Promise<void> {
    this.#closed = true
    const isSettled = await retryUntilClosed(async () => {
      await this.#flush()
      return this.#unsettled.length === 0
    })
    if (!isSettled)
      this.#parts.log.error(
        'The outcomes of requests cannot be written to the ledger.',
        new Error(`the outcomes of ${this.#unsettled.length} requests are lost`),
      )
  }

  #scheduleFlush(): void {
    this.#rowsSinceFlush++
    this.#flushIn(this.#rowsBeforeFlush > BUSY_ROWS ? FLUSH_DELAY_BUSY_MS : FLUSH_DELAY_MS)
  }

  #flushIn(delay: number): void {
    this.#timer ??= setTimeout(() => void this.#flush(), delay)
  }

  /** One flush at a time. */
  #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#rowsBeforeFlush = this.#rowsSinceFlush
    this.#rowsSinceFlush = 0
    return (this.#flushing = this.#flushing.then(() => this.#writeAll()))
  }

  async #writeAll(): Promise<void> {
    const due = this.#unsettled.splice(0)
    try {
      await writeInOrder(due, MAX_BATCH, this.#parts.settle, (one, error) =>
        this.#giveUp(one, error),
      )
    } catch (error) {
      this.#parts.onError(error)
      this.#unsettled = [...due, ...this.#unsettled].slice(-MAX_UNSETTLED)
      if (!this.#closed) this.#flushIn(RETRY_MS)
    }
  }

  async #giveUp({ seq, key_id }: Settlement, error: unknown): Promise<void> {
    // The rows that are flushed with it may be the cause.
    await this.#parts.settle([])
    this.#parts.log.error(
      `The database rejects the outcome of request ${seq} of ${key_id}; it stays unknown.`,
      error,
    )
  }
}
