// The error for a database that cannot be reached at the moment.
import { SetupError } from '../common/errors.ts'
import { StoreError } from './store-error.ts'

/** The database cannot be reached at the moment. A server waits for it; a command fails. */
export class StoreUnreachable extends SetupError {
  override name = 'StoreUnreachable'
}

/**
 * Whether opening a store on another machine failed for a temporary reason: it is unavailable,
 * became so meanwhile, or is too busy.
 */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof StoreUnreachable ||
    (error instanceof StoreError && (error.code === 'unavailable' || error.code === 'busy'))
  )
}
