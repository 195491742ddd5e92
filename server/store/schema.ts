import type { Generated } from 'kysely'

// Every table, as Kysely sees it: one schema for SQLite and PostgreSQL. Times are integers (milliseconds since 1970, UTC), ids are
// text, yes and no are 1 and 0, JSON is text. `migrations/` makes what is described here.

/** A person or a team: owns tokens, quota, jobs and keys. */
export interface AccountRow {
  id: string
  name: string
  email: string | null
  plan: string
  role: 'admin' | 'member'
  created_at: number
  disabled: number
}

/** An API token. The token itself is not stored, only its SHA-256. */
export interface TokenRow {
  id: string
  account_id: string
  name: string
  /** The public part of the token, by which it is looked up. */
  public_id: string
  /** SHA-256 of the whole token, hexadecimal. */
  hash: string
  /** Names of scopes with a space between them. */
  scopes: string
  expires_at: number | null
  revoked_at: number | null
  created_at: number
  last_used_at: number | null
}

/** A proxy key. Its secrets are rows of their own, because two work while one replaces the other. */
export interface KeyRow {
  id: string
  account_id: string
  name: string
  /** Public id of the newest secret, for display. */
  public_id: string
  /** JSON list of names and globs, or null: every model. */
  models: string | null
  rpm: number | null
  /** JSON list of origins, or null: from anywhere. */
  allowed_origins: string | null
  expires_at: number | null
  disabled: number
  revoked_at: number | null
  created_at: number
  /** Higher than that of every key changed before: who knows the keys up to a revision asks for those above it. */
  revision: number
}

/** One secret of a proxy key: only its SHA-256 is stored. */
export interface KeySecretRow {
  public_id: string
  key_id: string
  hash: string
  /** When a secret that was rotated away stops working; null while it is the newest. */
  expires_at: number | null
}

/** A process that admits requests. */
export interface InstanceRow {
  id: number
  /** Which boot of which machine its monotonic clock counts from. */
  boot: string
  host: string
  pid: number
  started_at: number
  /** Last sign of life, by the wall clock and by the monotonic one (milliseconds since that boot). */
  seen_at: number
  seen_mono: number
}

/** The ledger: one row for each request that was let through. */
export interface RequestRow {
  /** The order of admission. */
  seq: Generated<number>
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
  state: 'reserved' | 'settled' | 'aborted' | 'unknown'
  created_at: number
  /** Who admitted it, and when by that machine's monotonic clock, in microseconds. */
  instance: number
  mono: number
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
  /** Of them: answered 400 and above or not at all; left by the caller; cut off with the process; whose tokens nobody said. */
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

/** Every table by its name. */
export interface Database {
  keys: KeyRow
  key_secrets: KeySecretRow
  instances: InstanceRow
  requests: RequestRow
  usage_hours: UsageHourRow
  accounts: AccountRow
  tokens: TokenRow
}
