// Converts one page of an export to Markdown, in Node or in a browser.
import {
  convertDatabase,
  convertPage,
  convertSitemap,
  failedPage,
  type ConvertedPage,
  type Wanted,
} from '../converted-page.ts'
import type { Database } from '../csv.ts'
import { decodeHtml } from '../decode.ts'
import type { Warning } from '../links.ts'
import { idInName, indexArchive, type ArchiveIndex } from './archive-index.ts'
import { wholeOf } from './byte-source.ts'
import type { ExportContents } from './contents.ts'
import { pageRules, wantedOf, type ConvertOptions } from './convert-options.ts'
import {
  findDatabases,
  pagesByTitle,
  readDatabase,
  type PagesByTitle,
  type StoredDatabase,
} from './databases.ts'
import { checkDensity } from './density.ts'
import { InvalidArchive, type ArchiveFault } from './invalid-archive.ts'
import type { ExportPage } from './listing.ts'

/** Reads a page for the certificate. The bytes must not be used afterwards. */
export type ReadAgain = (bytes: Uint8Array, text: string) => void | Promise<void>

/** Data of all pages that the conversion of one page needs. */
export interface Context extends ArchiveIndex {
  databases: ReadonlyMap<string, StoredDatabase>
  titles: PagesByTitle
  wanted: Wanted
}

/** Collects the data that all pages of an export need. */
export async function createContext(
  opened: ExportContents,
  options: ConvertOptions,
): Promise<Context> {
  const databases = findDatabases(opened)
  const { archive, unlisted } = await indexArchive(opened, databases)
  return {
    archive: { ...archive, ...pageRules(options) },
    unlisted,
    databases,
    titles: databases.size === 0 ? new Map() : pagesByTitle(opened),
    wanted: wantedOf(options),
  }
}

/**
 * TABLE of the faults of one page that do not affect others. A page whose size differs from the
 * declared one makes the whole archive suspect.
 */
const PAGE_FAULTS: ReadonlySet<ArchiveFault> = new Set([
  'page_too_dense',
  'page_too_large',
  'bomb_page',
  'damaged_data',
  'truncated_data',
  'crc',
])

/** Converts one page; a page that cannot be converted keeps its place. */
export async function convertOne(
  opened: ExportContents,
  page: ExportPage | StoredDatabase,
  context: Context,
  read?: ReadAgain,
): Promise<ConvertedPage> {
  try {
    return 'stored' in page
      ? await databasePage(opened, page, context, read)
      : await exportPage(opened, page, context, read)
  } catch (error) {
    if (!(error instanceof InvalidArchive) || !PAGE_FAULTS.has(error.fault)) throw error
    const modifiedAt = 'stored' in page ? opened.modifiedAt(page.stored) : page.modifiedAt
    const { fault, facts, detail } = error
    return failedPage(page.path, modifiedAt, { fault, facts, detail }, context.wanted.isMarked)
  }
}

/** The warning about missing parts. */
export function missingWarnings({ missingParts }: ExportContents): Warning[] {
  const names = missingParts.map((number) => `Part-${number}`).join(', ')
  return names === ''
    ? []
    : [
        {
          code: 'part_missing',
          page: names,
          detail: `The export has more parts (${names}), which the archive does not hold: their pages and files are missing.`,
        },
      ]
}

async function databasePage(
  opened: ExportContents,
  stored: StoredDatabase,
  context: Context,
  read?: ReadAgain,
): Promise<ConvertedPage> {
  const fault = opened.faultOf(stored.stored)
  if (fault) throw fault
  const database = await readDatabase(opened, stored, context.titles)
  const converted = convertDatabase(
    stored.path,
    stored.id,
    opened.modifiedAt(stored.stored),
    { ...context.archive, database: () => database },
    context.wanted,
  )
  if (read) {
    const bytes = await wholeOf(opened.readFile(stored.stored))
    await read(bytes, decodeHtml(bytes))
  }
  return converted
}

async function exportPage(
  opened: ExportContents,
  page: ExportPage,
  context: Context,
  read?: ReadAgain,
): Promise<ConvertedPage> {
  const bytes = await page.read()
  const html = decodePage(bytes, page.path)
  if (opened.sitemaps.has(page))
    return convertSitemap(html, page.path, page.modifiedAt, context.archive)
  // Most pages name no database, and a search for names would cost more than converting some pages.
  const mayHaveDatabase =
    context.databases.size > 0 && (html.includes('.csv') || html.includes('collection-content'))
  const loaded = mayHaveDatabase ? await loadDatabases(html, page.path, opened, context) : undefined
  const archive = loaded
    ? { ...context.archive, database: (id: string) => loaded.get(id) }
    : context.archive
  // Sent before the page is converted, so that a thread can read it meanwhile.
  await read?.(bytes, html)
  return convertPage(html, page.path, page.modifiedAt, archive, context.wanted)
}

/** Maximum bytes of CSV for one page; beyond it, a database stays a link. */
const MAX_CSV_BYTES = 64 * 1024 * 1024

/**
 * The databases that a page names: by the address of their CSV, by a table's id, or by the page's
 * own id.
 */
async function loadDatabases(
  html: string,
  path: string,
  opened: ExportContents,
  { databases, titles }: Context,
): Promise<Map<string, Database>> {
  const ids = new Set(
    [
      ...html.matchAll(
        /([0-9a-f]{32})(?:_all)?\.csv|<div id="([0-9a-f-]{36})"[^<>]*collection-content/gi,
      ),
    ].map(([, name, block]) => (name ?? block ?? '').replaceAll('-', '').toLowerCase()),
  )
  const own = idInName(path)
  if (own !== undefined && html.includes('collection-content')) ids.add(own)
  const loaded = new Map<string, Database>()
  let bytes = 0
  for (const id of ids) {
    const stored = databases.get(id)
    if (!stored || opened.faultOf(stored.stored)) continue
    bytes += opened.sizeOf(stored.stored)
    if (bytes <= MAX_CSV_BYTES) loaded.set(id, await readDatabase(opened, stored, titles))
  }
  return loaded
}

/** The text of a page. @throws InvalidArchive if it is too dense */
export function decodePage(bytes: Uint8Array, path: string): string {
  const html = decodeHtml(bytes)
  checkDensity(html, path)
  return html
}
