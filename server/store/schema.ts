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

/** A running process that works on this store. What it holds for its requests goes when its row goes. */
export interface InstanceRow {
  id: string
  host: string
  pid: number
  seen_at: number
}

/** Conversions that an account has used up on one UTC day. */
export interface QuotaDayRow {
  account_id: string
  /** Days since 1970, UTC. */
  day: number
  used: number
}

/** A conversion that has been let in and has not been answered yet. It counts as used while its instance lives. */
export interface ReservationRow {
  id: string
  account_id: string
  day: number
  instance_id: string
}

/** Stored bytes. The row is there before the bytes are, so that what a killed process left behind is found by its row. */
export interface BlobRow {
  id: string
  expires_at: number
}

/** An Idempotency-Key: under way while `instance_id` is set, answered when `blob_id` is. */
export interface IdempotencyRow {
  account_id: string
  key: string
  /** SHA-256 of the content and the options. */
  fingerprint: string
  instance_id: string | null
  content_type: string | null
  blob_id: string | null
  expires_at: number
}

/** Every table by its name. */
export interface Database {
  accounts: AccountRow
  tokens: TokenRow
  instances: InstanceRow
  quota_days: QuotaDayRow
  reservations: ReservationRow
  blobs: BlobRow
  idempotency: IdempotencyRow
}
