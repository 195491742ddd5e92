// Handles signals while a command has something to clean up.
import { once } from 'node:events'
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal ended the command. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  /** 128 + the signal's number, as in shells. */
  readonly exitCode: number

  constructor(signal: (typeof SIGNALS)[number]) {
    super(signal)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/**
 * Runs work. A signal aborts it with `Interrupted`, and ends the process only after the work has
 * ended.
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

/**
 * Runs work whose partial result is useful. A signal ends the wait for it.
 *
 * @param work gets a function that tells whether its result is still awaited
 * @returns the signal, if there was one before the work had ended
 */
export async function untilInterrupted(
  work: (isOpen: () => boolean) => Promise<void>,
): Promise<Interrupted | null> {
  try {
    await runInterruptible(async (signal) => {
      const interrupted = once(signal, 'abort')
      await Promise.race([work(() => !signal.aborted), interrupted])
      signal.throwIfAborted()
    })
    return null
  } catch (error) {
    if (error instanceof Interrupted) return error
    throw error
  }
}
