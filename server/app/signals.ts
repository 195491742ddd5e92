// Handles the signals that end the server.
import { constants } from 'node:os'

/** Signals that end the server. Only SIGTERM, which a supervisor sends, drains. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A signal that ends the server. */
export type StopSignal = (typeof SIGNALS)[number]

/**
 * A signal within this many timer ticks (of milliseconds) after the first is the same one: a
 * terminal or a supervisor signals the whole process group, and npm and the launcher forward it as
 * well. On a busy machine they forward late; then the ticks come late, too.
 */
const [DUPLICATE_TICKS, TICK_MS] = [3, 150]

/** The signals that have arrived; lives as long as the process. */
export interface StopSignals {
  /** Resolves with the first signal. */
  readonly first: Promise<StopSignal>
  /** Aborted by the second one; its reason is the signal. */
  readonly second: AbortSignal
}

/** Handles the signals that end the server; from now on none of them ends the process by itself. */
export function handleStopSignals(): StopSignals {
  const { promise: first, resolve } = Promise.withResolvers<StopSignal>()
  const second = new AbortController()
  let ticks: number | undefined
  const onSignal = (signal: StopSignal): void => {
    if (ticks === undefined) {
      ticks = 0
      setInterval(() => (ticks = (ticks ?? 0) + 1), TICK_MS).unref()
      resolve(signal)
    } else if (ticks >= DUPLICATE_TICKS) second.abort(signal)
  }
  for (const signal of SIGNALS) process.on(signal, () => onSignal(signal))
  return { first, second: second.signal }
}

/** The exit code of a process ended by a signal, as in shells: 128 + its number. */
export function exitCodeOf(signal: StopSignal): number {
  return 128 + constants.signals[signal]
}
