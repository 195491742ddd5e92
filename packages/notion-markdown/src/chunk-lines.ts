// The document as chunks: one line of JSON for each.
import { CHUNK_TOKENS, chunkPage } from './chunks.ts'
import type { DocumentPage, ReadResolved } from './document-pages.ts'

/** The nearest pages above a page that its chunks name: a chain of pages must not grow squared. */
const MAX_PARENTS = 100

/** A chunk, in its line of JSON. */
export interface Chunk {
  text: string
  /** The headings above it, the page's title first. */
  heading_path: string[]
  /** 32 hex digits; null if the page has none. */
  page_id: string | null
  /** The ids of the pages above the page, the outermost first. */
  parent_ids: string[]
  /** The slug of its nearest heading, unique in the whole document. */
  anchor: string
  source_url: string | null
  /** The ids of its blocks, in order. */
  block_ids: string[]
  tokens_estimated: number
  /** The lines of its neighbors in the same page, counted from 0. */
  prev: number | null
  next: number | null
}

/** The lines of a document's chunks, page by page. */
export async function* chunkLines(
  document: readonly DocumentPage[],
  read: ReadResolved,
): AsyncGenerator<string> {
  const placed = new Map(document.map((page) => [page.summary, page]))
  let first = 0
  for (const page of document) {
    const parents: string[] = []
    let { parent: above } = page
    for (let i = 0; above !== null && i < MAX_PARENTS; i++) {
      if (above.id !== null) parents.unshift(above.id)
      above = placed.get(above)?.parent ?? null
    }
    const chunks = chunkPage(await read(page), page.summary.outline, page.slugs, CHUNK_TOKENS)
    const lines = chunks.map(({ text, headings, anchor, blocks, tokens }, i): Chunk => ({
      text,
      heading_path: headings,
      page_id: page.summary.id,
      parent_ids: parents,
      anchor,
      source_url: page.sourceUrl,
      block_ids: blocks,
      tokens_estimated: tokens,
      prev: i === 0 ? null : first + i - 1,
      next: i === chunks.length - 1 ? null : first + i + 1,
    }))
    first += lines.length
    yield lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }
}
