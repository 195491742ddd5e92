// When the server is back after it did not answer, whatever failed meanwhile is asked anew: nobody
// has to reload a page that says so.
import type { QueryClient } from '@tanstack/react-query'
import { Refused, send } from './http.ts'

/** Milliseconds between two looks whether the server answers again. */
const LOOK_EVERY = 2000

/** Whether an error says that the server, or what stands before it, does not answer now. */
export const isAway = (error: unknown): boolean =>
  error instanceof Refused &&
  (error.code === 'unreachable' || [502, 503, 504].includes(error.status))

/** Gives what is told of every query's error. */
export function recoverBy(client: () => QueryClient): (error: unknown) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = async (): Promise<void> => {
    timer = undefined
    if (document.visibilityState === 'hidden') return wait()
    try {
      await send('/livez')
    } catch {
      return wait()
    }
    await client().refetchQueries({ type: 'active', predicate: ({ state }) => isAway(state.error) })
  }
  const wait = (): void => {
    timer ??= setTimeout(() => void look(), LOOK_EVERY)
  }
  return (error) => {
    if (isAway(error)) wait()
  }
}
