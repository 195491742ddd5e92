// Preloaded into the server under test (`--import`): how long one turn of its event loop takes, in processor time of the main thread, so that a busy
// machine does not count, and the pauses of the collector apart. Answers each connection
// to its socket (BENCH_PROBE) with one line, and begins anew.
import { createHook } from 'node:async_hooks'
import { createServer } from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** What the probe found since it was asked last, in milliseconds. */
export interface Probed {
  /** The longest turn of the event loop. Turns shorter than the sampling timer's millisecond are added up to one. */
  turn: number
  /** The longest time between two turns: what a stream sees of it. */
  stall: number
  /** The longest callback with BENCH_SLICES=1, else 0. By the clock: the system counts processor time in steps of some milliseconds. */
  slice: number
  /** The longest pause of the collector, and all of them. */
  pause: number
  paused: number
}

const path = process.env['BENCH_PROBE']
if (isMainThread && path !== undefined) start(path)

function start(path: string): void {
  let found = nothing()
  let collected = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      collected += duration
      found.paused += duration
      found.pause = Math.max(found.pause, duration)
    }
  }).observe({ entryTypes: ['gc'] })

  let last = used()
  let at = performance.now()
  setInterval(() => {
    const late = performance.now() - at
    at += late
    found.stall = Math.max(found.stall, late)
    const now = used()
    const turn = now - last
    last = now
    if (turn <= found.turn) return
    // The observer hears of a pause only after the turn in which it was.
    const before = collected
    setImmediate(() => setImmediate(() => (found.turn = Math.max(found.turn, turn - (collected - before)))))
  }, 1).unref()

  if (process.env['BENCH_SLICES'] === '1') {
    const begun: number[] = []
    createHook({
      before: () => void begun.push(performance.now()),
      after() {
        const from = begun.pop()
        if (from !== undefined) found.slice = Math.max(found.slice, performance.now() - from)
      },
    }).enable()
  }
  createServer((socket) => {
    socket.on('error', () => {})
    // After the turn that has just ended has been counted.
    setTimeout(() => {
      socket.end(`${JSON.stringify(found)}\n`)
      found = nothing()
    }, 10)
  }).listen(path).unref()
}

/** Processor time of this thread, in milliseconds. */
function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function nothing(): Probed {
  return { turn: 0, stall: 0, slice: 0, pause: 0, paused: 0 }
}
