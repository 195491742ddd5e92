// The contents of an export by its directories: pages, files, and entries that must not be
// inflated.
import { isDatabaseFile } from './databases.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import { checkDistinct, pathKey } from './names.ts'
import type { ByteSource } from './byte-source.ts'

/** One HTML file of an export. */
export interface ExportPage {
  /** As stored in the archive or part, `/` between folders. */
  readonly path: string
  /**
   * The entry's time read as UTC, with a resolution of two seconds; null if the archive has none.
   */
  readonly modifiedAt: Date | null
  /** Bytes. */
  readonly size: number
  /** @throws InvalidArchive if the content differs from the directory */
  read(): Promise<Uint8Array>
}

/** One archive's entries and their data. */
export interface Volume {
  /** Source of what converting needs: pages and databases. */
  readonly source: ByteSource
  /** Source of everything else. */
  readonly files: ByteSource
  readonly entries: readonly ZipEntry[]
}

/** Reads the whole content of an entry. @throws InvalidArchive if it differs from the directory */
export type ReadEntry = (source: ByteSource, entry: ZipEntry) => Promise<Uint8Array>

/** An entry and its archive. */
export interface Listed {
  readonly source: ByteSource
  readonly entry: ZipEntry
}

/**
 * TABLE of files that operating systems and their archivers add: resource forks, folder views,
 * thumbnails, folder icons.
 */
const JUNK = [
  /^__MACOSX\//,
  /(?:^|\/)\._[^/]*$/,
  /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|Icon\r)$/i,
]

export const isExported = ({ path, isFolder }: ZipEntry) =>
  !isFolder && !JUNK.some((pattern) => pattern.test(path))

export const isPage = (path: string) => /\.html?$/i.test(path)

/** The files of an export that are inflated to convert it. */
export const isRead = (path: string): boolean => isPage(path) || isDatabaseFile(path)

/** The path of an export's sitemap: at the root, or in the export's only folder. */
const SITEMAP_PATH = /^(?:[^/]+\/)?index\.html$/i

/**
 * The files of all volumes. A file in several parts counts once if it is identical; sitemaps may
 * differ (each part may list the whole export or itself), and the first one is used.
 */
export async function merge(
  volumes: readonly Volume[],
  limits: ArchiveLimits,
  read: ReadEntry,
): Promise<Listed[]> {
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
          (await isSitemap(toPage(known, limits, read))) &&
          (await isSitemap(toPage({ source, entry }, limits, read)))
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

/** Checks the limits on sizes and ratios, from the directories' declarations. */
export function checkSizes(volumes: readonly Volume[], limits: ArchiveLimits): void {
  const all = { path: '', size: 0, packedSize: 0 }
  for (const entry of volumes.flatMap(({ entries }) => entries)) {
    const { path, size, packedSize } = entry
    if (!isRead(path)) {
      checkRatio('bomb_file', entry, limits.fileFloor, limits.ratio)
      continue
    }
    // A page within the limit only fails by itself: inflating it would do no harm.
    if (size > limits.pageBytes) checkRatio('bomb_page', entry, limits.pageFloor, limits.ratio)
    if (faultOf(entry, limits)) continue
    all.size += size
    all.packedSize += packedSize
  }
  checkRatio('bomb_pages', all, limits.pagesFloor, limits.ratio)
  if (all.size > limits.pagesBytes)
    throw new InvalidArchive('pages_too_large', { n: all.size, max: limits.pagesBytes })
}

/** Why a page or a database must not be inflated, by its declared sizes. */
export function faultOf(entry: ZipEntry, limits: ArchiveLimits): InvalidArchive | undefined {
  const { path, size, packedSize } = entry
  if (!isRead(path)) return undefined
  if (size > limits.pageBytes)
    return new InvalidArchive('page_too_large', { name: path, n: size, max: limits.pageBytes })
  if (size <= limits.pageFloor || size <= packedSize * limits.ratio) return undefined
  return new InvalidArchive('bomb_page', { name: path, n: ratioOf(entry), max: limits.ratio })
}

const ratioOf = ({ size, packedSize }: Pick<ZipEntry, 'size' | 'packedSize'>): number =>
  Math.round(size / Math.max(packedSize, 1))

/** @throws InvalidArchive if something inflates more than anything that people write */
export function checkRatio(
  fault: 'bomb_page' | 'bomb_pages' | 'bomb_part' | 'bomb_file',
  entry: Pick<ZipEntry, 'path' | 'size' | 'packedSize'>,
  floor: number,
  ratio: number,
): void {
  const { path, size, packedSize } = entry
  if (size > floor && size > packedSize * ratio)
    throw new InvalidArchive(fault, { name: path, n: ratioOf(entry), max: ratio })
}

/** The number of files at the floor that may inflate without limit. */
const MAX_FILES_AT_FLOOR = 4

/** Many files below the floor of one take as long to inflate as one far above it. */
export function checkFiles(files: readonly ZipEntry[], limits: ArchiveLimits): void {
  const [size, packedSize] = (['size', 'packedSize'] as const).map((field) =>
    files.reduce((sum, entry) => sum + entry[field], 0),
  ) as [number, number]
  if (size <= limits.fileFloor * MAX_FILES_AT_FLOOR || size <= packedSize * limits.ratio) return
  const worst = files.reduce((most, entry) => (ratioOf(entry) > ratioOf(most) ? entry : most))
  throw new InvalidArchive('bomb_file', { name: worst.path, n: ratioOf(worst), max: limits.ratio })
}

/** A page of an export. */
export function toPage(
  { source, entry }: Listed,
  limits: ArchiveLimits,
  read: ReadEntry,
): ExportPage {
  return {
    path: entry.path,
    modifiedAt: dosDate(entry.dosTime),
    size: entry.size,
    async read() {
      const fault = faultOf(entry, limits)
      if (fault) throw fault
      return read(source, entry)
    },
  }
}

/**
 * Maximum number of files that are read to find a sitemap: a workspace has one, in one of very few
 * top folders.
 */
const SITEMAP_CANDIDATES = 8

/** The shallowest candidate wins. */
export async function findSitemap(pages: readonly ExportPage[]): Promise<ExportPage | null> {
  const candidates = pages
    .filter(({ path }) => SITEMAP_PATH.test(path))
    .sort((a, b) => a.path.split('/').length - b.path.split('/').length)
  for (const page of candidates.slice(0, SITEMAP_CANDIDATES)) if (await isSitemap(page)) return page
  return null
}

/**
 * A sitemap is recognised by its path and content: every list in it has a form of id that pages do
 * not have.
 */
async function isSitemap(page: ExportPage): Promise<boolean> {
  if (!SITEMAP_PATH.test(page.path)) return false
  const bytes = await page.read().catch(() => new Uint8Array())
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 4096))
  return /<ul[^>]*\sid=["']?id::/i.test(head)
}

/**
 * DOS date and time: year since 1980, month, day, hour, minute, seconds / 2 in 7, 4, 5, 5, 6 and 5
 * bits.
 */
export function dosDate(packed: number): Date | null {
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
  // Writers without a clock write the format's first day.
  return isReal && packed >>> 0 !== 0x00210000 ? date : null
}
