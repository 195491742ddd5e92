// What is said of a document beside its bytes: the headers that it has, from a request and from a
// job.
import type { DocumentFormat } from './upload/receive-upload.ts'

/** TABLE of the documents' content types. */
export const CONTENT_TYPES = {
  markdown: 'text/markdown; charset=utf-8',
  json: 'application/json',
} as const satisfies Record<DocumentFormat, string>

/** TABLE of the documents' file extensions, by content type. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  [CONTENT_TYPES.markdown]: '.md',
  [CONTENT_TYPES.json]: '.json',
}

/** What went wrong in a conversion that has a document all the same. */
export interface ConversionIssues {
  readonly warnings: number
  /** Pages that could not be converted. */
  readonly failedPages: number
}

/** What a row says of them; null where nobody counted, as before there were such columns. */
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
  /** The name of the file that it was made from. */
  readonly fileName: string
  /** Null where nobody counted. */
  readonly issues: ConversionIssues | null
}

/** The headers of a document's answers, whatever part of it they carry. */
export function documentHeaders({
  contentType,
  fileName,
  issues,
}: DocumentInfo): Record<string, string> {
  return {
    'content-type': contentType,
    'content-disposition': contentDisposition(fileName, contentType),
    vary: 'Accept-Encoding',
    ...(issues && {
      'x-tollmark-warnings': String(issues.warnings),
      'x-tollmark-failed-pages': String(issues.failedPages),
    }),
  }
}

/** Characters of a document's name. File systems take 255 bytes. */
const MAX_NAME_CHARS = 120

/**
 * The header that names a document (RFC 6266), with RFC 8187's form where a name is not plain
 * ASCII.
 */
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
