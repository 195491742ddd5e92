// A database that cannot be reached now and may be later.
import { SetupError } from '../common/errors.ts'
import { StoreError } from './store-error.ts'

/** The database cannot be reached at the moment. A server waits for it; a command fails. */
export class StoreUnreachable extends SetupError {
  override name = 'StoreUnreachable'
}

/**
 * Whether opening a store that lies on another machine failed for a reason that passes: it is away,
 * went away meanwhile, or is too busy.
 */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof StoreUnreachable ||
    (error instanceof StoreError && (error.code === 'unavailable' || error.code === 'busy'))
  )
}
