// What PostgreSQL and its driver throw, as the store's own errors.
import { DatabaseError } from 'pg'
import { StoreError, type StoreErrorCode } from '../store-error.ts'

/**
 * TABLE of SQLSTATEs, or their classes (the first two characters), that mean something to a caller;
 * the rest is `failed`.
 */
const BY_STATE: Readonly<Record<string, StoreErrorCode>> = {
  // foreign_key_violation: this process was taken for dead, until its next sign of life
  '23503': 'busy',
  '23505': 'unique', // unique_violation
  '40001': 'busy', // serialization_failure
  '40P01': 'busy', // deadlock_detected
  '55P03': 'busy', // lock_not_available
  '57014': 'busy', // query_canceled: the statement took longer than we wait
  '53300': 'busy', // too_many_connections
  '53': 'busy', // insufficient resources
  '53100': 'full', // disk_full
  '25006': 'unavailable', // read_only_sql_transaction: a standby
  '57': 'unavailable', // the server is starting, stopping or has crashed
  '58': 'unavailable', // system error, such as a broken disk
  '08': 'unavailable', // connection exception
  '28': 'unavailable', // the user or password is no longer good
  XX: 'unavailable', // damaged data
}

/**
 * Two transactions got into each other's way, and this one has been undone: it may simply run
 * again.
 */
export function isCollision(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01')
}

/** A StoreError for what was thrown; one that is a StoreError already stays as it is. */
export function storeError(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown
  if (thrown instanceof DatabaseError) {
    const state = thrown.code ?? ''
    return new StoreError(
      BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? 'failed',
      thrown.message,
    )
  }
  // Everything else that the driver throws is about the connection.
  return new StoreError('unavailable', reasonOf(thrown))
}

/**
 * A few words about a failed connection. Node gives an empty message where several addresses were
 * tried.
 */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.message || ('code' in thrown ? String(thrown.code) : thrown.name)
}
