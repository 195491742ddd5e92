// Rows: the ledger, its sums, and related tables. See schema.ts.

/** The ledger: one row for each admitted request. */
export interface RequestRow {
  /**
   * The order of admission: each is one more than the newest before it, which is therefore never
   * deleted.
   */
  seq: number
  id: string
  account_id: string
  key_id: string
  /** The key's limit at that moment, so that a later reader can prove that it was kept. */
  rpm: number | null
  provider: string
  model: string | null
  endpoint: string
  method: string
  /** SHA-256 of the caller's context key. */
  context: string | null
  /** The child of the key that sent it; null where the key itself did. */
  child_id: string | null
  /** The child's own limit at that moment; null where only the key's counts. */
  child_rpm: number | null
  /** The person the child key was made for. */
  end_user: string | null
  state: 'reserved' | 'settled' | 'aborted' | 'unknown'
  created_at: number
  /** The instance that admitted it; null in a complete row on PostgreSQL. */
  instance: string | null
  /**
   * The time by a machine's monotonic clock, in microseconds; `boot` identifies the boot. On
   * PostgreSQL by the ledger's clock, when the decision was made; `boot` is 0.
   */
  mono: number
  boot: number
  /** 1: admitted while the store did not answer. */
  outage: number | null
  status: number | null
  /** Code of the error that we answered in place of an upstream. */
  error: string | null
  credential_id: string | null
  first_byte_ms: number | null
  total_ms: number | null
  bytes_in: number | null
  bytes_out: number | null
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
  /** The id by which the upstream knows the request; null where its answer named none. */
  upstream_request_id: string | null
}

/** The error text of an upstream for a failed request. */
export interface UpstreamErrorRow {
  request_id: string
  created_at: number
  /** The id by which the upstream knows the request. */
  upstream_request_id: string | null
  /** The beginning of its answer, without our credential. */
  text: string | null
}

/**
 * Requests admitted in one batch, until they are moved to the ledger: see settlement/journal.ts.
 */
export interface JournalRow {
  /** The place of the last of them in the ledger. */
  seq: number
  instance: string
  boot: number
  /** JSON of the rows, folded. */
  rows: string
}

/** A day of the ledger that `verify` has read: see ledger/reports/sealed-days.ts. */
export interface SealedDayRow {
  /** Milliseconds since 1970 at which the day begins, UTC. */
  day: number
  /** The first and the last of its rows, in the order of admission. */
  first_seq: number
  last_seq: number
  /** The first of those that can share a minute with the rows of the next day. */
  overlap_seq: number
  /** Its rows; of these: under a limit, admitted in an outage. */
  requests: number
  limited: number
  outage: number
  /** Rows that were not there. */
  missing: number
  /** JSON of the violations; null: none. */
  violations: string | null
  /** SHA-256 of what the proof reads of its rows, and of the day before it. */
  digest: string
}

/** Rows up to `seq` may have been deleted by the retention. */
export interface RetentionMarkRow {
  one: 1
  seq: number
}

/** The ledger summed by hour, key, provider and model; `model` is '' where it is not known. */
export interface UsageHourRow {
  /** Milliseconds since 1970 at which the hour begins. */
  hour: number
  key_id: string
  provider: string
  model: string
  account_id: string
  requests: number
  /**
   * Of these: answered with 400 or above, not at all, or incompletely; left by the caller; ended
   * with the process; with unknown tokens.
   */
  errors: number
  aborted: number
  unknown: number
  unmetered: number
  bytes_in: number
  bytes_out: number
  /** Sums over the requests that said; null where none did. */
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
  /** Sums of the times, over `answered` requests. */
  answered: number
  first_byte_ms: number
  total_ms: number
}

/** The same by day, for the hours before a mark. */
export type UsageDayRow = Omit<UsageHourRow, 'hour'> & {
  /** Milliseconds since 1970 at which the day begins, UTC. */ day: number
}

/** The hours before a mark, and their days, over all keys of an account. */
export type UsageAccountHourRow = Omit<UsageHourRow, 'key_id'>
/** An account's usage on a day, over all its keys. */
export type UsageAccountDayRow = Omit<UsageDayRow, 'key_id'>

/** All that a key has used in the hours before a mark. */
export type UsageKeyRow = Omit<UsageHourRow, 'hour' | 'provider' | 'model'>

/**
 * How many requests a key had when a day ended, since its first one. Only days on which it was used
 * have a row.
 */
export interface UsageKeyDayRow {
  key_id: string
  /** Milliseconds since 1970 at which the day begins, UTC. */
  day: number
  /** Requests of this day and of all before it. */
  requests: number
}

/** How far hours have been added to a roll-up: see rollups/coarser.ts. */
export interface UsageAddedRow {
  name: string
  /** Start of the first hour that has not, or not wholly. */
  before: number
  /** The last row of usage_hours that has been added of that hour; null: none. */
  key_id: string | null
  provider: string | null
  model: string | null
}

/** Requests that a key's limit refused within an hour: the ledger has only admitted ones. */
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
  /** Refusals of this key and code that it stands for, itself included. */
  count: number
}

/** Requests of a key that were refused with one code within a minute. */
export interface RefusalMinuteRow {
  key_id: string
  /** Milliseconds since 1970 at which the minute begins. */
  minute: number
  code: string
  account_id: string
  refused: number
}
