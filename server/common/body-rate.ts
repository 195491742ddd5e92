// Enforces a minimum rate of request bodies, against callers that send a byte now and then while
// they hold shared resources. Only time spent waiting for the caller counts, not our disk or other
// callers' turns.

/** Average bytes per second that a body must reach once its grace period is over. */
export const MIN_RATE = 16 * 1024

/** Monitors one body. */
export interface RateMonitor {
  /** Call when we begin to wait for the caller. */
  waiting(): void
  /** Call when bytes have arrived. */
  received(bytes: number): void
  /** Call when the body is complete. */
  stop(): void
}

/** Calls `onSlow` once if a body is below the minimum rate after `graceMs` of waiting for it. */
export function startRateMonitor(graceMs: number, onSlow: () => void): RateMonitor {
  let received = 0
  let waited = 0
  let since: number | null = null
  const waiting = (now: number): number => waited + (since === null ? 0 : now - since)
  let isOver = false
  const check = (now: number): void => {
    if (isOver) return
    const total = waiting(now)
    if (total < graceMs || received >= (total / 1000) * MIN_RATE) return
    stop()
    onSlow()
  }
  const stop = (): void => {
    isOver = true
    clearInterval(timer)
  }
  // After a stall of this process, timers run before what has arrived meanwhile is read.
  const checkRead = (): void => void setImmediate(check, performance.now())
  const timer = setInterval(checkRead, Math.max(10, Math.min(1000, graceMs / 4))).unref()
  return {
    waiting: () => void (since ??= performance.now()),
    received: (bytes) => {
      waited = waiting(performance.now())
      since = null
      received += bytes
    },
    stop,
  }
}
