// The least rate of a body: a caller that sends a byte now and then holds what others need. Only
// the time counts in which we wait for the caller; our own disk, and turns that others have, are
// not its fault.

/** Bytes a second that a body must have come at on average, once its grace is over. */
export const MIN_RATE = 16 * 1024

/** Watches one body. */
export interface RateMonitor {
  /** From now on we wait for the caller. */
  waiting(): void
  /** So many bytes have come. */
  received(bytes: number): void
  /** The body is over. */
  stop(): void
}

/**
 * Calls `onSlow` once where a body is slower than the least rate after `grace` milliseconds of
 * waiting for it.
 */
export function startRateMonitor(graceMs: number, onSlow: () => void): RateMonitor {
  let received = 0
  let waited = 0
  let since: number | null = null
  const waiting = (now: number): number => waited + (since === null ? 0 : now - since)
  const check = (): void => {
    const total = waiting(performance.now())
    if (total < graceMs || received >= (total / 1000) * MIN_RATE) return
    clearInterval(timer)
    onSlow()
  }
  const timer = setInterval(check, Math.max(10, Math.min(1000, graceMs / 4))).unref()
  return {
    waiting: () => void (since ??= performance.now()),
    received: (bytes) => {
      waited = waiting(performance.now())
      since = null
      received += bytes
    },
    stop: () => clearInterval(timer),
  }
}
