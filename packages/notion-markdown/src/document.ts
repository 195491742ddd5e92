// Writes pages as one document, Markdown or JSON, a piece at a time: only one page's text is in
// memory.
import { itemAt } from './item-at.ts'
import { Anchors, resolveTargets } from './anchors.ts'
import { arrangePages } from './arrangement.ts'
import { chunkLines } from './chunk-lines.ts'
import type { PageSummary, PageTexts } from './converted-page.ts'
import type { KnownPages } from './databases.ts'
import { writeJson, type TypedPages } from './document-json.ts'
import {
  certified,
  hashed,
  joined,
  rangesOf,
  type CertificateListener,
  type DocumentPage,
  type ReadResolved,
} from './document-pages.ts'
import { frontMatter, type PageMetadata } from './frontmatter.ts'
import { keyOfTarget, pageTarget } from './links.ts'
import { writeMarkdown } from './markdown.ts'
import { utf8Length, type SourceRange } from './source-map.ts'
import { takeMarks } from './source-marks.ts'
import { writeSitemap } from './sitemap.ts'
import { isMarkedFor, type DocumentOptions } from './document-options.ts'

/** Callbacks while a document is written. */
export interface DocumentListener {
  /** Receives the source map, page by page, after the document's last piece. */
  writeRanges?: (ranges: readonly SourceRange[]) => void | Promise<void>
  certificate?: CertificateListener
}

/**
 * Joins pages into one document.
 *
 * @param texts the pages, in any order
 * @param keyOf the key under which links name the page at a path
 * @returns the document, in pieces
 */
export async function* joinDocument(
  texts: PageTexts,
  keyOf: (path: string) => string,
  options: DocumentOptions,
  { writeRanges, certificate }: DocumentListener = {},
): AsyncGenerator<string> {
  const { summaries: pages, sitemap } = texts
  const { order, nameOf, indexOf } = arrangePages(pages, keyOf, sitemap)
  const anchors = new Anchors()
  const document = order.map(({ page, parent }): DocumentPage => {
    const summary = itemAt(pages, page)
    return {
      summary,
      index: page,
      parent: pages[parent] ?? null,
      slugs: anchors.ofPage(summary.outline),
      exportedAt: (summary.exportedAt ?? options.uploadedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
      sourceUrl: summary.id === null ? null : `https://www.notion.so/${summary.id}`,
    }
  })
  const slugOf = new Map(
    document.flatMap(({ summary, slugs }) =>
      [summary.path, ...summary.aliases].map((at) => [keyOf(at), slugs[0] ?? '']),
    ),
  )
  const isMarked = isMarkedFor(options) || writeRanges !== undefined
  const textOf = (page: DocumentPage): string | Promise<string> =>
    page.summary.sitemap
      ? writeMarkdown(
          writeSitemap(page.summary.sitemap, nameOf, pageTarget),
          isMarked ? { ids: new Map(), page: null } : undefined,
        ).markdown
      : texts.text(page.index)
  const read: ReadResolved = async (page) => {
    const converted = await textOf(page)
    const { outline } = page.summary
    const resolved = resolveTargets(converted, outline, page.slugs, (key) => slugOf.get(key))
    return { converted, ...takeMarks(resolved) }
  }
  const front =
    options.includeMetadata && options.format === 'markdown'
      ? frontMatter(metadataOf(itemAt(document, 0)), document.map(metadataOf))
      : ''
  const typed: TypedPages = {
    tables: (page) => texts.tables(page.index),
    known: knownPages(pages, indexOf),
  }
  if (options.format === 'json') yield* writeJson(document, read, typed, options, certificate)
  else if (options.format === 'chunks')
    yield* hashed(chunkLines(document, certified(read, certificate)), certificate)
  else yield* hashed(markdown(front, document, certified(read, certificate)), certificate)
  if (!writeRanges) return
  for await (const ranges of rangesOf(document, read, utf8Length(front))) await writeRanges(ranges)
}

async function* markdown(
  front: string,
  document: readonly DocumentPage[],
  read: ReadResolved,
): AsyncGenerator<string> {
  if (front !== '') yield front
  yield* joined(document, read)
}

function metadataOf({ summary, exportedAt, sourceUrl, slugs }: DocumentPage): PageMetadata {
  return { title: summary.title, exportedAt, sourceUrl, anchor: slugs[0] ?? '' }
}

/** The targets of addresses within the document, and pages by id. */
function knownPages(
  pages: readonly PageSummary[],
  indexOf: (key: string) => number | undefined,
): KnownPages {
  const byId = new Map(pages.flatMap((page) => (page.id === null ? [] : [[page.id, page]])))
  return {
    idOf(url) {
      const key = keyOfTarget(url)
      const index = key === null ? undefined : indexOf(key)
      return index === undefined ? null : itemAt(pages, index).id
    },
    propertiesOf: (id) => byId.get(id)?.values,
  }
}
