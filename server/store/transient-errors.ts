// What a caller is told where the store, the blobs or the disk are at fault, and not what was asked
// for.
import { Problem, codeOf } from '../common/errors.ts'
import { StoreError, type StoreErrorCode } from './store-error.ts'

/** Seconds after which a caller should try again. */
const RETRY_AFTER = 5

const NO_ANSWER = 'The store does not answer at the moment.'
const NO_ROOM = 'The server has no room for files at the moment.'

/** TABLE of what passes by itself, in words. `unique` and `failed` do not pass: they are bugs. */
const SENTENCES: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  busy: NO_ANSWER,
  unavailable: NO_ANSWER,
  closed: NO_ANSWER,
  full: NO_ROOM,
  slow: 'The report takes too long. Ask for a shorter time, or for one key.',
  crowded: 'Too many reports of this account are waiting.',
  blobs: 'The store for files does not answer at the moment.',
}

/**
 * The problem `store_unavailable` for an error that passes by itself; undefined for every other
 * error.
 */
export function passingTrouble(error: unknown): Problem | undefined {
  const sentence =
    error instanceof StoreError ? SENTENCES[error.code] : isNoRoom(error) ? NO_ROOM : undefined
  return sentence === undefined
    ? undefined
    : new Problem('store_unavailable', `${sentence} Try again in a moment.`, {
        retryAfter: RETRY_AFTER,
        cause: error,
      })
}

/**
 * Whether the system says that the disk, or our share of it, is full; that may be the size of a
 * file, which `ulimit` or the file system limits.
 */
export function isNoRoom(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error) ?? '')
}
