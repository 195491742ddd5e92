// What an archive may unpack to: sizes and ratios, from what the directories declare, before
// anything is inflated. A ZIP bomb ends here.
import { isRead } from './entry-kinds.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'

/**
 * Checks the limits on sizes and ratios, from the directories' declarations.
 *
 * @throws InvalidArchive
 */
export function checkSizes(entries: readonly ZipEntry[], limits: ArchiveLimits): void {
  const all = { path: '', size: 0, packedSize: 0 }
  for (const entry of entries) {
    const { path, size, packedSize } = entry
    if (!isRead(path)) {
      checkRatio('bomb_file', entry, limits.fileFloor, limits.ratio)
      continue
    }
    // A smaller page that inflates too much is only left out (`faultOf`); the others are converted.
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

/** @throws InvalidArchive if an entry larger than `floor` bytes inflates more than `ratio` times */
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

/** Up to this many times `fileFloor` bytes, all files together may have any ratio. */
const MAX_FILES_AT_FLOOR = 4

/**
 * Checks the ratio of all files together: many below the floor take as long to inflate as one far
 * above it.
 *
 * @throws InvalidArchive which names the file that inflates most
 */
export function checkFiles(files: readonly ZipEntry[], limits: ArchiveLimits): void {
  const [size, packedSize] = (['size', 'packedSize'] as const).map((field) =>
    files.reduce((sum, entry) => sum + entry[field], 0),
  ) as [number, number]
  if (size <= limits.fileFloor * MAX_FILES_AT_FLOOR || size <= packedSize * limits.ratio) return
  const worst = files.reduce((most, entry) => (ratioOf(entry) > ratioOf(most) ? entry : most))
  throw new InvalidArchive('bomb_file', { name: worst.path, n: ratioOf(worst), max: limits.ratio })
}
