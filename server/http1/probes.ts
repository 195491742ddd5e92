// Finds out whether a caller that has closed its sending side is still there: it may only be
// half-closed (RFC 9112, section 9.6), and otherwise its system responds to a write with a reset.

/** A probe, too: callers ignore an unexpected `100 Continue` (RFC 9110, section 15.2). */
export const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/**
 * When to probe again after the first time (milliseconds). A reset takes a round trip, and is only
 * noticed with the next write.
 */
const AGAIN_MS = [25, 250] as const
const EVERY_MS = 1_000

/** Probes soon after the first probe. */
export function probeAgain(probe: () => void): NodeJS.Timeout[] {
  return AGAIN_MS.map((ms) => setTimeout(probe, ms).unref())
}

/** Probes now and again. @returns ends it */
export function keepProbing(probe: () => void): () => void {
  probe()
  const timers = [...probeAgain(probe), setInterval(probe, EVERY_MS).unref()]
  return () => timers.forEach((timer) => clearTimeout(timer))
}
