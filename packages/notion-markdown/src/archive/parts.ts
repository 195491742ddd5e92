import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CleanupStack } from './cleanup.ts'
import { METHOD } from './format.ts'
import { readEntry, streamEntry } from './inflate.ts'
import { InflatedPart } from './inflated-part.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import type { Volume } from './listing.ts'
import { readPart } from './directories.ts'
import { copyPart } from './part-copy.ts'
import { bytesSource, rangeSource, type ByteSource } from './byte-source.ts'
import { fileSource } from './source.ts'

/** Parts up to this size are inflated into memory, by each process that converts. */
const MAX_IN_MEMORY_BYTES = 8 * 1024 * 1024

/** The inputs of opening a part. */
export interface PartOptions {
  readonly limits: ArchiveLimits
  /** Whether converting needs an entry, by its path. */
  readonly isNeeded: (path: string) => boolean
  /** A folder for scratch files. Default: the system's folder for temporary files. */
  readonly scratch: string | undefined
  /** The folder in which `unpackPart` left copies of all large parts. */
  readonly unpacked: string | undefined
}

/**
 * Opens a part: in place if it is stored, from memory if it is small, otherwise from a copy of the
 * needed data. The first reader verifies its checksum. Opened resources go onto `stack`.
 *
 * @param index the part's place among the parts
 * @throws InvalidArchive which names the part
 */
export async function openPart(
  outer: ByteSource,
  part: ZipEntry,
  index: number,
  options: PartOptions,
  stack: CleanupStack,
): Promise<Volume> {
  const { limits, isNeeded, scratch, unpacked } = options
  if (part.method === METHOD.stored) {
    if (!isLarge(part) || unpacked === undefined) await verify(outer, part)
    const source = rangeSource(outer, part.dataAt, part.packedSize)
    return { source, files: source, entries: await readPart(source, part, limits) }
  }
  if (!isLarge(part)) {
    const source = bytesSource(await readEntry(outer, part))
    return { source, files: source, entries: await readPart(source, part, limits) }
  }
  const files = new InflatedPart(outer, part)
  stack.defer(() => files.close())
  if (unpacked !== undefined) {
    const source = stack.use(await fileSource(join(unpacked, copyName(index))))
    return { source, files, entries: await readPart(source, part, limits) }
  }
  const path = join(scratch ?? tmpdir(), `${randomUUID()}.part`)
  const { entries, ...source } = await copyPart({ outer, part, limits, isNeeded }, path, false)
  stack.use(source)
  return { source, files, entries }
}

/**
 * Prepares a part once for all processes that convert an archive: a deflated part is copied into
 * `folder`, a stored one verified. Does nothing for a small part, or a part that another process
 * has begun.
 *
 * @throws InvalidArchive as `openPart`
 */
export async function unpackPart(
  outer: ByteSource,
  part: ZipEntry,
  index: number,
  options: Pick<PartOptions, 'limits' | 'isNeeded'>,
  folder: string,
): Promise<void> {
  if (!isLarge(part)) return
  const path = join(folder, copyName(index))
  try {
    if (part.method === METHOD.stored) {
      await writeFile(path, '', { flag: 'wx', mode: 0o600 })
      await verify(outer, part)
    } else await (await copyPart({ outer, part, ...options }, path, true)).close()
  } catch (error) {
    if (!isAlreadyCreated(error, path)) throw error
  }
}

/** Whether a part is large enough to be prepared once. */
function isLarge({ size }: ZipEntry): boolean {
  return size > MAX_IN_MEMORY_BYTES
}

const copyName = (index: number): string => `part-${index}`

function isAlreadyCreated(error: unknown, path: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'EEXIST' &&
    'path' in error &&
    error.path === path
  )
}

async function verify(outer: ByteSource, part: ZipEntry): Promise<void> {
  for await (const _ of streamEntry(outer, part)) continue
}
