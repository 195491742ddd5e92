// Rows: proxy keys, and the sockets that they have opened. See schema.ts.
import type { Generated } from 'kysely'

/**
 * A proxy key. Its secrets are rows of their own, because two work while one replaces the other.
 */
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
  /**
   * Which stored objects of a provider the key may name: those it made, or all in the provider's
   * account.
   */
  objects: 'own' | 'upstream'
  /** JSON list of provider ids, or null: every provider. */
  providers: string | null
  read_only: number
  expires_at: number | null
  disabled: number
  revoked_at: number | null
  /** Since when it is in no list any more; its name is for reports. */
  purged_at: number | null
  created_at: number
  /** The key that this one narrows, and counts under; null for a key of its own. */
  parent_id: string | null
  /** Public id of the parent's secret that it ends with; null for a key of its own. */
  parent_secret: string | null
  /** The person a child key was made for, as given; recorded with its requests. */
  end_user: string | null
  /**
   * Higher than that of every key changed before: who knows the keys up to a revision asks for
   * those above it.
   */
  revision: number
}

/** A provider's object that an administrator lets a key read and use. */
export interface SharedObjectRow {
  id: string
  key_id: string
  provider: string
  kind: string
  object_id: string
  created_at: number
}

/** One secret of a proxy key: only its SHA-256 is stored. */
export interface KeySecretRow {
  public_id: string
  key_id: string
  hash: string
  /** When a secret that was rotated away stops working; null while it is the newest. */
  expires_at: number | null
}

/** An open WebSocket through the proxy, as last written by its process. */
export interface OpenSocketRow {
  id: string
  instance: string
  account_id: string
  key_id: string
  /** The child key that opened it; null where the key itself did. */
  child_id: string | null
  end_user: string | null
  provider: string
  endpoint: string
  opened_at: number
  /** As the session has named it last. */
  model: string | null
  /** Its settled rows in the ledger, and their usage. */
  requests: number
  tokens_in: number | null
  tokens_out: number | null
  bytes_in: number
  bytes_out: number
  /** 1 where an operator wants it to end. */
  ending: Generated<number>
}
