// Preloaded into the server under test (`--import`): measures the turns of its event loop and their
// callbacks, in CPU time of the main thread, which a busy machine does not change, and without
// garbage collection, which is measured separately. Sends one line to each connection to its socket
// (BENCH_PROBE), then starts over.
import { createHook } from 'node:async_hooks'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import { openThreadClock } from '../parts/thread-clock.ts'

/** The probe's results since the last query, in milliseconds. */
export interface Probed {
  /**
   * The longest turn of the event loop. Turns shorter than the sampling interval of 1 ms are added
   * up.
   */
  turn: number
  /** The longest wall time between two turns: the stall of a stream. */
  stall: number
  /** The longest callback, including its promises, and its kind; only with BENCH_SLICES=1. */
  slice: number
  kind: string
  /** Callbacks longer than a millisecond, by kind, and the number of all callbacks. */
  long: Record<string, number>
  slices: number
  /** The longest garbage collection, and their sum. */
  pause: number
  paused: number
}

/** A stretch of one thread's work. */
interface Stretch {
  readonly kind: string
  /** Wall time, in milliseconds of `performance.now()`. */
  readonly from: number
  readonly to: number
  /** Processor time. */
  readonly used: number
}

/** Shorter stretches are not recorded. */
const NOTABLE_MS = 0.7
const LONG_MS = 1
/** The observer reports a collection some time after it happened. */
const SETTLED_MS = 20
/** The log of long slices, one per line. */
const LOG = process.env['BENCH_SLICES_LOG']

const path = process.env['BENCH_PROBE']

function start(path: string): void {
  const used = openThreadClock()
  const record = new Findings()
  watchTurns(used, record)
  if (process.env['BENCH_SLICES'] === '1') watchSlices(used, record)
  createServer((socket) => {
    socket.on('error', () => {})
    setTimeout(() => socket.end(`${JSON.stringify(record.take())}\n`), 3 * SETTLED_MS)
  })
    .listen(path)
    .unref()
}

/** The results, and stretches whose collections are not known yet. */
class Findings {
  #found = nothing()
  #turns: Stretch[] = []
  #slices: Stretch[] = []
  #pauses: PerformanceEntry[] = []

  constructor() {
    new PerformanceObserver((list) => this.#addPauses(list.getEntries())).observe({
      entryTypes: ['gc'],
    })
  }

  addTurn(turn: Stretch): void {
    this.#found.stall = Math.max(this.#found.stall, turn.to - turn.from)
    if (turn.used > Math.max(NOTABLE_MS, this.#found.turn)) this.#turns.push(turn)
  }

  addSlice(slice: Stretch): void {
    this.#found.slices++
    if (slice.used > NOTABLE_MS) this.#slices.push(slice)
  }

  take(): Probed {
    this.settle(performance.now())
    const found = this.#found
    this.#found = nothing()
    return found
  }

  /** Counts stretches that are old enough, minus their collections. */
  settle(now: number): void {
    const isOld = ({ to }: Stretch): boolean => to < now - SETTLED_MS
    const found = this.#found
    for (const turn of this.#turns.filter(isOld))
      found.turn = Math.max(found.turn, without(turn, this.#pauses))
    for (const slice of this.#slices.filter(isOld)) {
      const took = without(slice, this.#pauses)
      if (took > LONG_MS) found.long[slice.kind] = (found.long[slice.kind] ?? 0) + 1
      if (took > LONG_MS && LOG !== undefined)
        appendFileSync(LOG, `${JSON.stringify({ ...slice, took })}\n`)
      if (took > found.slice) Object.assign(found, { slice: took, kind: slice.kind })
    }
    this.#turns = this.#turns.filter((one) => !isOld(one))
    this.#slices = this.#slices.filter((one) => !isOld(one))
    const first = Math.min(
      now - 2 * SETTLED_MS,
      ...this.#turns.map(({ from }) => from),
      ...this.#slices.map(({ from }) => from),
    )
    this.#pauses = this.#pauses.filter(({ startTime, duration }) => startTime + duration >= first)
  }

  #addPauses(pauses: readonly PerformanceEntry[]): void {
    for (const pause of pauses) {
      this.#found.paused += pause.duration
      this.#found.pause = Math.max(this.#found.pause, pause.duration)
      this.#pauses.push(pause)
    }
  }
}

function watchTurns(used: () => number, record: Findings): void {
  let last = used()
  let at = performance.now()
  let looks = 0
  setInterval(() => {
    const now = performance.now()
    const cpu = used()
    record.addTurn({ kind: 'turn', from: at, to: now, used: cpu - last })
    last = cpu
    at = now
    if (++looks % 16 === 0) record.settle(now)
  }, 1).unref()
}

/**
 * A slice lasts from one callback to the next, including its ticks and promises, and the event
 * loop's own work.
 */
function watchSlices(used: () => number, record: Findings): void {
  const kinds = new Map<number, string>()
  let [begun, from, kind, depth] = [0, 0, '', 0]
  createHook({
    init: (id, type, _, resource) => void kinds.set(id, nameOf(type, resource)),
    before(id) {
      if (depth++ > 0) return
      const now = used()
      const at = performance.now()
      record.addSlice({ kind, from, to: at, used: now - begun })
      begun = now
      from = at
      kind = kinds.get(id) ?? 'unknown'
    },
    after: () => void (depth = Math.max(0, depth - 1)),
    destroy: (id) => void kinds.delete(id),
    trackPromises: false,
  }).enable()
}

/** The kind of a callback: Node's name, and the function's name if it is ours. */
function nameOf(type: string, resource: object): string {
  const deed: unknown = Reflect.get(resource, type === 'Immediate' ? '_onImmediate' : '_onTimeout')
  return typeof deed === 'function' ? `${type} ${deed.name || sourceOf(deed)}` : type
}

const sources = new WeakMap<object, string>()
function sourceOf(deed: object): string {
  let source = sources.get(deed)
  if (source === undefined)
    sources.set(deed, (source = String(deed).replace(/\s+/g, ' ').slice(0, 40)))
  return source
}

/** The CPU time of a stretch without its collections. */
function without({ from, to, used }: Stretch, pauses: readonly PerformanceEntry[]): number {
  let paused = 0
  for (const { startTime, duration } of pauses)
    paused += Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime))
  return Math.max(0, used - paused)
}

function nothing(): Probed {
  return { turn: 0, stall: 0, slice: 0, kind: '', long: {}, slices: 0, pause: 0, paused: 0 }
}

// Last, so that classes and constants are initialized.
if (isMainThread && path !== undefined) start(path)
