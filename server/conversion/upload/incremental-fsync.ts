// Flushes files to disk as they grow.
import { open, type FileHandle } from 'node:fs/promises'

/**
 * Bytes written between two flushes. Otherwise a large file is flushed all at once when it becomes
 * a blob, and a commit of the ledger waits for it: 50 to 500 ms for 50 MB. With these small steps
 * it waits at most 7 ms.
 */
export const FLUSH_BYTES = 512 * 1024

/**
 * Most bytes written and not flushed while a flush runs. Waiting for each flush would cost a file
 * system commit of 12 ms per `FLUSH_BYTES`: 40 MB/s instead of 300.
 */
const MAX_UNFLUSHED_BYTES = 4 * FLUSH_BYTES

/**
 * Writes a new file and flushes it as it grows. One batch is written while the next is collected,
 * so at most two batches of `FLUSH_BYTES` are in memory.
 */
export async function writeFlushing(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  const writer = new FlushingWriter(file)
  let batch: Buffer[] = []
  let gathered = 0
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const piece of pieces) {
      batch.push(piece)
      gathered += piece.length
      if (gathered < FLUSH_BYTES) continue
      await writing
      writing = writer.write(batch)
      // A failure surfaces when it is awaited, before the next batch.
      writing.catch(() => {})
      batch = []
      gathered = 0
    }
  } finally {
    await writing
  }
  await writer.write(batch)
  await writer.flushed()
}

/** Writes batches to a file and flushes them, one flush at a time. */
class FlushingWriter {
  readonly #file: FileHandle
  #unflushed = 0
  #flushing: Promise<void> | null = null

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Writes a batch. Waits for the current flush only if too much is unflushed. */
  async write(batch: readonly Buffer[]): Promise<void> {
    if (batch.length === 0) return
    if (this.#unflushed >= MAX_UNFLUSHED_BYTES) await this.#flushing
    const size = batch.reduce((sum, { length }) => sum + length, 0)
    const { bytesWritten } = await this.#file.writev(batch)
    if (bytesWritten < size) await this.#file.writeFile(Buffer.concat(batch).subarray(bytesWritten))
    this.#unflushed += size
    if (this.#flushing === null && this.#unflushed >= FLUSH_BYTES) this.#flush()
  }

  /** Resolves when no flush is running. */
  async flushed(): Promise<void> {
    await this.#flushing
  }

  #flush(): void {
    this.#unflushed = 0
    const flushing = this.#file.datasync().then(() => void (this.#flushing = null))
    // A failed flush stays, so that the next write that awaits it fails.
    flushing.catch(() => {})
    this.#flushing = flushing
  }
}
