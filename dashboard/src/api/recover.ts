// When the server is back after it did not answer, whatever failed meanwhile is asked anew: nobody
// has to reload a page that says so.
import type { QueryClient } from '@tanstack/react-query'
import { ApiError, ping } from './http.ts'

/** Milliseconds between two looks whether the server answers again. */
const POLL_MS = 2000

/** Whether an error says that the server, or what stands before it, does not answer now. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'unreachable' || [502, 503, 504].includes(error.status))

/** Gives what is told of every query's error. */
export function refetchOnRecovery(client: () => QueryClient): (error: unknown) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const poll = async (): Promise<void> => {
    timer = undefined
    if (document.visibilityState === 'hidden') return schedule()
    try {
      await ping()
    } catch {
      return schedule()
    }
    await client().refetchQueries({
      type: 'active',
      predicate: ({ state }) => isUnavailable(state.error),
    })
  }
  const schedule = (): void => {
    timer ??= setTimeout(() => void poll(), POLL_MS)
  }
  return (error) => {
    if (isUnavailable(error)) schedule()
  }
}
