// Turns errors of PostgreSQL and its driver into the store's own.
import { DatabaseError } from 'pg'
import { codeOf } from '../../common/errors.ts'
import { StoreError, type StoreErrorCode } from '../store-error.ts'

/**
 * TABLE of SQLSTATEs, or their classes (the first two characters), with a code of their own; the
 * rest are `failed`.
 */
const BY_STATE: Readonly<Record<string, StoreErrorCode>> = {
  // foreign_key_violation: this process was considered dead, until its next heartbeat
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
 * Whether two transactions conflicted and this one was rolled back, so that it may simply run
 * again.
 */
export function isCollision(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01')
}

/** A StoreError for a thrown error; a StoreError is returned unchanged. */
export function storeError(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown
  if (thrown instanceof DatabaseError) {
    const state = thrown.code ?? ''
    return new StoreError(
      BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? 'failed',
      thrown.message,
    )
  }
  // All other errors of the driver are about the connection.
  return new StoreError('unavailable', reasonOf(thrown))
}

/** TABLE of system errors for a server that is not running, or not yet. */
const AWAY: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN', // the name service does not answer
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND', // in a cluster, the name comes with the server
  'EPIPE',
  'ETIMEDOUT',
])

/**
 * Whether the server cannot be reached at the moment: it is down, starting, full or a standby. Any
 * other failure to connect is a mistake in the settings.
 */
export function isAway(thrown: unknown): boolean {
  if (thrown instanceof DatabaseError) {
    const state = thrown.code ?? ''
    return state === '25006' || ['08', '53', '57'].includes(state.slice(0, 2))
  }
  const code = codeOf(thrown) ?? ''
  // The file of a UNIX socket exists only while its server runs; other missing files are mistakes
  // in the settings.
  const isSocketMissing =
    code === 'ENOENT' &&
    thrown instanceof Error &&
    'syscall' in thrown &&
    thrown.syscall === 'connect'
  return AWAY.has(code) || isSocketMissing || DRIVER_GAVE_UP.test(reasonOf(thrown))
}

/** Messages of pg 8, without a code, for a broken or slow connection. */
const DRIVER_GAVE_UP = /^(timeout expired|connection terminated)/i

/**
 * A short description of a failed connection. Node's message is empty if several addresses were
 * tried.
 */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.message || ('code' in thrown ? String(thrown.code) : thrown.name)
}
