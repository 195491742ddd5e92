// What makes two uploads the same content for an Idempotency-Key.
import { createHash } from 'node:crypto'
import type { Upload } from './upload.ts'

/** SHA-256 over the file's bytes (by their own SHA-256) and the options; the file's name is not content. */
export function fingerprint({ sha256, format, includeMetadata }: Pick<Upload, 'sha256' | 'format' | 'includeMetadata'>): string {
  return createHash('sha256').update(`${sha256}\n${format}\n${includeMetadata}`).digest('hex')
}
