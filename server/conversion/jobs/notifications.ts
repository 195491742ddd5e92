// Notifies subscribers that jobs or quota may have changed: at once for changes in this process, as
// soon as the store notices for others.
import type { Store } from '../../store/store.ts'

/** Notifies subscribers that jobs or quota reservations may have changed. One per process. */
export interface JobNotifications {
  /** Announces a change. */
  notify(): void
  /** Calls back on every change, relevant or not. Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void
}

/** Creates notifications for a store's jobs, or for its quota reservations. */
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

/** Resolves on the next notification, after `timeoutMs`, or when `signal` aborts. */
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
