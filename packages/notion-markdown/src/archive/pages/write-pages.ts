// Writes converted pages as a ZIP archive with a file for each.
import { createHash } from 'node:crypto'
import { itemAt } from '../../item-at.ts'
import { arrangePages, type Arrangement } from '../../arrangement.ts'
import type { PageSummary, PageTexts } from '../../converted-page.ts'
import type { DatabaseTable } from '../../databases.ts'
import type { CertificateListener } from '../../document-pages.ts'
import { pageTarget } from '../../links.ts'
import { writeMarkdown } from '../../markdown.ts'
import { writeSitemap, type Sitemap, type SitemapEntry } from '../../sitemap.ts'
import { findDatabases } from '../databases.ts'
import type { NotionExport } from '../export.ts'
import { pathKey } from '../names.ts'
import type { CountBytes } from '../result-limit.ts'
import { ZipWriter } from '../zip-writer.ts'
import { copyFiles, type CopiedFiles } from './asset-files.ts'
import { FLAVORS, syntaxOf, type Flavor, type FlavorRules } from './flavors.ts'
import { MANIFEST, writeManifest, type ManifestFile } from './manifest.ts'
import { pageFrontMatter } from './page-fields.ts'
import { PageLinks, relativeUrl } from './page-links.ts'
import { placePages, type PagePath } from './page-paths.ts'
import { csvOf } from './table-csv.ts'

/** The options of the pages. */
export interface PagesOptions {
  readonly flavor: Flavor
  /**
   * Whether each page contains the time of its export, which differs from one export to the next.
   */
  readonly includeMetadata: boolean
  /** The export's time if nothing better is known. */
  readonly uploadedAt: Date
  /** Counts the bytes of texts; the export's own files are no larger than the export. */
  readonly count: CountBytes
}

/** The time of a file without a known one: the earliest that a ZIP archive can express. */
const NO_TIME = Date.UTC(1980, 0, 1)

const NO_FILES: CopiedFiles = { paths: new Map(), contents: new Map(), damaged: new Map() }

/**
 * Writes a folder of pages as a ZIP archive: the files of the export, the pages in order, and a
 * list of all of them.
 *
 * @param opened the export; null for a single page
 * @param output the new archive
 * @param certificate receives each page, and the list of files
 * @returns the number of damaged files of the export
 */
export async function writePages(
  pages: PageTexts,
  opened: NotionExport | null,
  output: string,
  options: PagesOptions,
  certificate?: CertificateListener,
): Promise<number> {
  const rules: FlavorRules = FLAVORS[options.flavor]
  const { summaries, sitemap } = pages
  const arrangement = arrangePages(summaries, pathKey, sitemap)
  const paths = placePages(summaries, arrangement.order, sitemap, rules)
  const databases = databaseFiles(opened, summaries, paths)
  await using zip = await ZipWriter.create(output)
  const files = opened ? await copyFiles(opened, zip, rules, databases.places, NO_TIME) : NO_FILES
  const links = new PageLinks({
    rules,
    pages: summaries,
    indexOf: arrangement.indexOf,
    pathOf: (index) => paths.get(index)?.page ?? '',
    filePath: (stored) => files.paths.get(stored),
  })
  const listed: ManifestFile[] = [...files.contents].map(([path, sha256]) => ({ path, sha256 }))
  const add = fileAdder(zip, listed, options.count)
  if (sitemap < 0 && summaries.length > 1) {
    const text = indexText(arrangement, summaries, rules, (key) =>
      relativeUrl('', paths.get(arrangement.indexOf(key) ?? -1)?.page ?? ''),
    )
    await add(`${rules.index}.md`, null, text, null)
  }
  const positions = new Map<number, number>()
  const ids = new Set<string | null>()
  for (const { page: index, parent } of arrangement.order) {
    const summary = itemAt(summaries, index)
    const { page: path, csv: made } = pathOf(paths, index)
    const position = (positions.get(parent) ?? 0) + 1
    positions.set(parent, position)
    const body = summary.sitemap
      ? sitemapText(summary.sitemap, arrangement.nameOf, pageTarget, rules)
      : await pages.text(index)
    const csv = databases.ids(index).flatMap((stored) => addressOf(path, files.paths.get(stored)))
    const table = databases.has(summary.id) ? undefined : await ownTable(pages, index)
    if (table) await add(made, undefined, csvOf(table), summary.exportedAt)
    if (table) csv.unshift(relativeUrl(path, made))
    const front = pageFrontMatter(
      {
        ...summary,
        parentId: summaries[parent]?.id ?? null,
        exportedAt: options.includeMetadata
          ? isoTime(summary.exportedAt ?? options.uploadedAt)
          : null,
        csv,
        position,
        path,
        isDuplicate: ids.has(summary.id),
      },
      rules,
      { address: (url) => links.address(url, index), pageId: (url) => links.pageId(url) },
    )
    ids.add(summary.id)
    const resolved = links.resolve(body, index)
    certificate?.page(summary, body, resolved)
    await add(path, summary.id, front + resolved, summary.exportedAt)
  }
  const manifest = writeManifest({ flavor: options.flavor, files: listed })
  certificate?.output(manifest)
  await zip.addText(MANIFEST, NO_TIME, manifest)
  await zip.finish()
  return files.damaged.size
}

function pathOf(paths: ReadonlyMap<number, PagePath>, index: number): PagePath {
  const path = paths.get(index)
  if (path === undefined) throw new RangeError(`page ${index} has no path`)
  return path
}

/** Adds a file to the archive and the list. @param page undefined if it is not a page */
type AddFile = (
  path: string,
  page: string | null | undefined,
  text: string,
  time: Date | null,
) => Promise<void>

function fileAdder(zip: ZipWriter, listed: ManifestFile[], count: CountBytes): AddFile {
  return async (path, page, text, time) => {
    count(Buffer.byteLength(text))
    await zip.addText(path, time?.getTime() ?? NO_TIME, text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    listed.push({ path, ...(page !== undefined && { page }), sha256 })
  }
}

/** The database of a page that is a database. */
async function ownTable(pages: PageTexts, index: number): Promise<DatabaseTable | undefined> {
  const { id } = itemAt(pages.summaries, index)
  if (id === null) return undefined
  return (await pages.tables(index)).find((table) => table.id === id)
}

const addressOf = (from: string, to: string | undefined): string[] =>
  to === undefined ? [] : [relativeUrl(from, to)]

function sitemapText(
  sitemap: Sitemap,
  nameOf: Arrangement['nameOf'],
  place: (key: string) => string,
  rules: FlavorRules,
): string {
  return writeMarkdown(writeSitemap(sitemap, nameOf, place), undefined, syntaxOf(rules)).markdown
}

function isoTime(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The files of the databases: those with their own page, and those that a page shows. */
function databaseFiles(
  opened: NotionExport | null,
  summaries: readonly PageSummary[],
  paths: ReadonlyMap<number, PagePath>,
): {
  places: Map<string, string>
  ids: (index: number) => string[]
  has: (id: string | null) => boolean
} {
  const places = new Map<string, string>()
  const databases = opened ? findDatabases(opened) : new Map<string, never>()
  if (databases.size > 0)
    for (const [index, { csv }] of paths) {
      const stored = databases.get(itemAt(summaries, index).id ?? '')?.stored
      if (stored !== undefined && !places.has(stored)) places.set(stored, csv)
    }
  return {
    places,
    has: (id) => id !== null && databases.has(id),
    ids: (index) => {
      const { id, databases: shown } = itemAt(summaries, index)
      const all = new Set([...(id === null ? [] : [id]), ...shown])
      return [...all].flatMap((one) => databases.get(one)?.stored ?? [])
    },
  }
}

/** Deeper pages are listed beside the page above them: a list is written by recursion. */
const MAX_LIST_DEPTH = 50

/** The root page of an export without a sitemap: a list of all pages. */
function indexText(
  { order, nameOf }: Arrangement,
  summaries: readonly PageSummary[],
  rules: FlavorRules,
  place: (key: string) => string,
): string {
  /** The list for the pages below a page. */
  const lists = new Map<number, { below: SitemapEntry[]; depth: number }>()
  const entries: SitemapEntry[] = []
  for (const { page, parent } of order) {
    const { path, title } = itemAt(summaries, page)
    const entry: SitemapEntry = { page: pathKey(path), url: null, label: title, below: [] }
    const list = lists.get(parent) ?? { below: entries, depth: 1 }
    list.below.push(entry)
    const { depth } = list
    lists.set(page, depth < MAX_LIST_DEPTH ? { below: entry.below, depth: depth + 1 } : list)
  }
  const sitemap: Sitemap = { workspace: { id: null, name: null }, entries }
  const markdown = sitemapText(sitemap, nameOf, place, rules)
  return (
    (rules.isSite ? '---\ntitle: Contents\nslug: /\nsidebar_position: 0\n---\n\n' : '') + markdown
  )
}
