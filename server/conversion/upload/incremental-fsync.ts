// Flushes files to disk as they grow.
import { open, type FileHandle } from 'node:fs/promises'

/**
 * Bytes written between two flushes. Without them a large file is flushed all at once when it
 * becomes a blob, and every write of the store waits; after 2 MB they still wait some milliseconds.
 * Smaller files are never flushed: most do not become blobs.
 */
export const FLUSH_BYTES = 512 * 1024

/**
 * Writes a new file, flushed as it grows. One batch is written and flushed while the next one is
 * gathered, so at most two batches of `FLUSH_BYTES` are in memory.
 */
export async function writeFlushing(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  let batch: Buffer[] = []
  let gathered = 0
  let flushing: Promise<void> = Promise.resolve()
  try {
    for await (const piece of pieces) {
      batch.push(piece)
      gathered += piece.length
      if (gathered < FLUSH_BYTES) continue
      await flushing
      flushing = writeAndFlush(file, batch)
      // Whether it failed is told where it is awaited, before the next batch.
      flushing.catch(() => {})
      batch = []
      gathered = 0
    }
  } finally {
    await flushing
  }
  await writeAll(file, batch)
}

async function writeAndFlush(file: FileHandle, batch: readonly Buffer[]): Promise<void> {
  await writeAll(file, batch)
  await file.datasync()
}

async function writeAll(file: FileHandle, batch: readonly Buffer[]): Promise<void> {
  if (batch.length > 0) await file.writeFile(batch)
}
