// Settlements on their way to the store. They wait a moment for company: rows that are written
// together share pages, and one row of the roll-ups.
import type { Log } from '../../common/log.ts'
import type { AdmissionBackend } from '../admission/backend.ts'
import { retryUntilClosed, writeInOrder } from './ordered-writes.ts'
import type { Settlement } from './row-codec.ts'

/** How long settlements wait to be flushed. */
const FLUSH_DELAY_MS = 50
/**
 * The delay when the previous flush had more than BUSY_ROWS: a flush of few rows costs 0.5 ms of
 * CPU, and most rows of a longer moment have ended by then, so that they are written once.
 */
const FLUSH_DELAY_BUSY_MS = 200
const BUSY_ROWS = 8
/**
 * Most settlements in one flush, or twice as many admissions; admissions wait for it.
 */
const FLUSH_ROWS = 256
/** When settlements that could not be written are tried again. */
const RETRY_MS = 1_000
/** Settlements that are kept while the store cannot be written; then the oldest are dropped. */
const MAX_UNSETTLED = 100_000
/** Settlements per transaction. */
const MAX_BATCH = 2_000

/** Dependencies and callbacks of the queue. */
export interface SettlementQueueParts {
  readonly log: Log
  /** Writes rows: `AdmissionBackend.settle`. */
  readonly settle: AdmissionBackend['settle']
  /** Told of an error that is tried again. */
  readonly onError: (error: unknown) => void
}

/** Settlements that wait to be written, in order. One per process. */
export class SettlementQueue {
  readonly #parts: SettlementQueueParts
  #unsettled: Settlement[] = []
  #timer: NodeJS.Timeout | null = null
  /** Rows admitted and settled since the last flush, and in the time before it. */
  #rowsSinceFlush = 0
  #rowsBeforeFlush = 0
  #flushing = Promise.resolve()
  #closed = false

  constructor(parts: SettlementQueueParts) {
    this.#parts = parts
  }

  /** Writes a settlement, soon. */
  push(settlement: Settlement): void {
    if (this.#unsettled.push(settlement) === FLUSH_ROWS) void this.#flush()
    else this.#scheduleFlush()
  }

  /** Rows were admitted: a flush must follow, because it moves them out of the journal. */
  noteAdmitted(rows: number): void {
    this.#rowsSinceFlush += rows - 1
    if (this.#rowsSinceFlush >= 2 * FLUSH_ROWS) void this.#flush()
    else this.#scheduleFlush()
  }

  /** Ends when everything pushed is durable, or could not be written. */
  async close(): Promise<void> {
    this.#closed = true
    const isSettled = await retryUntilClosed(async () => {
      await this.#flush()
      return this.#unsettled.length === 0
    })
    if (!isSettled)
      this.#parts.log.error(
        'How requests ended is not in the ledger.',
        new Error(`the ends of ${this.#unsettled.length} requests are lost`),
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
    // The rows that are flushed with it may be at fault.
    await this.#parts.settle([])
    this.#parts.log.error(
      `The store will never take how request ${seq} of the ledger, with ${key_id}, ended: that stays unknown.`,
      error,
    )
  }
}
