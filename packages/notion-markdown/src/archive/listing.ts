// The contents of an export by its directories: pages, files, and entries that must not be
// inflated.
import { faultOf } from './declared-sizes.ts'
import { isRead } from './entry-kinds.ts'
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
 * Maximum number of files that are read to find sitemaps: a workspace has one, in one of very few
 * top folders.
 */
const SITEMAP_CANDIDATES = 8

/** The sitemaps, the shallowest first: exports that were merged by hand have several. */
export async function findSitemaps(pages: readonly ExportPage[]): Promise<Set<ExportPage>> {
  const candidates = pages
    .filter(({ path }) => SITEMAP_PATH.test(path))
    .sort((a, b) => a.path.split('/').length - b.path.split('/').length)
  const found = new Set<ExportPage>()
  for (const page of candidates.slice(0, SITEMAP_CANDIDATES))
    if (await isSitemap(page)) found.add(page)
  return found
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
