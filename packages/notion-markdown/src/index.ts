// Notion HTML exports → Markdown. Pure: no file, no clock, no network, no Node.
import { Anchors, resolveTargets } from './anchors.ts'
import { writeMarkdown } from './markdown.ts'
import { readPage, type Page } from './page.ts'

/** What a caller may tell about one exported page. */
export interface PageOptions {
  /** The file's name, used for the title and the id where the page itself has none. */
  fileName?: string
}

/**
 * Converts one page of a Notion HTML export to Markdown (CommonMark + GFM + math), exactly as the
 * API would.
 *
 * @param html the page's text
 * @returns the document: LF, one final newline; the same input gives the same text
 */
export function convertHtml(html: string, options: PageOptions = {}): string {
  const { markdown, outline } = writeMarkdown(parsePage(html, options).tree)
  return resolveTargets(markdown, outline, new Anchors().ofPage(outline), () => undefined)
}

/**
 * Reads one page of a Notion HTML export.
 *
 * @param html the page's text
 * @returns its id, title, icon, properties, assets, warnings and tree (mdast's node names)
 */
export function parsePage(html: string, options: PageOptions = {}): Page {
  return readPage(html, options.fileName ?? '')
}

export { decodeHtml, looksLikeHtml, looksLikeZip } from './decode.ts'
export type { Asset, Warning } from './links.ts'
export type { Page } from './page.ts'
export type * from './tree.ts'
