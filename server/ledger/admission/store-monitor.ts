// Watches whether the store answers, and how many processes share it.
import type { Clock } from '../../common/clock.ts'
import type { Store } from '../../store/open.ts'
import { exchangeCounts } from './web-processes.ts'

/** How often the store is checked; counted in ticks, a pause of this process is not the store's. */
const TICK_MS = 200
/** Ticks without a response, while one is awaited, after which the store counts as away. */
const SILENT_TICKS = 5
/** Ticks from one probe of the store to the next, where no other process writes. */
const PROBE_TICKS = 5

/** Dependencies and callbacks of the monitor. */
export interface StoreMonitorParts {
  readonly store: Store
  readonly clock: Clock
  /** This process among the instances of the store. */
  readonly instance: string
  /** Ids of the processes that `onAnswer` need not be told of. */
  readonly known: readonly string[]
  /** Whether others may rely on being counted: nothing admitted here waits to be written. */
  readonly isSettled: () => boolean
  /** Whether a request waits for the store, besides the monitor's own probe. */
  readonly isAwaited: () => boolean
  /** A probe was answered: how many processes admit requests, and when it was sent (`mono`). */
  readonly onAnswer: (processes: number, sentAt: number) => void
  /** The store has been silent for SILENT_TICKS; told again with each tick. */
  readonly onSilence: () => void
  /** A probe failed. */
  readonly onError: (error: unknown) => void
}

/** Runs from its creation until it is stopped. */
export class StoreMonitor {
  readonly #parts: StoreMonitorParts
  readonly #timer: NodeJS.Timeout
  /** Ids of the processes that are counted. */
  #known: readonly string[]
  #isAnswered = false
  #silentTicks = 0
  #ticks = 0
  #isProbing = false
  /** Whether a probe has begun since the last tick: others' writes lead to one a tick. */
  #hasProbed = false
  /** Whether another process has written since the last probe began. */
  #isChanged = false
  readonly #unsubscribe: () => void

  constructor(parts: StoreMonitorParts) {
    this.#parts = parts
    this.#known = parts.known
    this.#unsubscribe = parts.store.onChange(() => this.#noteChange())
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** The store has answered a call. */
  noteAnswer(): void {
    this.#isAnswered = true
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
  }

  /** A process may have begun that waits to be counted. */
  #noteChange(): void {
    this.#isChanged = true
    if (!this.#isProbing && !this.#hasProbed) void this.#probe()
  }

  #tick(): void {
    const isAwaited = this.#isProbing || this.#parts.isAwaited()
    this.#silentTicks = isAwaited && !this.#isAnswered ? this.#silentTicks + 1 : 0
    this.#isAnswered = false
    if (this.#silentTicks >= SILENT_TICKS) this.#parts.onSilence()
    this.#hasProbed = false
    const isDue = ++this.#ticks % PROBE_TICKS === 0 || this.#isChanged
    if (isDue && !this.#isProbing) void this.#probe()
  }

  async #probe(): Promise<void> {
    this.#isProbing = true
    this.#hasProbed = true
    this.#isChanged = false
    try {
      // A process that has just started waits to be counted, so the current count is written at
      // once.
      while (await this.#exchange());
    } catch (error) {
      this.#parts.onError(error)
    }
    this.#isProbing = false
  }

  /** Asks the store once; whether there are processes that this one's row does not name. */
  async #exchange(): Promise<boolean> {
    const { store, clock, instance, isSettled, isAwaited, onAnswer } = this.#parts
    const sentAt = clock.mono()
    const known = isSettled() ? this.#known : null
    const isProof = store.dialect === 'postgres' && (known === null || isAwaited())
    const processes = await store.run(exchangeCounts, { instance, known, isProof })
    this.noteAnswer()
    this.#known = processes.map(({ id }) => id)
    onAnswer(processes.length, sentAt)
    return processes.some(({ id }) => known?.includes(id) === false)
  }
}
