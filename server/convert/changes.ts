// Tells those who wait for jobs that one may have changed: at once where this process did it, as soon as the store notices where another did.
import type { Store } from '../store/open.ts'

export interface JobChanges {
  /** Something about jobs has changed. */
  tell(): void
  /** Calls back at each change; it may be none that concerns the listener. Gives the function that ends it. */
  on(listener: () => void): () => void
}

/** Opens the changes of a store's jobs. */
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
