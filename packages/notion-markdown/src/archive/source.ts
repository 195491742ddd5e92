// The bytes of files.
import { readSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { checkRange, type ByteSource } from './byte-source.ts'

/** A source that keeps something open until `close` is called. */
export interface OpenSource extends ByteSource, AsyncDisposable {
  close(): Promise<void>
}

/**
 * The bytes of a file, read on demand. A file that shrinks while it is being read ends in a
 * RangeError, never in short data.
 */
export async function fileSource(path: string): Promise<OpenSource> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    return handleSource(handle, size)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The first `size` bytes of an open file, as `fileSource`. Closing the source closes the file. */
export function handleSource(handle: FileHandle, size: number): OpenSource {
  const ahead = new ReadAhead()
  const fill = async (offset: number, bytes: Buffer): Promise<Buffer> => {
    for (let done = 0; done < bytes.length;) {
      const left = bytes.length - done
      const bytesRead =
        left <= SYNC_BYTES
          ? await readNow(handle, bytes, done, left, offset + done)
          : (await handle.read(bytes, done, left, offset + done)).bytesRead
      if (bytesRead === 0)
        throw new RangeError(`the file ended after ${offset + done} of ${size} bytes`)
      done += bytesRead
    }
    return bytes
  }
  return {
    size,
    async read(offset, length) {
      checkRange(size, offset, length)
      const known = ahead.take(offset, length)
      if (known) return known
      const most = ahead.wanted(offset, length)
      if (most === 0) return fill(offset, Buffer.allocUnsafe(length))
      ahead.keep(offset, await fill(offset, Buffer.allocUnsafe(Math.min(most, size - offset))))
      return ahead.take(offset, length) ?? fill(offset, Buffer.allocUnsafe(length))
    },
    close: () => handle.close(),
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/**
 * Maximum bytes of a synchronous read. From the system's cache it takes some 20 µs. An asynchronous
 * read waits for a thread of the pool: up to 0.2 ms beside other busy threads, a quarter of what a
 * page takes to convert.
 */
const SYNC_BYTES = 256 * 1024

/**
 * Reads synchronously, and then lets the event loop turn as after any read: V8 frees the memory of
 * earlier pages in tasks of it.
 */
async function readNow(
  { fd }: FileHandle,
  bytes: Buffer,
  at: number,
  length: number,
  offset: number,
): Promise<number> {
  const bytesRead = readSync(fd, bytes, at, length, offset)
  await setImmediate()
  return bytesRead
}

/** Bytes to read ahead, and the longest read that may be served from them. */
const AHEAD_BYTES = 128 * 1024
const SMALL_BYTES = 32 * 1024
/** Maximum gap in bytes between consecutive small reads. */
const NEAR_BYTES = 4 * 1024

/**
 * Read-ahead for consecutive small reads, such as headers and small pages: a single one costs ten
 * times as much. Headers of large files are too far apart.
 */
class ReadAhead {
  #at = 0
  #bytes: Buffer = Buffer.alloc(0)
  /** The end of the last read. */
  #end = -1

  /** A copy of the bytes, if all of them are buffered. */
  take(offset: number, length: number): Buffer | undefined {
    const from = offset - this.#at
    if (length > SMALL_BYTES || from < 0 || from + length > this.#bytes.length) return undefined
    this.#end = offset + length
    return Buffer.from(this.#bytes.subarray(from, from + length))
  }

  /** How much to read ahead for unbuffered bytes; 0 for only the bytes themselves. */
  wanted(offset: number, length: number): number {
    const isNext = offset >= this.#end && offset - this.#end <= NEAR_BYTES && this.#end >= 0
    this.#end = offset + length
    return isNext && length <= SMALL_BYTES ? AHEAD_BYTES : 0
  }

  keep(offset: number, bytes: Buffer): void {
    this.#at = offset
    this.#bytes = bytes
  }
}
