// Tells those who wait for jobs, or for quota, that something may have changed: at once where this
// process did it, as soon as the store notices where another did.
import type { Store } from '../../store/open.ts'

export interface JobChanges {
  /** Something has changed. */
  tell(): void
  /**
   * Calls back at each change; it may be none that concerns the listener. Gives the function that
   * ends it.
   */
  on(listener: () => void): () => void
}

/** Opens the changes of a store's jobs, or of what its quotas have reserved. */
export function jobChanges(store: Pick<Store, 'onChange'>): JobChanges {
  const listeners = new Set<() => void>()
  return {
    tell: () => listeners.forEach((listener) => listener()),
    on: (listener) => {
      const end = store.onChange(listener)
      listeners.add(listener)
      return () => {
        end()
        listeners.delete(listener)
      }
    },
  }
}

/** Resolves at the next change, after `most` milliseconds, or when `signal` is aborted. */
export function nextChange(changes: JobChanges, signal: AbortSignal, most: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      end()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, most)
    const end = changes.on(done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
