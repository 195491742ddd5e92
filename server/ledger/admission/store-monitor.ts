// Watches whether the store responds, and how many processes share it.
import type { Clock } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { exchangeCounts } from './web-processes.ts'

/**
 * How often the store is checked. Silence is counted in ticks, so that a pause of this process does
 * not count as the store's.
 */
const TICK_MS = 200
/** Ticks without an expected response after which the store counts as unavailable. */
const SILENT_TICKS = 5
/** Ticks between two probes of the store, if no other process writes. */
const PROBE_TICKS = 5

/** Dependencies and callbacks of the monitor. */
export interface StoreMonitorParts {
  readonly store: Store
  readonly clock: Clock
  /** This process's instance. */
  readonly instance: string
  /** Ids of the processes that this one counted when it joined. */
  readonly known: readonly string[]
  /**
   * Whether nothing admitted here waits to be written, so that others may rely on being counted.
   */
  readonly isSettled: () => boolean
  /** Whether a request waits for the store, besides the monitor's own probe. */
  readonly isAwaited: () => boolean
  /**
   * A probe succeeded: how many processes admit requests, and when the probe was sent (`mono`).
   */
  readonly onResponse: (processes: number, sentAt: number) => void
  /** The store has been silent for SILENT_TICKS; called again with each tick. */
  readonly onSilence: () => void
  /** A probe failed. */
  readonly onError: (error: unknown) => void
}

/** Monitors the store from its creation until it is stopped. */
export class StoreMonitor {
  readonly #parts: StoreMonitorParts
  readonly #timer: NodeJS.Timeout
  /** Ids of the processes that are counted. */
  #known: readonly string[]
  #hasResponded = false
  #silentTicks = 0
  #ticks = 0
  #isProbing = false
  /**
   * Whether a probe has begun since the last tick: other processes' writes cause at most one per
   * tick.
   */
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

  /** The store has responded to a call. */
  noteResponse(): void {
    this.#hasResponded = true
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
  }

  /** A new process may be waiting to be counted. */
  #noteChange(): void {
    this.#isChanged = true
    if (!this.#isProbing && !this.#hasProbed) void this.#probe()
  }

  #tick(): void {
    const isAwaited = this.#isProbing || this.#parts.isAwaited()
    this.#silentTicks = isAwaited && !this.#hasResponded ? this.#silentTicks + 1 : 0
    this.#hasResponded = false
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
      // A new process waits to be counted, so the current count is written immediately.
      while (await this.#exchange());
    } catch (error) {
      this.#parts.onError(error)
    }
    this.#isProbing = false
  }

  /**
   * Probes the store once; returns whether there are processes that this one's row does not name.
   */
  async #exchange(): Promise<boolean> {
    const { store, clock, instance, isSettled, isAwaited, onResponse } = this.#parts
    const sentAt = clock.mono()
    const known = isSettled() ? this.#known : null
    // In an outage, a response that has written nothing does not show that the store is back.
    const isProof = known === null || (store.dialect === 'postgres' && isAwaited())
    const processes = await store.run(exchangeCounts, { instance, known, isProof })
    this.noteResponse()
    this.#known = processes.map(({ id }) => id)
    onResponse(processes.length, sentAt)
    return processes.some(({ id }) => known?.includes(id) === false)
  }
}
