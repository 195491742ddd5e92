// One process's share of an archive's pages → a spool.
import { decodeHtml } from '../decode.ts'
import { DOCUMENT } from '../certificate/dialect.ts'
import {
  convertDatabase,
  convertPage,
  convertSitemap,
  failedPage,
  type ConvertedPage,
  type Wanted,
} from '../converted-page.ts'
import type { Database } from '../csv.ts'
import type { Warning } from '../links.ts'
import { idInName, indexArchive, type ArchiveIndex } from './archive-index.ts'
import { openReader, type CertificateReader } from './certificate-reader.ts'
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
import { openSpoolWriter } from './spool.ts'
import { fileSource } from './source.ts'

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
  const sizeOf = (page: (typeof pages)[number]): number =>
    'stored' in page ? opened.sizeOf(page.stored) : page.size
  const size = own.reduce((sum, { page }) => sum + sizeOf(page), 0)
  await using reader = readerFor(opened, options, { size, busy: share.of })
  onPage?.(0, pages.length)
  for (const [done, { page, number }] of own.entries()) {
    const read: ReadAgain | undefined =
      reader && ((bytes, text) => reader.exported({ number, path: page.path, bytes, text }))
    const converted = await convertOne(opened, page, context, read)
    if (number === 0) converted.summary.warnings.push(...missingWarnings(opened))
    await spool.write(number, converted, page === opened.sitemap)
    collectYoung(sizeOf(page))
    onPage?.(done + 1, pages.length)
  }
  const { readings } = (await reader?.finish('')) ?? { readings: [] }
  await spool.finish(readings)
}

/** Reads a page for the certificate. The bytes are of no use any more. */
type ReadAgain = (bytes: Uint8Array, text: string) => void | Promise<void>

/** Who reads the pages of a share for the certificate, where one is wanted. */
function readerFor(
  { files }: NotionExport,
  { certificate, layout }: ConvertOptions,
  work: { size: number; busy: number },
): CertificateReader | undefined {
  if (certificate !== true) return undefined
  const moved = layout === 'pages' ? [...files.keys()] : null
  return openReader({ dialect: DOCUMENT, files: moved, input: { sha256: null } }, work)
}

/** What the conversion of one page needs to know of all. */
interface Context extends ArchiveIndex {
  databases: ReadonlyMap<string, StoredDatabase>
  titles: PagesByTitle
  wanted: Wanted
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
  }
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
    const bytes = await readBytes(opened, stored.stored)
    await read(bytes, decodeHtml(bytes))
  }
  return converted
}

async function exportPage(
  opened: NotionExport,
  page: ExportPage,
  context: Context,
  read?: ReadAgain,
): Promise<ConvertedPage> {
  const bytes = await page.read()
  const html = decodePage(bytes, page.path)
  if (page === opened.sitemap)
    return convertSitemap(html, page.path, page.modifiedAt, context.archive)
  // Most pages name none, and looking for names costs more than converting some of them.
  const mayHaveDatabase =
    context.databases.size > 0 && (html.includes('.csv') || html.includes('collection-content'))
  const loaded = mayHaveDatabase ? await loadDatabases(html, page.path, opened, context) : undefined
  const archive = loaded
    ? { ...context.archive, database: (id: string) => loaded.get(id) }
    : context.archive
  // Before the page is converted: a thread reads it meanwhile.
  await read?.(bytes, html)
  return convertPage(html, page.path, page.modifiedAt, archive, context.wanted)
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

async function readBytes(opened: NotionExport, path: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of opened.readFile(path)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** The text of a page. @throws InvalidArchive where it is too dense */
export function decodePage(bytes: Uint8Array, path: string): string {
  const html = decodeHtml(bytes)
  checkDensity(html, path)
  return html
}
