// Idempotency-Key: reads it, identifies the content sent with it, and describes what is stored for
// it.
import { createHash } from 'node:crypto'
import { Problem } from '../common/errors.ts'
import type { ConversionIssues } from './document-headers.ts'
import type { Upload } from './upload/receive-upload.ts'
import type { UploadOptions } from './upload/upload-options.ts'

const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** A document stored for an Idempotency-Key. */
export interface StoredDocument {
  readonly contentType: string
  readonly blobId: string
  /** Null for rows written before issues were counted. */
  readonly issues: ConversionIssues | null
}

/** The response stored for an Idempotency-Key: a document, or an accepted job. */
export type StoredResponse = StoredDocument | { readonly jobId: string }

/**
 * Reads the Idempotency-Key, if there is one. Quotes around it, as in the IETF draft, are part of
 * the key.
 *
 * @throws Problem `invalid_field`
 */
export function readKey(header: string | undefined): string | undefined {
  if (header === undefined || IDEMPOTENCY_KEY.test(header)) return header
  throw new Problem(
    'invalid_field',
    'The Idempotency-Key must be 1 to 255 printable ASCII characters.',
  )
}

/**
 * Hashes what makes two uploads equal: SHA-256 over the file's own SHA-256, its name (which may
 * become the title) and the options.
 */
export function fingerprint({
  sha256,
  fileName,
  format,
  includeMetadata,
  sourceMap,
  layout,
  flavor,
  certificate,
}: Pick<Upload, 'sha256' | 'fileName' | keyof UploadOptions>): string {
  // Newer options count only if set, so that the fingerprints of older requests stay the same.
  const later = [
    ...(sourceMap ? ['source_map'] : []),
    ...(layout === 'pages' ? ['pages', flavor ?? 'gfm'] : []),
    ...(certificate === undefined ? [] : [`certificate=${certificate}`]),
  ]
  return createHash('sha256')
    .update(JSON.stringify([sha256, fileName, format, includeMetadata, ...later]))
    .digest('hex')
}

/** The columns of an `idempotency` row without a response. */
export const NO_RESPONSE_COLUMNS = {
  content_type: null,
  blob_id: null,
  job_id: null,
  warnings: null,
  failed_pages: null,
} as const

/** The columns of an `idempotency` row for a document. */
export function responseColumns({ contentType, blobId, issues }: StoredDocument) {
  return {
    content_type: contentType,
    blob_id: blobId,
    warnings: issues?.warnings ?? null,
    failed_pages: issues?.failedPages ?? null,
  }
}
