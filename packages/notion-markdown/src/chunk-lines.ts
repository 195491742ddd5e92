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
  let at = 0
  for (const page of document) {
    const parents: string[] = []
    let { parent: above } = page
    for (let i = 0; above !== null && i < MAX_PARENTS; i++) {
      if (above.id !== null) parents.unshift(above.id)
      above = placed.get(above)?.parent ?? null
    }
    let isFirst = true
    for (const chunk of chunkPage(
      await read(page),
      page.summary.outline,
      page.slugs,
      CHUNK_TOKENS,
    )) {
      const line: Chunk = {
        text: chunk.text,
        heading_path: chunk.headings,
        page_id: page.summary.id,
        parent_ids: parents,
        anchor: chunk.anchor,
        source_url: page.sourceUrl,
        block_ids: chunk.blocks,
        tokens_estimated: chunk.tokens,
        prev: isFirst ? null : at - 1,
        next: chunk.isLast ? null : at + 1,
      }
      yield `${JSON.stringify(line)}\n`
      isFirst = false
      at++
    }
  }
}
