// Rows: proxy keys and the sockets that they have opened. See schema.ts.
import type { Generated } from 'kysely'

/** A proxy key. Its secrets are separate rows, because two are valid during a rotation. */
export interface KeyRow {
  id: string
  account_id: string
  name: string
  /** Public id of the newest secret, for display. */
  public_id: string
  /** JSON list of names and globs, or null: every model. */
  models: string | null
  rpm: number | null
  /** JSON list of origins, or null: any origin. */
  allowed_origins: string | null
  /**
   * Which stored objects of a provider the key may name: those it created, or all in the provider's
   * account.
   */
  objects: 'own' | 'upstream'
  /** JSON list of provider ids, or null: every provider. */
  providers: string | null
  read_only: number
  expires_at: number | null
  disabled: number
  revoked_at: number | null
  /** When it was purged: it is in no list, and its name remains for reports. */
  purged_at: number | null
  created_at: number
  /** The parent that this key narrows and counts under; null unless it is a child key. */
  parent_id: string | null
  /**
   * Public id of the parent's secret with which it was created: it stops working when that secret
   * does. Null unless it is a child key.
   */
  parent_secret: string | null
  /** The person a child key was created for, as given; recorded with its requests. */
  end_user: string | null
  /**
   * Higher than that of every key changed before: a cache that has read up to a revision reads only
   * higher ones.
   */
  revision: number
}

/** A provider's object that an administrator has shared with a key. */
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
  /** When a replaced secret stops working; null while it is the newest. */
  expires_at: number | null
}

/** An open WebSocket through the proxy, as last written by its process. */
export interface OpenSocketRow {
  id: string
  instance: string
  account_id: string
  key_id: string
  /** The child key that opened it; null if the key itself did. */
  child_id: string | null
  end_user: string | null
  provider: string
  endpoint: string
  opened_at: number
  /** The model that the session named last. */
  model: string | null
  /** Number of its settled rows in the ledger, and their usage. */
  requests: number
  tokens_in: number | null
  tokens_out: number | null
  bytes_in: number
  bytes_out: number
  /** 1 if an operator has asked to close it. */
  ending: Generated<number>
}
