// The parts of an export, by their names.
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'

/** Exports since 2024 are an archive of one or more of these, at its root and nowhere else. */
const PART_NAME = /^[^/]*-Part-(\d+)\.zip$/i

/** A part anywhere in an archive, not only at its root. */
const PART_ANYWHERE = /-Part-\d+\.zip$/i

/** The number of a part by its name, if it has a part's name. */
export function partNumber(name: string): number | undefined {
  const number = PART_NAME.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** The missing numbers among parts, from 1 to the highest present. */
export function missingParts(numbers: readonly number[]): number[] {
  const known = new Set(numbers)
  const highest = numbers.reduce((most, number) => Math.max(most, number), 0)
  const missing: number[] = []
  for (let number = 1; number < highest && missing.length < 100; number++)
    if (!known.has(number)) missing.push(number)
  return missing
}

/** Why an archive has no page, judged by the archives inside it. */
export function archivesInside(paths: readonly string[]): InvalidArchive | undefined {
  const inFolder = paths.find((path) => path.includes('/') && PART_ANYWHERE.test(path))
  if (inFolder !== undefined) return new InvalidArchive('parts_in_folder', { name: inFolder })
  const inner = paths.find((path) => /\.zip$/i.test(path) && partNumber(path) === undefined)
  return inner === undefined ? undefined : new InvalidArchive('zip_of_zips', { name: inner })
}

/** @returns the entries that are parts of the export, in the order of their numbers */
export function findParts(entries: readonly ZipEntry[]): ZipEntry[] {
  const numbered = entries.map((entry) => ({
    entry,
    number: Number(PART_NAME.exec(entry.path)?.[1]),
  }))
  const parts = numbered
    .filter(({ number }) => !Number.isNaN(number))
    .sort((a, b) => a.number - b.number)
  return parts.map(({ entry }) => entry)
}
