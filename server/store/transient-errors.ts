// Turns temporary errors of the store, the blobs or the disk into problems for the caller.
import { Problem, codeOf } from '../common/errors.ts'
import { StoreError, type StoreErrorCode } from './store-error.ts'

/** Seconds after which a caller should try again. */
const RETRY_AFTER = 5

const NO_RESPONSE = 'The database does not answer at the moment.'
const NO_ROOM = 'The server has no room for files at the moment.'
const NOT_WRITABLE = 'The server cannot write files at the moment.'
/** The codes of a disk that fails, and of a file system that became read-only because of it. */
const DISK_FAILURES = new Set(['EIO', 'EROFS'])

/** TABLE of the sentences for transient errors. `unique` and `failed` are bugs, and have none. */
const SENTENCES: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  busy: NO_RESPONSE,
  unavailable: NO_RESPONSE,
  closed: NO_RESPONSE,
  full: NO_ROOM,
  slow: 'The report takes too long. Request a shorter period, or one key.',
  crowded: 'Too many reports of this account are waiting.',
  blobs: 'The file store does not answer at the moment.',
}

/** The problem `store_unavailable` for a transient error; undefined for every other error. */
export function transientProblem(error: unknown): Problem | undefined {
  const sentence =
    error instanceof StoreError
      ? SENTENCES[error.code]
      : isDiskFull(error)
        ? NO_ROOM
        : DISK_FAILURES.has(codeOf(error) ?? '')
          ? NOT_WRITABLE
          : undefined
  return sentence === undefined
    ? undefined
    : new Problem('store_unavailable', `${sentence} Try again in a moment.`, {
        retryAfter: RETRY_AFTER,
        cause: error,
      })
}

/**
 * Whether an error means that the disk, or our share of it, is full, or that a file has reached the
 * limit of `ulimit` or the file system.
 */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error) ?? '')
}
