// The store's errors, independent of the database.

/**
 * TABLE of SQLite's result codes (sqlite.org/rescode.html) with a code of their own; the rest are
 * `failed`.
 */
const BY_RESULT_CODE: Readonly<Record<number, StoreErrorCode>> = {
  5: 'busy', // SQLITE_BUSY: another process has held the write lock for longer than we wait
  6: 'busy', // SQLITE_LOCKED
  8: 'unavailable', // SQLITE_READONLY
  10: 'unavailable', // SQLITE_IOERR
  13: 'full', // SQLITE_FULL
  14: 'unavailable', // SQLITE_CANTOPEN
  // SQLITE_CONSTRAINT_FOREIGNKEY: this process was considered dead, until its next heartbeat
  787: 'busy',
  1555: 'unique', // SQLITE_CONSTRAINT_PRIMARYKEY
  2067: 'unique', // SQLITE_CONSTRAINT_UNIQUE
}

/**
 * `unique`: the row already exists. `busy`: try again. `full`: the disk has no room. `unavailable`:
 * the files cannot be read or written. `closed`: the store is closing. `slow`: a report took too
 * long. `crowded`: its owner has too many of them. `blobs`: stored files cannot be read or written.
 * `missing`: a stored file has been deleted by somebody else. `failed`: anything else, usually a
 * bug.
 */
export type StoreErrorCode =
  | 'unique'
  | 'busy'
  | 'full'
  | 'unavailable'
  | 'closed'
  | 'blobs'
  | 'missing'
  | 'slow'
  | 'crowded'
  | 'failed'

/**
 * The error that the store's functions reject with. Its message may contain SQL: it is for the log,
 * never for a caller.
 */
export class StoreError extends Error {
  override name = 'StoreError'
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * An error of node:sqlite or a procedure, as a code and a message that can be sent between threads.
 */
export function readError(thrown: unknown): { code: StoreErrorCode; message: string } {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  if (thrown instanceof StoreError) return { code: thrown.code, message }
  const result =
    typeof thrown === 'object' && thrown !== null && 'errcode' in thrown
      ? Number(thrown.errcode)
      : Number.NaN
  return { code: BY_RESULT_CODE[result] ?? BY_RESULT_CODE[result & 0xff] ?? 'failed', message }
}
