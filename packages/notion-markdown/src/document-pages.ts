// Writes the pages of a document, one after another, and notifies its observers.
import type { Certificate } from './certificate/certificate.ts'
import type { PageSummary } from './converted-page.ts'
import { sourceRanges, utf8Length, type SourceRange } from './source-map.ts'
import type { SourcePart } from './source-marks.ts'

/** A page's text, and the sources of its parts if requested. */
export interface ResolvedPage {
  /** Its text with its links still marked. */
  converted: string
  markdown: string
  parts: readonly SourcePart[]
}

/** Creates a document's certificate while it is written. */
export interface CertificateListener {
  /** @param converted the Markdown with its links still marked */
  page(summary: PageSummary, converted: string, markdown: string): void
  /** A piece of the text that the certificate hashes. */
  output(piece: string): void
  finish(): Promise<Certificate>
}

/** Reads a page of the document, its links resolved. */
export type ReadResolved = (page: DocumentPage) => Promise<ResolvedPage>

/** A page of the document: its position, and the anchors of its headings. */
export interface DocumentPage {
  summary: PageSummary
  index: number
  parent: PageSummary | null
  slugs: string[]
  exportedAt: string
  sourceUrl: string | null
}

/** Reads pages, and reports them to the certificate. */
export function certified(read: ReadResolved, certificate?: CertificateListener): ReadResolved {
  if (!certificate) return read
  return async (page) => {
    const resolved = await read(page)
    certificate.page(page.summary, resolved.converted, resolved.markdown)
    return resolved
  }
}

/** Passes pieces to the certificate. */
export async function* hashed(
  pieces: AsyncGenerator<string>,
  certificate?: CertificateListener,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    certificate?.output(piece)
    yield piece
  }
}

/** The separator of two pages. */
const RULE = '\n---\n\n'

/** The source map of each page. @param base the offset of the first, in bytes */
export async function* rangesOf(
  document: readonly DocumentPage[],
  read: ReadResolved,
  base: number,
): AsyncGenerator<SourceRange[]> {
  let at = base
  for (const page of document) {
    const resolved = await read(page)
    yield sourceRanges(resolved, page.summary.id, at)
    at += utf8Length(resolved.markdown) + RULE.length
  }
}

/** All pages, separated by rules. */
export async function* joined(
  document: readonly DocumentPage[],
  read: ReadResolved,
): AsyncGenerator<string> {
  for (const [i, page] of document.entries()) {
    const { markdown } = await read(page)
    yield i === 0 ? markdown : RULE + markdown
  }
}
