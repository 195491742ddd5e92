// Headers of a converted document, for a request and for a job's result.
import type { Certificate } from '@tollmark/notion-markdown/archive'
import type { DocumentFormat, UploadOptions } from './upload/upload-options.ts'

/** TABLE of the documents' content types. */
const CONTENT_TYPES = {
  markdown: 'text/markdown; charset=utf-8',
  json: 'application/json',
  // JSON Lines has no registered type; this is the one that its site and OpenAPI 3.2 name.
  chunks: 'application/jsonl',
} as const satisfies Record<DocumentFormat, string>

/** The content type of a folder of pages. */
export const PAGES_TYPE = 'application/zip'

/** The content type of what a conversion makes. */
export function contentTypeOf({
  format,
  layout,
}: Pick<UploadOptions, 'format' | 'layout'>): string {
  return layout === 'pages' ? PAGES_TYPE : CONTENT_TYPES[format]
}

/** TABLE of the documents' file extensions, by content type. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  [CONTENT_TYPES.markdown]: '.md',
  [CONTENT_TYPES.json]: '.json',
  [CONTENT_TYPES.chunks]: '.jsonl',
  [PAGES_TYPE]: '.zip',
}

/** What went wrong in a conversion that still produced a document. */
export interface ConversionIssues {
  readonly warnings: number
  /** Pages that could not be converted. */
  readonly failedPages: number
}

/** Reads the issues of a row; null for rows written before they were counted. */
export function issuesFromRow({
  warnings,
  failed_pages: failedPages,
}: {
  warnings: number | null
  failed_pages: number | null
}): ConversionIssues | null {
  return warnings === null || failedPages === null ? null : { warnings, failedPages }
}

/** A document, without its bytes. */
export interface DocumentInfo {
  readonly contentType: string
  /** The name of the uploaded file. */
  readonly fileName: string
  /** Null if they were not counted. */
  readonly issues: ConversionIssues | null
  /** What a certificate has found, of a document that has just been made. */
  readonly certified?: CertificateSummary
}

/** A certificate in a line. */
export interface CertificateSummary {
  readonly words: number
  readonly tables: number
  readonly differences: number
}

/** Sums a certificate up. */
export const summaryOf = ({ in: kept, differences }: Certificate): CertificateSummary => ({
  words: kept.words,
  tables: kept.blocks.tables,
  differences: differences.length,
})

/** What a document's bytes depend on. */
export const VARY = 'Accept-Encoding'

/** The headers of every response with a document, whole or in ranges. */
export function documentHeaders({
  contentType,
  fileName,
  issues,
  certified,
}: DocumentInfo): Record<string, string> {
  return {
    'content-type': contentType,
    'content-disposition': contentDisposition(fileName, contentType),
    vary: VARY,
    ...(issues && {
      'x-tollmark-warnings': String(issues.warnings),
      'x-tollmark-failed-pages': String(issues.failedPages),
    }),
    // A dictionary (RFC 9651).
    ...(certified && {
      'x-tollmark-certificate': `words=${certified.words}, tables=${certified.tables}, differences=${certified.differences}`,
    }),
  }
}

/** Longest name in characters; file systems allow 255 bytes. */
const MAX_NAME_CHARS = 120

/** Content-Disposition (RFC 6266), with the RFC 8187 form for names that are not plain ASCII. */
function contentDisposition(fileName: string, contentType: string): string {
  const base = fileName
    .toWellFormed()
    .replace(/^.*[\\/]/s, '')
    .replace(/\.(?:zip|html?)$/i, '')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '')
    .trim()
  const name =
    ([...base].slice(0, MAX_NAME_CHARS).join('') || 'document') + (EXTENSIONS[contentType] ?? '')
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_')
  const plain = `attachment; filename="${ascii}"`
  return ascii === name ? plain : `${plain}; filename*=UTF-8''${encodeExtValue(name)}`
}

/** Percent-encodes all but the `attr-char` of RFC 8187, section 3.2.1. */
function encodeExtValue(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
