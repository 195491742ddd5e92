// Gives memory back to the system once a burst of work is over.
//
// After a burst V8 keeps the pages of its young generation, and garbage that was promoted. Its
// memory reducer would free both once the isolate is idle (deps/v8/src/heap/memory-reducer.cc), but
// it takes an isolate without any allocation outside the young generation for a busy one
// (ComputeMutatorUtilizationImpl in heap.cc), so an idle server waits for its watchdog: 100 s
// without a full collection. With `--optimize-for-size` it starts regardless of allocations, so
// that flag is set while the server is idle: 8 to 16 s after the last full collection an ordinary
// one follows, marked in steps.
import { setFlagsFromString } from 'node:v8'

/** Interval of the checks. */
const CHECK_MS = 1_000
/** Idle: at most this share of the time in the event loop, at two checks in a row. */
const IDLE_SHARE = 0.05

/**
 * Lets V8 free memory while the process is idle: 30 to 40 of 510 MB after 5,000 WebSockets were
 * opened (`npm run bench -- sockets --only idle`). The flag also applies to the threads. Call it
 * once, on the main thread.
 */
export function freeMemoryWhenIdle(): void {
  let checked = performance.eventLoopUtilization()
  let idleChecks = 0
  const check = (): void => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, checked)
    checked = now
    if (utilization > IDLE_SHARE) {
      if (idleChecks >= 2) setFlagsFromString('--no-optimize-for-size')
      idleChecks = 0
    } else if (++idleChecks === 2) setFlagsFromString('--optimize-for-size')
  }
  setInterval(check, CHECK_MS).unref()
}
