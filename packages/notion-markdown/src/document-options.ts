// What a document contains, and in which format.

/** The format of the document, and its other contents. */
export interface DocumentOptions {
  format: 'markdown' | 'json' | 'chunks'
  includeMetadata: boolean
  /** Whether JSON has a source map. */
  sourceMap?: boolean
  /** Whether JSON has the certificate, if there is one. */
  showCertificate?: boolean
  /** When the file was uploaded: the export's time if nothing better is known. */
  uploadedAt: Date
}

/** Whether this document needs the databases of pages as data. */
export const hasTables = ({ format }: DocumentOptions): boolean => format === 'json'

/** Whether pages must be converted with marks for this document. */
export function isMarkedFor({ format, sourceMap }: DocumentOptions): boolean {
  return format === 'chunks' || sourceMap === true
}
