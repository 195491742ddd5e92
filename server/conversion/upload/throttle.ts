// Keeps uploads from taking the event loop away from proxied requests.

/** Calls `next` when the next chunk may be read. */
export type Throttle = (next: () => void) => void

/** Milliseconds between two chunks while requests are in flight. */
const PAUSE_MS = 1

/**
 * One throttle for the chunks of all uploads. A chunk (64 KB at most) takes up to 0.5 ms, and a
 * proxied request needs the event loop five times. So while requests are in flight (`isBusy`) one
 * chunk is read per millisecond, about 45 MB/s; otherwise one per turn of the event loop, because a
 * fast upload would otherwise read up to 2 MB in one turn.
 */
export function createThrottle(isBusy: () => boolean): Throttle {
  const waiting: (() => void)[] = []
  let isScheduled = false
  const runNext = (): void => {
    isScheduled = false
    waiting.shift()?.()
    scheduleNext()
  }
  const scheduleNext = (): void => {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    // After a long turn, Node may run two timers in one turn, but not two immediates.
    if (isBusy()) setTimeout(() => setImmediate(runNext), PAUSE_MS)
    else setImmediate(runNext)
  }
  return (next) => {
    waiting.push(next)
    scheduleNext()
  }
}
