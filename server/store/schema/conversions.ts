// Rows: running processes, conversions and their quota, stored files. See schema.ts.

/** A running process on this store. Rows that belong to its requests are deleted with its row. */
export interface InstanceRow {
  id: string
  host: string
  pid: number
  seen_at: number
  /** `all`, `web` or `worker`; null if an older version wrote it. */
  role: string | null
  /** Ids of the processes that it counts, separated by commas; null before its first count. */
  known: string | null
}

/** Conversions that an account has used on one UTC day. */
export interface QuotaDayRow {
  account_id: string
  /** Days since 1970, UTC. */
  day: number
  used: number
  /** Conversions of this day that failed and were refunded. */
  given_back: number
}

/** An admitted conversion that has not finished. It counts as used while its instance lives. */
export interface ReservationRow {
  id: string
  account_id: string
  day: number
  instance_id: string
}

/**
 * Stored bytes. The row is written before the bytes, so that the leftovers of a killed process can
 * be found.
 */
export interface BlobRow {
  id: string
  expires_at: number
  /** The instance that stores it, until another row takes ownership; then null. */
  instance_id: string | null
}

/** A background conversion. */
export interface JobRow {
  id: string
  account_id: string
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired'
  format: 'markdown' | 'json' | 'chunks'
  include_metadata: number
  source_map: number
  /** The program that its pages are for; null if it makes one document. */
  flavor: 'gfm' | 'obsidian' | 'docusaurus' | null
  /** Whether it is certified: 0 no, 1 yes, 2 also in its JSON. */
  certify: number
  /** As JSON, once it has succeeded. */
  certificate: string | null
  file_name: string
  /** Bytes. */
  file_size: number
  /** The uploaded archive, while it is needed. */
  upload_blob: string | null
  /** The document, while it is kept. */
  result_blob: string | null
  pages_done: number
  pages_total: number | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  /** When the result expires. */
  expires_at: number | null
  error_code: string | null
  error_detail: string | null
  /** The earliest time at which it may be claimed, if no instance has it. */
  claimable_at: number
  /** The instance that claimed it; null after that instance ends. */
  instance_id: string | null
  /** The id of the claim, new each time: a worker with another id has lost the job. */
  claim: string | null
  /** How often it was claimed and not handed back. */
  claims: number
  /** How often its conversion has failed for reasons outside the job. */
  failures: number
  /** Its position in the order of turns; lower numbers come first. */
  turn: number
  /** The UTC day on which it was counted; null: it can no longer be refunded. */
  counted_day: number | null
  /** Daily conversions of its account; null is no limit. */
  quota_limit: number | null
  /**
   * Number of warnings of its document; null before it ends, and for jobs older than this count.
   */
  warnings: number | null
  /** Pages that could not be converted; null in the same cases. */
  failed_pages: number | null
}

/**
 * An Idempotency-Key: pending while `instance_id` is set, answered when `blob_id` (a document) or
 * `job_id` is.
 */
export interface IdempotencyRow {
  account_id: string
  key: string
  /** SHA-256 of the content and the options. */
  fingerprint: string
  instance_id: string | null
  content_type: string | null
  blob_id: string | null
  job_id: string | null
  expires_at: number
  /** Warnings of the document; null for rows older than this count. */
  warnings: number | null
  /** Pages that could not be converted; null in the same cases. */
  failed_pages: number | null
}
