// One hash of everything that a folder of pages depends on: the same key gives the same folder.
import { createHash, type Hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidArchive } from '../invalid-archive.ts'
import { limitsOf, type ArchiveLimits } from '../limits.ts'
import { fileSource } from '../source.ts'
import { readZip } from '../zip.ts'
import type { Flavor } from './flavors.ts'

/** The folder's inputs besides the export. */
export interface KeyOptions {
  readonly flavor: Flavor
  readonly limits: Partial<ArchiveLimits>
  /** Further inputs by the caller. */
  readonly mode: string
}

/**
 * The key of an export and its conversion: a SHA-256 of the paths, sizes and CRC-32s of its files,
 * in the order of the archive's directory (a part's files count by its own directory), of the
 * options, and of the engine. No content is read.
 *
 * @returns hexadecimal; null if the archive is invalid
 */
export async function exportKey(path: string, options: KeyOptions): Promise<string | null> {
  const hash = createHash('sha256')
  const { flavor, limits, mode } = options
  const all = limitsOf(limits)
  hash.update(JSON.stringify([flavor, mode, Object.entries(all), process.versions]))
  addConverter(hash)
  try {
    await using source = await fileSource(path)
    for (const { path: name, size, crc, isFolder } of await readZip(source, all))
      if (!isFolder) hash.update(JSON.stringify([name, size, crc]))
  } catch (error) {
    if (error instanceof InvalidArchive) return null
    throw error
  }
  return hash.digest('hex')
}

/** The folder of this package's modules, with its dependencies. */
const MODULES = join(import.meta.dirname, '..', '..')

/** The modules themselves, because the version does not change with every change to them. */
function addConverter(hash: Hash): void {
  const modules = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
  for (const name of modules.filter((one) => /\.[jt]s$/.test(one)).toSorted()) {
    hash.update(`\n${name}\n`)
    hash.update(readFileSync(join(MODULES, name)))
  }
}
