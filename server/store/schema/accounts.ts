// Rows: accounts and their sign-ins. See schema.ts.

/** A person or a team that owns tokens, quota, jobs and keys. */
export interface AccountRow {
  id: string
  name: string
  email: string | null
  plan: string
  role: 'admin' | 'member'
  created_at: number
  disabled: number
  /**
   * When it was deleted. A deleted account is disabled, and its row stays because others refer to
   * it. Omitted in a new row.
   */
  deleted_at?: number | null | undefined
}

/** An API token. The token itself is not stored, only its SHA-256. */
export interface TokenRow {
  id: string
  account_id: string
  name: string
  /** The public part of the token, used to look it up. */
  public_id: string
  /** SHA-256 of the whole token, hexadecimal. */
  hash: string
  /** Names of scopes, separated by spaces. */
  scopes: string
  expires_at: number | null
  revoked_at: number | null
  created_at: number
  last_used_at: number | null
}

/**
 * The password of an account, for the dashboard: argon2id in PHC format. In a separate table, so
 * that it is not read by accident.
 */
export interface PasswordRow {
  account_id: string
  hash: string
}

/** The link to reset an account's password. Only the SHA-256 of its token is stored. */
export interface PasswordResetRow {
  account_id: string
  public_id: string
  hash: string
  created_at: number
  expires_at: number
}

/** A signed-in browser. The cookie itself is not stored, only its SHA-256. */
export interface SessionRow {
  /** The public part of the cookie, used to look it up. */
  public_id: string
  hash: string
  account_id: string
  created_at: number
  expires_at: number
}

/** Failed and pending sign-ins with one e-mail address or from one IP address. */
export interface AttemptRow {
  /** `email:…` or `address:…`. */
  subject: string
  failures: number
  /** No further attempt is allowed before this time. */
  blocked_until: number
  /** When the row is reset. */
  expires_at: number
}

/** A link that creates one account. Only the SHA-256 of its token is stored. */
export interface InvitationRow {
  id: string
  public_id: string
  hash: string
  /** The invited person; null if not given. */
  email: string | null
  plan: string
  created_at: number
  expires_at: number
  /** The account that was created with it. */
  account_id: string | null
}
