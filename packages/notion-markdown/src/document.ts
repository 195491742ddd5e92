// Pages → one document, Markdown or JSON, a piece at a time: only one page's text is in memory.
import { Anchors, resolveTargets } from './anchors.ts'
import type { Certificate } from './certificate/certificate.ts'
import type { PageReading } from './certificate/reading.ts'
import { chunkLines } from './chunk-lines.ts'
import { frontMatter, type PageMetadata } from './frontmatter.ts'
import { writeMarkdown, type Outline } from './markdown.ts'
import { Links, pageTarget, type Archive, type Asset, type Warning } from './links.ts'
import { arrangePages } from './arrangement.ts'
import type { Strength } from './order.ts'
import { readDatabasePage, readPage } from './page.ts'
import type { PropertyValue } from './property-values.ts'
import { sourceRanges, utf8Length, type SourceRange } from './source-map.ts'
import { takeMarks, type BlockIds, type SourcePart } from './source-marks.ts'
import { readSitemap, titleOfSitemap, writeSitemap, type Sitemap } from './sitemap.ts'

/**
 * A converted page, all but its text: what the document needs to know of it before it can be
 * joined.
 */
export interface PageSummary {
  path: string
  id: string | null
  title: string
  icon: string | null
  properties: Record<string, string>
  /** The same by what they are. */
  values: Record<string, PropertyValue>
  assets: Asset[]
  warnings: Warning[]
  /** Keys of pages in the order of their first links. */
  links: string[]
  /** Keys of those that it shows as its own, in their order, and how surely. */
  claims: [page: string, strength: Strength][]
  /** The ids of the databases that it shows from their CSV. */
  databases: string[]
  /** Why it could not be converted. */
  failure?: Failure
  /** Paths at which nothing stands but what this page shows. */
  aliases: string[]
  /**
   * Whether it is a database that the archive holds only as CSV: it is left out where another page
   * shows it.
   */
  isDatabase?: true
  /**
   * What it lists, where it is the sitemap. Its Markdown is made when the names of all pages are
   * known.
   */
  sitemap?: Sitemap
  outline: Outline[]
  exportedAt: Date | null
  /**
   * What a reader that shares no code with this one finds in the page, where a certificate is wanted;
   * null where it cannot be read.
   */
  reading?: PageReading | null
}

/**
 * A converted page: its summary, and its Markdown, in which links to places are still marked
 * (anchors.ts).
 */
export interface ConvertedPage {
  summary: PageSummary
  markdown: string
}

/**
 * Why a page could not be converted: the fault and its facts, for an error; the sentence, for
 * whoever reads the document.
 */
export interface Failure {
  fault: string
  facts: object
  detail: string
}

/** The format of the document, and what goes into it besides the pages. */
export interface DocumentOptions {
  format: 'markdown' | 'json' | 'chunks'
  includeMetadata: boolean
  /** Whether JSON has a source map. */
  sourceMap?: boolean
  /** Whether JSON has the certificate, where there is one. */
  showCertificate?: boolean
  /** When the file was uploaded: the export's time where nothing better is known. */
  uploadedAt: Date
}

/**
 * Converts one page of an archive, or a page that came alone.
 *
 * @param exportedAt the time of the archive's entry
 * @param isMarked whether the text says which block each part of it comes from (source-marks.ts)
 */
export function convertPage(
  html: string,
  path: string,
  exportedAt: Date | null,
  archive?: Archive,
  isMarked = false,
): ConvertedPage {
  const ids: BlockIds | null = isMarked ? new Map() : null
  const { tree, date, ...page } = readPage(html, path, archive, ids)
  const { markdown, outline } = writeMarkdown(tree, ids ? { ids, page: page.id } : undefined)
  return {
    summary: { path, ...page, aliases: [], outline, exportedAt: exportedAt ?? date },
    markdown,
  }
}

/** Converts a database that the archive holds only as CSV. */
export function convertDatabase(
  path: string,
  id: string,
  exportedAt: Date | null,
  archive: Archive,
  isMarked = false,
): ConvertedPage {
  const { tree, date: _, ...page } = readDatabasePage(path, id, archive)
  const { markdown, outline } = writeMarkdown(
    tree,
    isMarked ? { ids: new Map(), page: id } : undefined,
  )
  return {
    summary: { path, ...page, aliases: [], isDatabase: true, outline, exportedAt },
    markdown,
  }
}

/** A page that cannot be converted, in its place: its heading, and one line that says why. */
export function failedPage(
  path: string,
  exportedAt: Date | null,
  failure: Failure,
  isMarked = false,
): ConvertedPage {
  const { id, title, tree } = readPage('', path.replace(/\.csv$/i, '.html'))
  tree.children.push({
    type: 'paragraph',
    children: [
      {
        type: 'emphasis',
        children: [{ type: 'text', value: `This page could not be converted: ${failure.detail}` }],
      },
    ],
  })
  const { markdown, outline } = writeMarkdown(
    tree,
    isMarked ? { ids: new Map(), page: id } : undefined,
  )
  const warnings: Warning[] = [{ code: 'page_failed', detail: failure.detail }]
  const summary: PageSummary = {
    path,
    id,
    title,
    icon: null,
    properties: {},
    values: {},
    assets: [],
    warnings,
    links: [],
    claims: [],
    databases: [],
    aliases: [],
    failure,
    outline,
    exportedAt,
  }
  return { summary, markdown }
}

/** Reads the sitemap of an archive. */
export function convertSitemap(
  html: string,
  path: string,
  exportedAt: Date | null,
  archive: Archive,
): ConvertedPage {
  const links = new Links(path, archive)
  const sitemap = readSitemap(html, links)
  const { assets, warnings } = links
  const title = titleOfSitemap(sitemap)
  const summary: PageSummary = {
    path,
    id: null,
    title,
    icon: null,
    properties: {},
    values: {},
    assets,
    warnings,
    links: [],
    claims: [],
    databases: [],
    aliases: [],
    sitemap,
    outline: [{ id: null, text: title }],
    exportedAt,
  }
  return { summary, markdown: '' }
}

/** A page's text, and what its parts come from where that is wanted. */
export interface ResolvedPage {
  markdown: string
  parts: readonly SourcePart[]
}

/** What is told of a document while it is written. */
export interface DocumentListener {
  /** Takes the source map, page by page, after the document's last piece. */
  writeRanges?: (ranges: readonly SourceRange[]) => void | Promise<void>
  certificate?: CertificateListener
}

/** Makes a document's certificate while it is written. */
export interface CertificateListener {
  page(summary: PageSummary, markdown: string): void
  /** A piece of what the certificate's hash is of. */
  output(piece: string): void
  finish(): Certificate
}

/** Reads a page of the document, its links resolved. */
export type ReadResolved = (page: DocumentPage) => Promise<ResolvedPage>

/** A page of the document: where it stands, and what its headings are called there. */
export interface DocumentPage {
  summary: PageSummary
  index: number
  parent: PageSummary | null
  slugs: string[]
  exportedAt: string
  sourceUrl: string | null
}

/**
 * Joins pages into one document.
 *
 * @param pages the summaries, in any order
 * @param keyOf the key under which links name the page at a path
 * @param sitemap the index of the sitemap, −1 if there is none
 * @param text the Markdown of the page with this index
 * @returns the document, in pieces
 */
export async function* joinDocument(
  pages: readonly PageSummary[],
  keyOf: (path: string) => string,
  sitemap: number,
  text: (index: number) => string | Promise<string>,
  options: DocumentOptions,
  { writeRanges, certificate }: DocumentListener = {},
): AsyncGenerator<string> {
  const { order, nameOf } = arrangePages(pages, keyOf, sitemap)
  const anchors = new Anchors()
  const document = order.map(({ page, parent }): DocumentPage => {
    const summary = pages[page]!
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
      [summary.path, ...summary.aliases].map((at) => [keyOf(at), slugs[0]!]),
    ),
  )
  const isMarked = isMarkedFor(options) || writeRanges !== undefined
  const textOf = (page: DocumentPage): string | Promise<string> =>
    page.summary.sitemap
      ? writeMarkdown(
          writeSitemap(page.summary.sitemap, nameOf, pageTarget),
          isMarked ? { ids: new Map(), page: null } : undefined,
        ).markdown
      : text(page.index)
  const read: ReadResolved = async (page) =>
    takeMarks(
      resolveTargets(await textOf(page), page.summary.outline, page.slugs, (key) =>
        slugOf.get(key),
      ),
    )
  const front =
    options.includeMetadata && options.format === 'markdown'
      ? frontMatter(metadataOf(document[0]!), document.map(metadataOf))
      : ''
  if (options.format === 'json') yield* json(document, read, options, certificate)
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

/** Reads pages, and tells the certificate of them. */
function certified(read: ReadResolved, certificate?: CertificateListener): ReadResolved {
  if (!certificate) return read
  return async (page) => {
    const resolved = await read(page)
    certificate.page(page.summary, resolved.markdown)
    return resolved
  }
}

async function* hashed(
  pieces: AsyncGenerator<string>,
  certificate?: CertificateListener,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    certificate?.output(piece)
    yield piece
  }
}

/** Whether pages must be converted with marks for this document. */
export function isMarkedFor({ format, sourceMap }: DocumentOptions): boolean {
  return format === 'chunks' || sourceMap === true
}

/** What stands between two pages. */
const RULE = '\n---\n\n'

/** The source map of each page. @param base where the first begins, in bytes */
async function* rangesOf(
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

function metadataOf({ summary, exportedAt, sourceUrl, slugs }: DocumentPage): PageMetadata {
  return { title: summary.title, exportedAt, sourceUrl, anchor: slugs[0]! }
}

/** All pages, parted by rules. */
async function* joined(
  document: readonly DocumentPage[],
  read: ReadResolved,
): AsyncGenerator<string> {
  for (const [i, page] of document.entries()) {
    const { markdown } = await read(page)
    yield i === 0 ? markdown : RULE + markdown
  }
}

/** The workspace's field, where the export says which it is. */
function workspaceOf([first]: readonly DocumentPage[]): string {
  return first?.summary.sitemap
    ? `"workspace":${JSON.stringify(first.summary.sitemap.workspace)},`
    : ''
}

async function* json(
  document: readonly DocumentPage[],
  read: ReadResolved,
  options: DocumentOptions,
  certificate?: CertificateListener,
): AsyncGenerator<string> {
  yield `{"object":"document","title":${JSON.stringify(document[0]!.summary.title)},${workspaceOf(document)}"markdown":"`
  for await (const piece of hashed(joined(document, certified(read, certificate)), certificate))
    yield JSON.stringify(piece).slice(1, -1)
  yield '","pages":['
  for (const [i, page] of document.entries()) {
    const { summary } = page
    const metadata = options.includeMetadata
      ? { source_url: page.sourceUrl, exported_at: page.exportedAt }
      : {}
    const { path, id, title, icon, properties, assets } = summary
    const value = {
      id,
      parent_id: page.parent?.id ?? null,
      path,
      title,
      icon,
      anchor: page.slugs[0],
      ...metadata,
      properties,
      markdown: (await read(page)).markdown,
      assets,
    }
    yield (i === 0 ? '' : ',') + JSON.stringify(value)
  }
  yield ']'
  if (options.sourceMap) {
    let separator = ',"source_map":['
    for await (const ranges of rangesOf(document, read, 0)) {
      if (ranges.length > 0) yield separator + JSON.stringify(ranges).slice(1, -1)
      if (ranges.length > 0) separator = ','
    }
    yield separator === ',' ? ']' : `${separator}]`
  }
  const issued = certificate?.finish()
  if (issued && options.showCertificate) yield `,"certificate":${JSON.stringify(issued)}`
  const differing = (issued?.differences ?? [])
    .filter(({ kind }) => kind !== 'pages')
    .map(({ page, detail }) => ({
      code: 'content_differs',
      page,
      detail,
    }))
  const warnings = document.flatMap(({ summary }) =>
    summary.warnings.map(({ code, detail, page }) => ({
      code,
      page: page ?? summary.path,
      detail,
    })),
  )
  yield `,"warnings":${JSON.stringify([...warnings, ...differing])}}\n`
}
