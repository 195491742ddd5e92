// Flushes files to disk as they grow.
import { open } from 'node:fs/promises'

/**
 * Bytes written between two flushes. Without them a large file is flushed all at once when it
 * becomes a blob, and every write of the store waits; after 2 MB they still wait some milliseconds.
 * Smaller files are never flushed: most do not become blobs.
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
