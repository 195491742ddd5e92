// The directories of an archive and of its parts.
import type { ByteSource } from './byte-source.ts'
import { checkRatio } from './declared-sizes.ts'
import { METHOD } from './format.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import { isExported } from './entry-kinds.ts'
import { findParts } from './part-names.ts'
import { readZip } from './zip.ts'

/**
 * The entries of an archive, and those of them that are parts of the export, within the limits on
 * parts.
 *
 * @throws InvalidArchive
 */
export async function partsOf(
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

/** Reads the directory of a part. @throws InvalidArchive which names the part */
export async function readPart(
  source: ByteSource,
  part: ZipEntry,
  limits: Parameters<typeof readZip>[1],
): Promise<ZipEntry[]> {
  try {
    return await readZip(source, limits)
  } catch (error) {
    throw error instanceof InvalidArchive ? error.inPart(part.path) : error
  }
}
