// Refetches failed queries when the server is reachable again, so that nobody has to reload the
// page.
import type { QueryClient } from '@tanstack/react-query'
import { ApiError, ping } from './http.ts'

/** Milliseconds between two checks whether the server is reachable again. */
const POLL_MS = 2000

/** Whether an error means that the server, or a proxy in front of it, is unavailable. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'unreachable' || [502, 503, 504].includes(error.status))

/** Creates the handler for every query's errors. */
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
