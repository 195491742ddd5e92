// Handles the signals that end the server.
import { constants } from 'node:os'

/** Signals that end the server. Only SIGTERM, which a supervisor sends, drains. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A signal that ends the server. */
export type StopSignal = (typeof SIGNALS)[number]

/**
 * A signal within this time after the first (milliseconds) is the same one: a terminal or a
 * supervisor signals the whole process group, and npm and the launcher forward it as well.
 */
const DUPLICATE_MS = 500

/** The signals that have arrived; lives as long as the process. */
export interface StopSignals {
  /** Resolves with the first signal. */
  readonly first: Promise<StopSignal>
  /** Aborted by the second one; its reason is the signal. */
  readonly second: AbortSignal
}

/**
 * Handles the signals that end the server; from now on none of them ends the process by itself.
 *
 * @param mono monotonic milliseconds
 */
export function handleStopSignals(mono: () => number): StopSignals {
  const { promise: first, resolve } = Promise.withResolvers<StopSignal>()
  const second = new AbortController()
  let firstAt: number | undefined
  const onSignal = (signal: StopSignal): void => {
    if (firstAt === undefined) {
      firstAt = mono()
      resolve(signal)
    } else if (mono() - firstAt >= DUPLICATE_MS) second.abort(signal)
  }
  for (const signal of SIGNALS) process.on(signal, () => onSignal(signal))
  return { first, second: second.signal }
}

/** The exit code of a process ended by a signal, as in shells: 128 + its number. */
export function exitCodeOf(signal: StopSignal): number {
  return 128 + constants.signals[signal]
}
