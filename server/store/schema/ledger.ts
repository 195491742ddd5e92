// Rows: the ledger, its sums, and related tables. See schema.ts.
import type { LedgerRow } from '../../common/ledger-columns.ts'
import type { Tokens } from '../../common/token-kinds.ts'

/** The ledger: one row for each admitted request. */
export type RequestRow = LedgerRow

/** The error text of an upstream for a failed request. */
export interface UpstreamErrorRow {
  request_id: string
  created_at: number
  /** The upstream's id of the request. */
  upstream_request_id: string | null
  /** The beginning of its response, without our credential. */
  text: string | null
}

/**
 * Requests admitted in one batch, until they are moved to the ledger: see settlement/journal.ts.
 */
export interface JournalRow {
  /** The `seq` of the last of them in the ledger. */
  seq: number
  instance: string
  boot: number
  /** JSON of the rows, dictionary-encoded. */
  rows: string
}

/** A day of the ledger that `verify` has read: see ledger/reports/sealed-days.ts. */
export interface SealedDayRow {
  /** Milliseconds since 1970 at which the day begins, UTC. */
  day: number
  /** The first and last of its rows, in the order of admission. */
  first_seq: number
  last_seq: number
  /** The first row that can share a one-minute window with rows of the next day. */
  overlap_seq: number
  /** Number of its rows; of these, rows with a limit, and rows admitted in an outage. */
  requests: number
  limited: number
  outage: number
  /** Number of missing rows. */
  missing: number
  /** JSON of the violations; null: none. */
  violations: string | null
  /** SHA-256 of the proved fields of its rows, chained to the day before. */
  digest: string
}

/** Rows up to `seq` may have been deleted by retention. */
export interface RetentionMarkRow {
  one: 1
  seq: number
}

/** A partition of PostgreSQL's ledger: see ledger/retention/partitions.ts. */
export interface RequestPartitionRow {
  /** The first `seq` of its rows. */
  first: number
  /** When the numbers reached it (milliseconds since 1970). */
  since: number
}

/** When a key was last used, in the partitions that the retention has dropped. */
export interface KeyUseRow {
  key_id: string
  last_used_at: number
}

/**
 * The ledger summed by hour, key, provider and model; `model` is '' if it is unknown. Tokens are
 * sums over the requests that reported them; null if none did.
 */
export interface UsageHourRow extends Tokens {
  /** Milliseconds since 1970 at which the hour begins. */
  hour: number
  key_id: string
  provider: string
  model: string
  account_id: string
  requests: number
  /**
   * Of these: failed (status 400 or above, no response, or an incomplete one); aborted by the
   * caller; ended with the process; with unknown tokens.
   */
  errors: number
  aborted: number
  unknown: number
  unmetered: number
  bytes_in: number
  bytes_out: number
  /** Sums of durations, over `answered` requests. */
  answered: number
  first_byte_ms: number
  total_ms: number
}

/** The ledger summed by day, key, provider and model, for the hours up to a mark. */
export type UsageDayRow = Omit<UsageHourRow, 'hour'> & {
  /** Milliseconds since 1970 at which the day begins, UTC. */ day: number
}

/** An account's usage in an hour, over all its keys, for the hours up to a mark. */
export type UsageAccountHourRow = Omit<UsageHourRow, 'key_id'>
/** An account's usage on a day, over all its keys, for the hours up to a mark. */
export type UsageAccountDayRow = Omit<UsageDayRow, 'key_id'>

/** A key's total usage in the hours up to a mark. */
export type UsageKeyRow = Omit<UsageHourRow, 'hour' | 'provider' | 'model'>

/**
 * A key's cumulative number of requests at the end of a day. Only days on which it was used have a
 * row.
 */
export interface UsageKeyDayRow {
  key_id: string
  /** Milliseconds since 1970 at which the day begins, UTC. */
  day: number
  /** Requests of this day and all earlier ones. */
  requests: number
}

/** How far hours have been added to a roll-up: see rollups/coarser.ts. */
export interface UsageAddedRow {
  name: string
  /** Start of the first hour that has not been added completely. */
  before: number
  /** The last row of usage_hours of that hour that has been added; null: none. */
  key_id: string | null
  provider: string | null
  model: string | null
}

/** Requests that a key's limit rejected within an hour: the ledger has only admitted ones. */
export interface RefusedHourRow {
  key_id: string
  /** Milliseconds since 1970 at which the hour begins. */
  hour: number
  account_id: string
  refused: number
}

/** A sample of the requests that the proxy refused: see refusals/refusal-log.ts. */
export interface RefusalRow {
  id: string
  created_at: number
  account_id: string
  key_id: string
  provider: string | null
  model: string | null
  method: string
  /** The status of the response to the caller. */
  status: number
  code: string
  detail: string
  /** The number of refusals of this key and code that it represents, including itself. */
  count: number
}

/** Requests of a key that were rejected with one code within a minute. */
export interface RefusalMinuteRow {
  key_id: string
  /** Milliseconds since 1970 at which the minute begins. */
  minute: number
  code: string
  account_id: string
  refused: number
}
