import { tmpdir } from 'node:os'
import { METHOD } from './format.ts'
import { readEntry, streamEntry } from './inflate.ts'
import { InflatedPart, cacheEntries } from './inflated-part.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import { bytesSource, rangeSource, type ByteSource } from './source.ts'
import { readZip } from './zip.ts'

/** One archive's entries, and where their data is. */
export interface Volume {
  readonly source: ByteSource
  readonly entries: readonly ZipEntry[]
}

/** Exports since 2024 are an archive of one or more of these, at its root and nowhere else. */
const PART_NAME = /^[^/]*-Part-(\d+)\.zip$/i

/** Parts up to this size are inflated into memory. */
const IN_MEMORY = 8 * 1024 * 1024

/** A part anywhere in an archive, not at its root alone. */
const PART_ANYWHERE = /-Part-\d+\.zip$/i

/** The number of a part by its name, if it is called like one. */
export function partNumber(name: string): number | undefined {
  const number = PART_NAME.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** The numbers that are missing among parts: from 1 to the highest that is there. */
export function missingParts(numbers: readonly number[]): number[] {
  const known = new Set(numbers)
  const highest = numbers.reduce((most, number) => Math.max(most, number), 0)
  const missing: number[] = []
  for (let number = 1; number < highest && missing.length < 100; number++) if (!known.has(number)) missing.push(number)
  return missing
}

/** Why an archive has no page, as far as the archives inside it tell. */
export function archivesInside(paths: readonly string[]): InvalidArchive | undefined {
  const inFolder = paths.find((path) => path.includes('/') && PART_ANYWHERE.test(path))
  if (inFolder !== undefined) return new InvalidArchive('parts_in_folder', { name: inFolder })
  const inner = paths.find((path) => /\.zip$/i.test(path) && partNumber(path) === undefined)
  return inner === undefined ? undefined : new InvalidArchive('zip_of_zips', { name: inner })
}

/** @returns the entries that are parts of the export, in the order of their numbers */
export function findParts(entries: readonly ZipEntry[]): ZipEntry[] {
  const numbered = entries.map((entry) => ({ entry, number: Number(PART_NAME.exec(entry.path)?.[1]) }))
  const parts = numbered.filter(({ number }) => !Number.isNaN(number)).sort((a, b) => a.number - b.number)
  return parts.map(({ entry }) => entry)
}

/**
 * Opens a part in place if it is stored, else from memory, or (a large one) by inflating it as it is read. Its checksum is verified in any case.
 * What is opened goes onto `stack`.
 *
 * @param isRead whether an entry is going to be read, by its path
 * @param folder for scratch files; the system's folder for temporary files if not given
 * @throws InvalidArchive which names the part
 */
export async function openPart(
  outer: ByteSource,
  part: ZipEntry,
  limits: ArchiveLimits,
  isRead: (path: string) => boolean,
  folder: string | undefined,
  stack: AsyncDisposableStack,
): Promise<Volume> {
  const isLarge = part.method !== METHOD.stored && part.size > IN_MEMORY
  const inflated = isLarge ? new InflatedPart(outer, part) : undefined
  const source = inflated ?? (await smallPart(outer, part))
  await inflated?.check()
  let entries: ZipEntry[]
  try {
    entries = await readZip(source, limits)
  } catch (error) {
    throw error instanceof InvalidArchive ? error.inPart(part.path) : error
  }
  if (!inflated) return { source, entries }
  inflated.forgetEnd()
  const cached = await cacheEntries(inflated, entries.filter(({ path }) => isRead(path)), folder ?? tmpdir())
  stack.defer(() => cached.close())
  return { source: cached, entries }
}

async function smallPart(outer: ByteSource, part: ZipEntry): Promise<ByteSource> {
  if (part.method !== METHOD.stored) return bytesSource(await readEntry(outer, part))
  for await (const _ of streamEntry(outer, part)) continue
  return rangeSource(outer, part.dataAt, part.packedSize)
}
