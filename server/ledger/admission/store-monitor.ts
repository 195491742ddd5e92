// Watches whether the store answers, and how many processes share it.
import { first, procedure, type Steps } from '../../store/procedure.ts'
import type { Store } from '../../store/open.ts'

/** How often the store is checked; counted in ticks, a pause of this process is not the store's. */
const TICK_MS = 200
/** Ticks without an answer, while one is awaited, after which the store counts as away. */
const SILENT_TICKS = 5
/** Ticks from one probe of the store to the next. */
const PROBE_TICKS = 5

/**
 * Counts the processes that admit requests. It runs in the writer, so an answer also says that the
 * store can be written.
 */
export const countWebProcesses = procedure(
  import.meta.url,
  'countWebProcesses',
  function* (db): Steps<number> {
    const row = yield* first(
      db
        .selectFrom('instances')
        .select((e) => e.fn.countAll<number>().as('count'))
        .where((e) => e.or([e('role', 'is', null), e('role', '<>', 'worker')])),
    )
    return Number(row?.count ?? 0)
  },
  'rows',
)

/** What the monitor watches, and whom it tells. */
export interface StoreMonitorParts {
  readonly store: Store
  /** Whether somebody waits for the store, besides the monitor's own probe. */
  readonly isAwaited: () => boolean
  /** A probe was answered; with how many processes admit requests. */
  readonly onAnswer: (processes: number) => void
  /** The store has been silent for SILENT_TICKS; told again with each tick. */
  readonly onSilence: () => void
  /** A probe failed. */
  readonly onError: (error: unknown) => void
}

/** Runs from its creation until it is stopped. */
export class StoreMonitor {
  readonly #parts: StoreMonitorParts
  readonly #timer: NodeJS.Timeout
  #isAnswered = false
  #silentTicks = 0
  #ticks = 0
  #isProbing = false

  constructor(parts: StoreMonitorParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** The store has answered somebody. */
  noteAnswer(): void {
    this.#isAnswered = true
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const isAwaited = this.#isProbing || this.#parts.isAwaited()
    this.#silentTicks = isAwaited && !this.#isAnswered ? this.#silentTicks + 1 : 0
    this.#isAnswered = false
    if (this.#silentTicks >= SILENT_TICKS) this.#parts.onSilence()
    if (++this.#ticks % PROBE_TICKS === 0 && !this.#isProbing) void this.#probe()
  }

  async #probe(): Promise<void> {
    this.#isProbing = true
    try {
      const processes = await this.#parts.store.run(countWebProcesses, null)
      this.noteAnswer()
      this.#parts.onAnswer(processes)
    } catch (error) {
      this.#parts.onError(error)
    }
    this.#isProbing = false
  }
}
