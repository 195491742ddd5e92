// Tells those who wait for jobs, or for quota, that something may have changed: at once where this
// process did it, as soon as the store notices where another did.
import type { Store } from '../../store/open.ts'

/** Notifies subscribers that jobs or quota reservations may have changed. One per process. */
export interface JobNotifications {
  /** Something has changed. */
  notify(): void
  /**
   * Calls back at each change; it may be none that concerns the listener. Gives the function that
   * ends it.
   */
  subscribe(listener: () => void): () => void
}

/** Opens the changes of a store's jobs, or of what its quotas have reserved. */
export function createJobNotifications(store: Pick<Store, 'onChange'>): JobNotifications {
  const listeners = new Set<() => void>()
  return {
    notify: () => listeners.forEach((listener) => listener()),
    subscribe: (listener) => {
      const unsubscribe = store.onChange(listener)
      listeners.add(listener)
      return () => {
        unsubscribe()
        listeners.delete(listener)
      }
    },
  }
}

/** Resolves at the next change, after `most` milliseconds, or when `signal` is aborted. */
export function nextNotification(
  notifications: JobNotifications,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      unsubscribe()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, timeoutMs)
    const unsubscribe = notifications.subscribe(done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
