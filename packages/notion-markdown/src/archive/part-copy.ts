// Copies deflated parts, which do not allow random access: each part is inflated once, and the
// ranges that converting needs are written at their offsets to a sparse file. The rest (images,
// attachments: most of a part) is never written.
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { streamEntry } from './inflate.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import { NeededRanges, skipsOnlyUnneeded, type NeededRange } from './needed-ranges.ts'
import type { ByteSource } from './byte-source.ts'
import { handleSource, type OpenSource } from './source.ts'
import { readPart } from './directories.ts'

/** Bytes that are gathered before they are written. */
const BATCH_BYTES = 1024 * 1024

/** The inputs of a copy. */
export interface PartCopyOptions {
  readonly outer: ByteSource
  readonly part: ZipEntry
  readonly limits: Pick<ArchiveLimits, 'entries' | 'directoryBytes'>
  /** Whether the data of an entry is needed, by its path. */
  readonly isNeeded: (path: string) => boolean
}

/**
 * Copies a part to the new file `path`, which is removed if this fails.
 *
 * @param isKept whether the file keeps its name; otherwise it disappears with its handle, even if
 *   the process is killed
 * @throws InvalidArchive if the part differs from the directory
 */
export async function copyPart(
  options: PartCopyOptions,
  path: string,
  isKept: boolean,
): Promise<OpenSource & { entries: ZipEntry[] }> {
  const file = await open(path, 'wx+', 0o600)
  try {
    if (!isKept) await unlink(path)
    const entries = (await copySparsely(options, file)) ?? (await copyWhole(options, file))
    return { ...handleSource(file, options.part.size), entries }
  } catch (error) {
    await file.close()
    if (isKept) await unlink(path)
    throw error
  }
}

/**
 * @returns undefined if skipped data turned out to be needed, or the part is faulty: only a
 *   complete copy shows the fault
 */
async function copySparsely(
  options: PartCopyOptions,
  file: FileHandle,
): Promise<ZipEntry[] | undefined> {
  const ranges = new NeededRanges(options.isNeeded)
  await write(options, ranges, file)
  try {
    const entries = await readPart(
      handleSource(file, options.part.size),
      options.part,
      options.limits,
    )
    return skipsOnlyUnneeded(ranges.skipped, entries, options.isNeeded) ? entries : undefined
  } catch (error) {
    if (!(error instanceof InvalidArchive) || ranges.skipped.length === 0) throw error
    return undefined
  }
}

async function copyWhole(options: PartCopyOptions, file: FileHandle): Promise<ZipEntry[]> {
  await write(options, new NeededRanges(() => true), file)
  return readPart(handleSource(file, options.part.size), options.part, options.limits)
}

async function write(
  { outer, part }: PartCopyOptions,
  ranges: NeededRanges,
  file: FileHandle,
): Promise<void> {
  const writer = new RangeWriter(file)
  for await (const piece of streamEntry(outer, part)) {
    for (const range of ranges.next(piece)) await writer.put(range)
  }
  for (const range of ranges.last()) await writer.put(range)
  await writer.flush()
  await file.truncate(part.size)
}

/** Writes ranges; adjacent ones are written together. */
class RangeWriter {
  readonly #file: FileHandle
  #gathered: Uint8Array[] = []
  #at = 0
  #size = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async put({ at, bytes }: NeededRange): Promise<void> {
    if (at !== this.#at + this.#size || this.#size >= BATCH_BYTES) {
      await this.flush()
      this.#at = at
    }
    this.#gathered.push(bytes)
    this.#size += bytes.length
  }

  async flush(): Promise<void> {
    let left = this.#gathered
    this.#gathered = []
    while (left.length > 0) {
      const { bytesWritten } = await this.#file.writev(left, this.#at)
      this.#at += bytesWritten
      this.#size -= bytesWritten
      left = behind(left, bytesWritten)
    }
  }
}

/** The rest of pieces after their first `count` bytes. */
function behind(pieces: readonly Uint8Array[], count: number): Uint8Array[] {
  let skipped = count
  return pieces.flatMap((piece) => {
    const some = piece.subarray(Math.min(skipped, piece.length))
    skipped -= piece.length - some.length
    return some.length > 0 ? [some] : []
  })
}
