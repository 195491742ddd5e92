// Signals, while a command has something to clear away.
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal has ended the command. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  /** 128 + the signal's number, as shells have it. */
  readonly exitCode: number

  constructor(signal: (typeof SIGNALS)[number]) {
    super(signal)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/**
 * Runs work whose signal aborts with `Interrupted`; until it has ended, no signal ends the process.
 */
export async function runInterruptible(
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController()
  const listeners = SIGNALS.map(
    (name) => [name, () => stopping.abort(new Interrupted(name))] as const,
  )
  for (const [name, stop] of listeners) process.on(name, stop)
  try {
    await work(stopping.signal)
  } catch (error) {
    stopping.signal.throwIfAborted()
    throw error
  } finally {
    for (const [name, stop] of listeners) process.off(name, stop)
  }
}
