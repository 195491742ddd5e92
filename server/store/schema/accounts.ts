// Rows: accounts, and what signs in to them. See schema.ts.

/** A person or a team: owns tokens, quota, jobs and keys. */
export interface AccountRow {
  id: string
  name: string
  email: string | null
  plan: string
  role: 'admin' | 'member'
  created_at: number
  disabled: number
  /**
   * When it was deleted: it is disabled then, and its row stays for what refers to it. Left out of
   * a new row.
   */
  deleted_at?: number | null | undefined
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

/**
 * The password of an account, for the dashboard: argon2id in the form of PHC. In a table of its
 * own, so that it is not read by accident.
 */
export interface PasswordRow {
  account_id: string
  hash: string
}

/** The link by which an account gets a new password. Only the SHA-256 of its token is stored. */
export interface PasswordResetRow {
  account_id: string
  public_id: string
  hash: string
  created_at: number
  expires_at: number
}

/** A browser that is signed in. The cookie itself is not stored, only its SHA-256. */
export interface SessionRow {
  /** The public part of the cookie, by which it is looked up. */
  public_id: string
  hash: string
  account_id: string
  created_at: number
  expires_at: number
}

/** Failed and pending sign-ins with one e-mail or from one address. */
export interface AttemptRow {
  /** `email:…` or `address:…`. */
  subject: string
  failures: number
  /** No further attempt before this moment. */
  blocked_until: number
  /** When all is forgotten. */
  expires_at: number
}

/** A link that makes an account, once. Only the SHA-256 of its token is stored. */
export interface InvitationRow {
  id: string
  public_id: string
  hash: string
  /** The person it is meant for; null if not given. */
  email: string | null
  plan: string
  created_at: number
  expires_at: number
  /** The account that was made with it. */
  account_id: string | null
}
