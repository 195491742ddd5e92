import { CleanupStack } from './cleanup.ts'
import { isDatabaseFile } from './databases.ts'
import { METHOD } from './format.ts'
import { copyEntry, readEntry, streamEntry } from './inflate.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import { limitsOf, type ArchiveLimits } from './limits.ts'
import { checkDistinct, pathKey } from './names.ts'
import {
  archivesInside,
  findParts,
  missingParts,
  openPart,
  partNumber,
  unpackPart,
  type Volume,
} from './parts.ts'
import type { ByteSource } from './source.ts'
import { readZip } from './zip.ts'

/** One HTML file of an export. */
export interface ExportPage {
  /** As stored in the archive (or in the part that holds it), `/` between folders. */
  readonly path: string
  /** The entry's time read as UTC, to two seconds; null where the archive gives none. */
  readonly modifiedAt: Date | null
  /** Bytes. */
  readonly size: number
  /** @throws InvalidArchive when the content is not what the archive announced */
  read(): Promise<Uint8Array>
}

/** A file that was copied as it is packed. */
export interface CopiedFile {
  /** 0: stored, 8: deflated. */
  readonly method: number
  readonly crc: number
  /** Bytes, inflated. */
  readonly size: number
  /** Of the content, hexadecimal. */
  readonly sha256: string
}

/** A Notion export whose archive has passed every check that needs no inflating. */
export interface NotionExport extends AsyncDisposable {
  /**
   * Every .html and .htm, the sitemap included, in the archive's order, parts in the order of their
   * numbers.
   */
  readonly pages: readonly ExportPage[]
  /**
   * The page that is the workspace's table of contents (`index.html` at the root or in the top
   * folder), if there is one.
   */
  readonly sitemap: ExportPage | null
  /** Everything else, for links to assets: the stored path by `pathKey` of it. */
  readonly files: ReadonlyMap<string, string>
  /**
   * The content of one of `files`, for whoever unpacks the assets; converting never needs it.
   *
   * @throws InvalidArchive as `streamEntry`
   */
  readFile(path: string): AsyncGenerator<Uint8Array>
  /**
   * Hands on one of `files` as it is packed, and checks its content on the way.
   *
   * @throws InvalidArchive as `copyEntry`
   */
  copyFile(path: string, write: (piece: Uint8Array) => Promise<void>): Promise<CopiedFile>
  /**
   * Checks all of `files` together, for whoever inflates every one.
   *
   * @throws InvalidArchive which names the one that inflates most
   */
  checkFiles(): void
  /** The time of one of `files`, as a page's. */
  modifiedAt(path: string): Date | null
  /** Why one of `files` must not be inflated, which leaves the rest of the export as it is. */
  faultOf(path: string): InvalidArchive | undefined
  /** The size of one of `files` in bytes. */
  sizeOf(path: string): number
  /** The numbers of parts that belong to the export and are not there. */
  readonly missingParts: readonly number[]
  /** Releases what opening made. The source stays open: it is the caller's. */
  close(): Promise<void>
}

/** Options of `openExport`. */
export interface ExportOptions {
  limits?: Partial<ArchiveLimits>
  /**
   * A folder for inner archives that must be inflated and are too large for memory. Default: the
   * system's.
   */
  scratch?: string
  /** What its owner calls the archive: it may be one part of an export, taken out of it. */
  fileName?: string
  /** The folder in which `unpackParts` left copies, of this archive and with these limits. */
  unpacked?: string
}

/**
 * Does once what all processes that convert an archive would do each: inflates its large parts into
 * copies of what converting needs, or verifies them where they are stored. Several processes may do
 * so at once; each takes the parts that no other has taken.
 *
 * @param folder a new folder of the conversion's own
 * @throws InvalidArchive
 */
export async function unpackParts(
  source: ByteSource,
  limits: Partial<ArchiveLimits> | undefined,
  folder: string,
): Promise<void> {
  const all = limitsOf(limits)
  const { parts } = await partsOf(source, all)
  for (const [index, part] of parts.entries())
    await unpackPart(source, part, index, { limits: all, isNeeded: isRead }, folder)
}

/**
 * Opens a Notion export: checks the archive and its parts, and lists what they contain as if all of
 * it lay in one folder. Beyond the parts and what may be the sitemap nothing is inflated before a
 * page is read.
 *
 * @param source the ZIP archive; read until `close`
 * @throws InvalidArchive for everything that is wrong with the archive
 */
export async function openExport(
  source: ByteSource,
  options: ExportOptions = {},
): Promise<NotionExport> {
  const limits = limitsOf(options.limits)
  await using stack = new CleanupStack()
  const { volumes, numbers, junk } = await openVolumes(source, limits, options, stack)
  const own = numbers.length === 0 ? partNumber(options.fileName ?? '') : undefined
  const missing = missingParts(own === undefined ? numbers : [own])
  checkSizes(volumes, limits)
  const listed = await merge(volumes, limits)
  const pages = listed.filter(({ entry }) => isPage(entry.path))
  const files = listed.filter(({ entry }) => !isPage(entry.path))
  const exported = pages.map((page) => toPage(page, limits))
  const sitemap = await findSitemap(exported)
  if (!exported.some((page) => page !== sitemap)) {
    if (listed.length === 0 && junk !== undefined)
      throw new InvalidArchive('only_junk', { name: junk })
    throw whyNoPages(
      files.map(({ entry }) => entry.path),
      sitemap !== null,
      missing,
      own ?? Math.max(0, ...numbers),
    )
  }
  const [fault] = pages.map(({ entry }) => faultOf(entry, limits))
  if (fault && pages.every(({ entry }) => faultOf(entry, limits))) throw fault
  const byPath = new Map(files.map((file) => [file.entry.path, file]))
  const fileAt = (path: string): Listed => {
    const file = byPath.get(path)
    if (!file) throw new RangeError(`no file "${path}" in the export`)
    return file
  }
  const held = stack.move()
  const close = () => held[Symbol.asyncDispose]()
  return {
    pages: exported,
    sitemap,
    missingParts: missing,
    files: new Map(files.map(({ entry }) => [pathKey(entry.path), entry.path])),
    readFile(path) {
      const { source: volume, entry } = fileAt(path)
      return streamEntry(volume, entry)
    },
    async copyFile(path, write) {
      const { source: volume, entry } = fileAt(path)
      const { method, crc, size } = entry
      return { method, crc, size, sha256: await copyEntry(volume, entry, write) }
    },
    checkFiles: () =>
      checkFiles(
        files.map(({ entry }) => entry),
        limits,
      ),
    modifiedAt: (path) => dosDate(fileAt(path).entry.dosTime),
    faultOf: (path) => faultOf(fileAt(path).entry, limits),
    sizeOf: (path) => fileAt(path).entry.size,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** TABLE of documents that are ZIP archives, and how the paths of what they hold begin. */
const OTHER_DOCUMENTS: readonly { readonly name: string; readonly holds: readonly string[] }[] = [
  { name: 'a Word document', holds: ['[Content_Types].xml', 'word/'] },
  { name: 'an Excel workbook', holds: ['[Content_Types].xml', 'xl/'] },
  { name: 'a PowerPoint presentation', holds: ['[Content_Types].xml', 'ppt/'] },
  { name: 'an e-book', holds: ['mimetype', 'META-INF/container.xml'] },
  { name: 'an OpenDocument file', holds: ['mimetype', 'content.xml'] },
]

/**
 * What an archive without a page is. @param part its number, where it is a part of an export alone
 */
function whyNoPages(
  paths: readonly string[],
  hasSitemap: boolean,
  missing: readonly number[],
  part: number,
): InvalidArchive {
  if (paths.some((path) => /\.md$/i.test(path) || isDatabaseFile(path)))
    return new InvalidArchive('no_pages_markdown')
  if (missing.length > 0) return new InvalidArchive('part_alone', { n: part })
  const inside = archivesInside(paths)
  if (inside) return inside
  if (hasSitemap) return new InvalidArchive('only_sitemap')
  const document = OTHER_DOCUMENTS.find(({ holds }) =>
    holds.every((part) => paths.some((path) => path.startsWith(part))),
  )
  if (document) return new InvalidArchive('other_document', { name: document.name })
  if (paths.length > 0 && paths.every((path) => /\.pdf$/i.test(path)))
    return new InvalidArchive('no_pages_pdf')
  return new InvalidArchive(
    paths.some((path) => /\.csv$/i.test(path)) ? 'no_pages_markdown' : 'no_pages',
  )
}

/**
 * The entries of an archive, and which of them are its parts, checked by what the directory
 * announces.
 */
async function partsOf(
  source: ByteSource,
  limits: ArchiveLimits,
): Promise<{ entries: ZipEntry[]; parts: ZipEntry[] }> {
  const entries = await readZip(source, limits)
  const parts = findParts(entries.filter(isExported))
  if (parts.length > limits.parts)
    throw new InvalidArchive('too_many_parts', { n: parts.length, max: limits.parts })
  const partBytes = parts.reduce(
    (sum, part) => sum + (part.method === METHOD.stored ? 0 : part.size),
    0,
  )
  if (partBytes > limits.partBytes)
    throw new InvalidArchive('parts_too_large', { n: partBytes, max: limits.partBytes })
  for (const part of parts) checkRatio('bomb_part', part, limits.partFloor, limits.ratio)
  return { entries, parts }
}

/** The archive and its parts, without what is no file of the export. */
async function openVolumes(
  source: ByteSource,
  limits: ArchiveLimits,
  { scratch, unpacked }: ExportOptions,
  stack: CleanupStack,
): Promise<{ volumes: Volume[]; numbers: number[]; junk: string | undefined }> {
  const { entries, parts } = await partsOf(source, limits)
  const isPart = new Set(parts)
  const volumes: Volume[] = [
    {
      source,
      files: source,
      entries: entries.filter((entry) => isExported(entry) && !isPart.has(entry)),
    },
  ]
  let left = limits.entries - entries.length
  for (const [index, part] of parts.entries()) {
    const volume = await openPart(
      source,
      part,
      index,
      { limits: { ...limits, entries: left }, isNeeded: isRead, scratch, unpacked },
      stack,
    )
    left -= volume.entries.length
    volumes.push({ ...volume, entries: volume.entries.filter(isExported) })
  }
  const junk = entries.find((entry) => !entry.isFolder && !isExported(entry))?.path
  return { volumes, numbers: parts.flatMap(({ path }) => partNumber(path) ?? []), junk }
}

interface Listed {
  readonly source: ByteSource
  readonly entry: ZipEntry
}

/**
 * TABLE of what operating systems and their archivers add: resource forks, folder views,
 * thumbnails, folder icons.
 */
const JUNK = [
  /^__MACOSX\//,
  /(?:^|\/)\._[^/]*$/,
  /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|Icon\r)$/i,
]

const isExported = ({ path, isFolder }: ZipEntry) =>
  !isFolder && !JUNK.some((pattern) => pattern.test(path))

const isPage = (path: string) => /\.html?$/i.test(path)

/** What of an export is ever inflated to convert it. */
const isRead = (path: string): boolean => isPage(path) || isDatabaseFile(path)

/** Where an export's sitemap lies: at the root, or in the one folder that holds the export. */
const SITEMAP_PATH = /^(?:[^/]+\/)?index\.html$/i

/**
 * The files of all volumes. A file that several parts hold counts once if it is the same in each;
 * sitemaps may differ (each part may list the whole export or itself), and the first one stands for
 * all.
 */
async function merge(volumes: readonly Volume[], limits: ArchiveLimits): Promise<Listed[]> {
  const byKey = new Map<string, Listed>()
  for (const { source: needed, files, entries } of volumes) {
    for (const entry of entries) {
      const key = pathKey(entry.path)
      const source = isRead(entry.path) ? needed : files
      const known = byKey.get(key)
      if (!known) byKey.set(key, { source, entry })
      else if (
        !isSame(known.entry, entry) &&
        !(
          (await isSitemap(toPage(known, limits))) &&
          (await isSitemap(toPage({ source, entry }, limits)))
        )
      ) {
        throw new InvalidArchive('parts_disagree', { name: entry.path })
      }
    }
  }
  const listed = [...byKey.values()]
  if (volumes.length > 1) checkDistinct(listed.map(({ entry }) => entry.path))
  return listed
}

function isSame(a: ZipEntry, b: ZipEntry): boolean {
  return a.size === b.size && a.crc === b.crc
}

/** The limits on sizes and ratios, all from what the directories declare. */
function checkSizes(volumes: readonly Volume[], limits: ArchiveLimits): void {
  const all = { path: '', size: 0, packedSize: 0 }
  for (const entry of volumes.flatMap(({ entries }) => entries)) {
    const { path, size, packedSize } = entry
    if (!isRead(path)) {
      checkRatio('bomb_file', entry, limits.fileFloor, limits.ratio)
      continue
    }
    // A page within the limit is at most failed: inflating it would do no harm.
    if (size > limits.pageBytes) checkRatio('bomb_page', entry, limits.pageFloor, limits.ratio)
    if (faultOf(entry, limits)) continue
    all.size += size
    all.packedSize += packedSize
  }
  checkRatio('bomb_pages', all, limits.pagesFloor, limits.ratio)
  if (all.size > limits.pagesBytes)
    throw new InvalidArchive('pages_too_large', { n: all.size, max: limits.pagesBytes })
}

/** Why a page or a database must not be inflated, by what is announced of it. */
function faultOf(entry: ZipEntry, limits: ArchiveLimits): InvalidArchive | undefined {
  const { path, size, packedSize } = entry
  if (!isRead(path)) return undefined
  if (size > limits.pageBytes)
    return new InvalidArchive('page_too_large', { name: path, n: size, max: limits.pageBytes })
  if (size <= limits.pageFloor || size <= packedSize * limits.ratio) return undefined
  return new InvalidArchive('bomb_page', { name: path, n: ratioOf(entry), max: limits.ratio })
}

const ratioOf = ({ size, packedSize }: Pick<ZipEntry, 'size' | 'packedSize'>): number =>
  Math.round(size / Math.max(packedSize, 1))

function checkRatio(
  fault: 'bomb_page' | 'bomb_pages' | 'bomb_part' | 'bomb_file',
  entry: Pick<ZipEntry, 'path' | 'size' | 'packedSize'>,
  floor: number,
  ratio: number,
): void {
  const { path, size, packedSize } = entry
  if (size > floor && size > packedSize * ratio)
    throw new InvalidArchive(fault, { name: path, n: ratioOf(entry), max: ratio })
}

/** How many files at the floor may inflate as much as they like. */
const MAX_FILES_AT_FLOOR = 4

/** Many files below the floor of one inflate as long as one far above it. */
function checkFiles(files: readonly ZipEntry[], limits: ArchiveLimits): void {
  const [size, packedSize] = (['size', 'packedSize'] as const).map((field) =>
    files.reduce((sum, entry) => sum + entry[field], 0),
  ) as [number, number]
  if (size <= limits.fileFloor * MAX_FILES_AT_FLOOR || size <= packedSize * limits.ratio) return
  const worst = files.reduce((most, entry) => (ratioOf(entry) > ratioOf(most) ? entry : most))
  throw new InvalidArchive('bomb_file', { name: worst.path, n: ratioOf(worst), max: limits.ratio })
}

function toPage({ source, entry }: Listed, limits: ArchiveLimits): ExportPage {
  return {
    path: entry.path,
    modifiedAt: dosDate(entry.dosTime),
    size: entry.size,
    async read() {
      const fault = faultOf(entry, limits)
      if (fault) throw fault
      return readEntry(source, entry)
    },
  }
}

/**
 * How many files are looked into for a sitemap: a workspace has one, in one of very few top
 * folders.
 */
const SITEMAP_CANDIDATES = 8

/** The shallowest candidate wins. */
async function findSitemap(pages: readonly ExportPage[]): Promise<ExportPage | null> {
  const candidates = pages
    .filter(({ path }) => SITEMAP_PATH.test(path))
    .sort((a, b) => a.path.split('/').length - b.path.split('/').length)
  for (const page of candidates.slice(0, SITEMAP_CANDIDATES)) if (await isSitemap(page)) return page
  return null
}

/**
 * A sitemap is told by where it is and by what it is: the exporter gives every list in it an id
 * that no page has.
 */
async function isSitemap(page: ExportPage): Promise<boolean> {
  if (!SITEMAP_PATH.test(page.path)) return false
  const bytes = await page.read().catch(() => new Uint8Array())
  const head = Buffer.from(bytes.subarray(0, 4096)).toString('latin1')
  return /<ul[^>]*\sid=["']?id::/i.test(head)
}

/**
 * DOS date and time: year since 1980, month, day, hour, minute, seconds / 2 in 7, 4, 5, 5, 6 and 5
 * bits.
 */
function dosDate(packed: number): Date | null {
  const bits = (shift: number, width: number) => (packed >>> shift) & ((1 << width) - 1)
  const [year, month, day] = [1980 + bits(25, 7), bits(21, 4), bits(16, 5)]
  const [hour, minute, second] = [bits(11, 5), bits(5, 6), bits(0, 5) * 2]
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  const isReal =
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60
  // Writers without a clock put the format's first day.
  return isReal && packed >>> 0 !== 0x00210000 ? date : null
}
