// Who may use the event loop next: uploads, which could have all of it, and the requests beside
// them.

/** Calls `next` when it is its turn. */
export type Throttle = (next: () => void) => void

/** Milliseconds between one turn and the next while somebody must not wait. */
const PAUSE_MS = 1

/**
 * Turns for the pieces of all uploads together. One piece, 64 KB at most, takes up to half a
 * millisecond; a proxied request needs the loop five times. So while requests are under way
 * (`busy`) a piece is taken once in a millisecond, about 45 MB a second; otherwise as fast as they
 * come, each in a turn of the loop: left to itself, that takes up to two megabytes of a fast upload
 * at a go.
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
    if (isBusy()) setTimeout(runNext, PAUSE_MS)
    else setImmediate(runNext)
  }
  return (next) => {
    waiting.push(next)
    scheduleNext()
  }
}
