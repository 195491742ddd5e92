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

/** Every table by its name. */
export interface Database {
  accounts: AccountRow
  tokens: TokenRow
}
