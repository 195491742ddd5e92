// One process's share of an archive's pages → a spool.
import { decodeHtml } from '../decode.ts'
import type { PageReading } from '../certificate/reading.ts'
import {
  convertDatabase,
  convertPage,
  convertSitemap,
  failedPage,
  type ConvertedPage,
  type Wanted,
} from '../converted-page.ts'
import type { Database } from '../csv.ts'
import type { Archive, Warning } from '../links.ts'
import { movedFiles, readForCertificate } from './certify.ts'
import { collectYoung } from './collect-young.ts'
import {
  pageRules,
  wantedOf,
  type ConvertOptions,
  type OnPage,
  type Share,
} from './convert-options.ts'
import {
  findDatabases,
  pagesByTitle,
  readDatabase,
  type PagesByTitle,
  type StoredDatabase,
} from './databases.ts'
import { checkDensity } from './density.ts'
import { openExport, unpackParts, type ExportPage, type NotionExport } from './export.ts'
import { InvalidArchive, type ArchiveFault } from './invalid-archive.ts'
import { pathKey } from './names.ts'
import { openSpoolWriter } from './spool.ts'
import { fileSource } from './source.ts'

const ID_IN_NAME = /([0-9a-f]{32})\.html?$/i
const ID_INSIDE = /<article\s(?:[^<>]*?\s)?id=["']?([0-9a-f-]{32,36})\b/i

/**
 * Checks everything of an archive that needs no conversion: its directory, and those of its parts.
 *
 * @throws InvalidArchive
 */
export async function checkArchive(
  options: ConvertOptions & { scratch: string },
  isUnpacked = false,
): Promise<void> {
  await using source = await fileSource(options.path)
  await using _ = await openExport(source, {
    scratch: options.scratch,
    fileName: options.fileName,
    ...(options.limits && { limits: options.limits }),
    ...(isUnpacked && { unpacked: options.scratch }),
  })
}

/**
 * Inflates an archive's large parts into the scratch folder, as far as converting needs them, for
 * shares that are `unpacked`. Processes that do so at once divide the parts among them.
 *
 * @throws InvalidArchive
 */
export async function unpackArchive(options: ConvertOptions & { scratch: string }): Promise<void> {
  await using source = await fileSource(options.path)
  await unpackParts(source, options.limits, options.scratch)
}

/**
 * Converts one share of an archive's pages onto a shelf in the scratch folder.
 *
 * @throws InvalidArchive
 */
export async function convertShare(
  options: ConvertOptions & { scratch: string },
  share: Share,
  onPage?: OnPage,
): Promise<void> {
  await using source = await fileSource(options.path)
  const { scratch, fileName, limits } = options
  await using opened = await openExport(source, {
    scratch,
    fileName,
    ...(limits && { limits }),
    ...(share.isUnpacked && { unpacked: scratch }),
  })
  await using spool = await openSpoolWriter(options.scratch, share.index)
  const context = await createContext(opened, options)
  const pages = [...opened.pages, ...context.unlisted]
  const own = pages
    .map((page, number) => ({ page, number }))
    .filter(({ number }) => number % share.of === share.index)
  onPage?.(0, pages.length)
  for (const [done, { page, number }] of own.entries()) {
    const converted = await convertOne(opened, page, context)
    if (number === 0) converted.summary.warnings.push(...missingWarnings(opened))
    await spool.write(number, converted, page === opened.sitemap)
    collectYoung('stored' in page ? opened.sizeOf(page.stored) : page.size)
    onPage?.(done + 1, pages.length)
  }
  await spool.finish()
}

/** What the conversion of one page needs to know of all. */
interface Context {
  archive: Archive
  /**
   * The databases that have no page of their own: each becomes one, unless a page turns out to show
   * it.
   */
  unlisted: readonly StoredDatabase[]
  databases: ReadonlyMap<string, StoredDatabase>
  titles: PagesByTitle
  wanted: Wanted
  /** Reads a page for the certificate, where one is wanted. */
  read: ((text: string, path: string) => PageReading) | null
}

async function createContext(opened: NotionExport, options: ConvertOptions): Promise<Context> {
  const databases = findDatabases(opened)
  const { archive, unlisted } = await indexArchive(opened, databases)
  return {
    archive: { ...archive, ...pageRules(options) },
    unlisted,
    databases,
    titles: databases.size === 0 ? new Map() : pagesByTitle(opened),
    wanted: wantedOf(options),
    read: options.certificate === true ? readerFor(opened, options) : null,
  }
}

function readerFor({ files }: NotionExport, { layout }: ConvertOptions): Context['read'] {
  return (text, path) =>
    readForCertificate(text, path, layout === 'pages' ? movedFiles(path, files) : null)
}

/**
 * TABLE of the faults of one page that leave the others as they are. A page of another size than
 * the archive announces makes all of it suspect.
 */
const PAGE_FAULTS: ReadonlySet<ArchiveFault> = new Set([
  'page_too_dense',
  'page_too_large',
  'bomb_page',
  'damaged_data',
  'truncated_data',
  'crc',
])

/** Converts one page; one that cannot be keeps its place. */
async function convertOne(
  opened: NotionExport,
  page: ExportPage | StoredDatabase,
  context: Context,
): Promise<ConvertedPage> {
  try {
    return 'stored' in page
      ? await databasePage(opened, page, context)
      : await exportPage(opened, page, context)
  } catch (error) {
    if (!(error instanceof InvalidArchive) || !PAGE_FAULTS.has(error.fault)) throw error
    const modifiedAt = 'stored' in page ? opened.modifiedAt(page.stored) : page.modifiedAt
    const { fault, facts, detail } = error
    return failedPage(page.path, modifiedAt, { fault, facts, detail }, context.wanted.isMarked)
  }
}

function missingWarnings({ missingParts }: NotionExport): Warning[] {
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
  opened: NotionExport,
  stored: StoredDatabase,
  context: Context,
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
  if (context.read)
    converted.summary.reading = context.read(await readText(opened, stored.stored), stored.path)
  return converted
}

async function exportPage(
  opened: NotionExport,
  page: ExportPage,
  context: Context,
): Promise<ConvertedPage> {
  const html = decodePage(await page.read(), page.path)
  if (page === opened.sitemap)
    return convertSitemap(html, page.path, page.modifiedAt, context.archive)
  // Most pages name none, and looking for names costs more than converting some of them.
  const mayHaveDatabase =
    context.databases.size > 0 && (html.includes('.csv') || html.includes('collection-content'))
  const loaded = mayHaveDatabase ? await loadDatabases(html, page.path, opened, context) : undefined
  const archive = loaded
    ? { ...context.archive, database: (id: string) => loaded.get(id) }
    : context.archive
  const converted = convertPage(html, page.path, page.modifiedAt, archive, context.wanted)
  if (context.read) converted.summary.reading = context.read(html, page.path)
  return converted
}

/** Bytes of CSV that are held for one page: past them a database stays a link. */
const MAX_CSV_BYTES = 64 * 1024 * 1024

/** The databases that a page names: by the address of their CSV, by a table's id, by its own. */
async function loadDatabases(
  html: string,
  path: string,
  opened: NotionExport,
  { databases, titles }: Context,
): Promise<Map<string, Database>> {
  const ids = new Set(
    [
      ...html.matchAll(
        /([0-9a-f]{32})(?:_all)?\.csv|<div id="([0-9a-f-]{36})"[^<>]*collection-content/gi,
      ),
    ].map(([, name, block]) => (name ?? block ?? '').replaceAll('-', '').toLowerCase()),
  )
  const own = ID_IN_NAME.exec(path)?.[1]?.toLowerCase()
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

async function readText(opened: NotionExport, path: string): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of opened.readFile(path)) pieces.push(piece)
  return decodeHtml(Buffer.concat(pieces))
}

/** The text of a page. @throws InvalidArchive where it is too dense */
export function decodePage(bytes: Uint8Array, path: string): string {
  const html = decodeHtml(bytes)
  checkDensity(html, path)
  return html
}

/** What the pages of an export can find out about one another and about the files beside them. */
async function indexArchive(
  opened: NotionExport,
  databases: Context['databases'],
): Promise<Pick<Context, 'archive' | 'unlisted'>> {
  const pages = new Set<string>()
  const byId = new Map<string, string>()
  for (const page of opened.pages) {
    const key = pathKey(page.path)
    pages.add(key)
    const id = ID_IN_NAME.exec(page.path)?.[1] ?? (await readPageId(page))
    if (id) byId.set(id.toLowerCase(), key)
  }
  const unlisted = [...databases.values()].filter(({ id }) => !byId.has(id))
  for (const { id, path } of unlisted) {
    pages.add(pathKey(path))
    byId.set(id, pathKey(path))
  }
  const archive: Archive = {
    page: (path) => (pages.has(pathKey(path)) ? pathKey(path) : undefined),
    pageById: (id) => byId.get(id),
    file: (path) => opened.files.get(pathKey(path)),
  }
  return { archive, unlisted }
}

/**
 * The id that a page gives itself, behind some 14 KB of styles. Only pages that somebody has
 * renamed are asked: the exporter's have theirs in their names.
 */
async function readPageId(page: ExportPage): Promise<string | undefined> {
  // One that cannot be read has no id: its own conversion says what is wrong with it.
  const bytes = await page.read().catch(() => new Uint8Array())
  const head = Buffer.from(bytes.subarray(0, 65_536)).toString('latin1')
  return ID_INSIDE.exec(head)?.[1]?.replaceAll('-', '')
}
