// Files that are flushed to the disk as they grow.
import { open } from 'node:fs/promises'

/**
 * Bytes of a growing file after which they are flushed to the disk. Otherwise a large file goes
 * there all at once when it becomes a blob, and every write of the store waits behind it; behind
 * two megabytes it still waits for some milliseconds. A small file is not flushed at all: most of
 * them never become blobs.
 */
export const FLUSH_BYTES = 512 * 1024

/** Writes a new file, flushed as it grows. */
export async function writeFlushing(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  let unflushed = 0
  for await (const piece of pieces) {
    await file.writeFile(piece)
    unflushed += piece.length
    if (unflushed < FLUSH_BYTES) continue
    await file.datasync()
    unflushed = 0
  }
}
