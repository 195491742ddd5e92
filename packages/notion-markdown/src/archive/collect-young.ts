// Bytes that were read or inflated are garbage at once, but V8 counts them against no limit of its
// own before there are 64 MB of them.

/** Bytes after which the collector runs: a millisecond for each. */
const COLLECT_EVERY_BYTES = 8 * 1024 * 1024

let uncollected = 0

/**
 * Counts bytes that were used and are done with; collects them now and then. Does nothing where
 * Node runs without `--expose-gc`.
 */
export function collectYoung(bytes: number): void {
  uncollected += bytes
  if (uncollected < COLLECT_EVERY_BYTES) return
  uncollected = 0
  globalThis.gc?.({ type: 'minor', execution: 'sync' })
}
