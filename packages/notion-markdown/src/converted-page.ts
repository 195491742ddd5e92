// One converted page: its text, and its data for the document.
import type { DatabaseTable } from './databases.ts'
import { Links, type Archive, type Warning } from './links.ts'
import { writeMarkdown, type Outline } from './markdown.ts'
import { readDatabasePage, readPage, type PageFacts } from './page.ts'
import { readSitemap, titleOfSitemap, type Sitemap } from './sitemap.ts'
import type { BlockIds } from './source-marks.ts'

/** A converted page without its text: the data needed to join pages. */
export interface PageSummary extends PageFacts {
  path: string
  /** Why it could not be converted. */
  failure?: Failure
  /** Paths of files that only this page shows. */
  aliases: string[]
  /**
   * Whether it is a database that is only in the archive's CSV: it is left out if another page
   * shows it.
   */
  isDatabase?: true
  /**
   * Its entries, if it is the sitemap. Its Markdown is written when the names of all pages are
   * known.
   */
  sitemap?: Sitemap
  outline: Outline[]
  exportedAt: Date | null
  /**
   * The readings of the page for its certificate, by readers that share no code with the engine.
   */
  reading?: SummaryReading
}

/** The readings of a page, as JSON, which takes less memory. */
export interface SummaryReading {
  /** Reading of the export: a PageReading. */
  readonly exported: string
  /**
   * Reading of the converted page: a ConvertedMatch; null if it must be read when it is complete.
   */
  readonly match: string | null
}

/**
 * A converted page: its summary, and its Markdown, in which links to places are still marked
 * (anchors.ts).
 */
export interface ConvertedPage {
  summary: PageSummary
  markdown: string
  /** Its databases as data, if requested. */
  tables?: DatabaseTable[]
}

/** What converting a page also gives, besides its text. */
export interface Wanted {
  /** Whether the text has marks for the block of each part (source-marks.ts). */
  readonly isMarked: boolean
  /** Whether databases are also read as data. */
  readonly hasTables: boolean
}

const TEXT_ONLY: Wanted = { isMarked: false, hasTables: false }

/** Converted pages: their summaries, and their Markdown and databases by index. */
export interface PageTexts {
  readonly summaries: readonly PageSummary[]
  /** The index of the sitemap, −1 if there is none. */
  readonly sitemap: number
  text(index: number): string | Promise<string>
  /** Empty if they were not requested. */
  tables(index: number): readonly DatabaseTable[] | Promise<readonly DatabaseTable[]>
}

/**
 * Why a page could not be converted: the fault and its details, for an error; the sentence, for
 * readers of the document.
 */
export interface Failure {
  fault: string
  facts: object
  detail: string
}

/**
 * Converts one page of an archive, or a single page.
 *
 * @param exportedAt the time of the archive's entry
 */
export function convertPage(
  html: string,
  path: string,
  exportedAt: Date | null,
  archive?: Archive,
  { isMarked, hasTables }: Wanted = TEXT_ONLY,
): ConvertedPage {
  const ids: BlockIds | undefined = isMarked ? new Map() : undefined
  const tables: DatabaseTable[] | undefined = hasTables ? [] : undefined
  const { tree, date, ...page } = readPage(html, path, archive, {
    ...(ids && { ids }),
    ...(tables && { tables }),
  })
  const { markdown, outline } = writeMarkdown(
    tree,
    ids ? { ids, page: page.id } : undefined,
    archive?.syntax,
  )
  return {
    summary: { path, ...page, aliases: [], outline, exportedAt: exportedAt ?? date },
    markdown,
    ...(tables && { tables }),
  }
}

/** Converts a database that is only in the archive's CSV. */
export function convertDatabase(
  path: string,
  id: string,
  exportedAt: Date | null,
  archive: Archive,
  { isMarked, hasTables }: Wanted = TEXT_ONLY,
): ConvertedPage {
  const tables: DatabaseTable[] | undefined = hasTables ? [] : undefined
  const { tree, date: _, ...page } = readDatabasePage(path, id, archive, tables && { tables })
  const { markdown, outline } = writeMarkdown(
    tree,
    isMarked ? { ids: new Map(), page: id } : undefined,
    archive.syntax,
  )
  return {
    summary: { path, ...page, aliases: [], isDatabase: true, outline, exportedAt },
    markdown,
    ...(tables && { tables }),
  }
}

/**
 * The placeholder for a page that cannot be converted: its heading, and one line with the reason.
 */
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
  const summary = { ...emptySummary(path, title, exportedAt), id, warnings, failure, outline }
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
  const outline = [{ id: null, text: title }]
  const summary = { ...emptySummary(path, title, exportedAt), assets, warnings, sitemap, outline }
  return { summary, markdown: '' }
}

/** The summary of a page of which only the title is known. */
const emptySummary = (path: string, title: string, exportedAt: Date | null): PageSummary => ({
  path,
  id: null,
  title,
  icon: null,
  properties: {},
  values: {},
  assets: [],
  warnings: [],
  links: [],
  subPages: [],
  databases: [],
  aliases: [],
  outline: [],
  exportedAt,
})
