// Presents archives as one folder: the pages and files of an export, in Node or in a browser.
import type { ByteSource } from './byte-source.ts'
import { checkSizes, faultOf } from './declared-sizes.ts'
import { isPage } from './entry-kinds.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import {
  dosDate,
  findSitemaps,
  merge,
  toPage,
  type ExportPage,
  type Listed,
  type ReadEntry,
  type Volume,
} from './listing.ts'
import { pathKey } from './names.ts'
import { whyNoPages } from './no-pages.ts'
import { missingParts, partNumber } from './part-names.ts'

/** The contents of an export, after its archive has passed every check that needs no inflating. */
export interface ExportContents {
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
  /** All tables of contents: of other exports, too, that the archive contains. */
  readonly sitemaps: ReadonlySet<ExportPage>
  /** Everything else, for links to assets: `pathKey` → the stored path. */
  readonly files: ReadonlyMap<string, string>
  /**
   * The content of one of `files`, for unpacking assets; converting needs it for databases.
   *
   * @throws InvalidArchive as `streamEntry`
   */
  readFile(path: string): AsyncIterable<Uint8Array>
  /** The time of one of `files`, like that of a page. */
  modifiedAt(path: string): Date | null
  /** Why one of `files` must not be inflated; the rest of the export is not affected. */
  faultOf(path: string): InvalidArchive | undefined
  /** The size of one of `files` in bytes. */
  sizeOf(path: string): number
  /** The numbers of the export's missing parts. */
  readonly missingParts: readonly number[]
}

/** An archive and its parts. */
export interface Opened {
  readonly limits: ArchiveLimits
  /** The numbers of the parts. */
  readonly numbers: readonly number[]
  /** The path of a file that does not belong to the export. */
  readonly junk: string | undefined
  /** The archive's file name: it may be a single part of an export. */
  readonly fileName: string
}

/** The functions that read entries. */
export interface EntryReaders {
  readonly read: ReadEntry
  stream(source: ByteSource, entry: ZipEntry): AsyncIterable<Uint8Array>
}

/**
 * Lists the contents of archives as if they were one folder. Only possible sitemaps are read.
 *
 * @returns the contents, and the location of each of `files`
 * @throws InvalidArchive
 */
export async function listContents(
  volumes: readonly Volume[],
  { limits, numbers, junk, fileName }: Opened,
  { read, stream }: EntryReaders,
): Promise<ExportContents & { fileAt(path: string): Listed }> {
  const own = numbers.length === 0 ? partNumber(fileName) : undefined
  const missing = missingParts(own === undefined ? numbers : [own])
  checkSizes(
    volumes.flatMap(({ entries }) => entries),
    limits,
  )
  const listed = await merge(volumes, limits, read)
  const pages = listed.filter(({ entry }) => isPage(entry.path))
  const files = listed.filter(({ entry }) => !isPage(entry.path))
  const exported = pages.map((page) => toPage(page, limits, read))
  const sitemaps = await findSitemaps(exported)
  const [sitemap = null] = sitemaps
  if (exported.every((page) => sitemaps.has(page))) {
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
  return {
    pages: exported,
    sitemap,
    sitemaps,
    missingParts: missing,
    files: new Map(files.map(({ entry }) => [pathKey(entry.path), entry.path])),
    fileAt,
    readFile(path) {
      const { source, entry } = fileAt(path)
      return stream(source, entry)
    },
    modifiedAt: (path) => dosDate(fileAt(path).entry.dosTime),
    faultOf: (path) => faultOf(fileAt(path).entry, limits),
    sizeOf: (path) => fileAt(path).entry.size,
  }
}
