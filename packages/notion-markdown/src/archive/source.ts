import { open, type FileHandle } from 'node:fs/promises'

/**
 * Bytes that can be read at any place, such as a file. Nothing is held in memory but what a call
 * returns.
 */
export interface ByteSource {
  /** How many bytes there are. */
  readonly size: number
  /**
   * Reads exactly `length` bytes from `offset`.
   *
   * @throws RangeError when they do not all lie inside the source
   */
  read(offset: number, length: number): Promise<Uint8Array>
}

/** A source that holds something open until `close` is called. */
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
  return {
    size,
    async read(offset, length) {
      checkRange(size, offset, length)
      const bytes = Buffer.allocUnsafe(length)
      let done = 0
      while (done < length) {
        const { bytesRead } = await handle.read(bytes, done, length - done, offset + done)
        if (bytesRead === 0)
          throw new RangeError(`the file ended after ${offset + done} of ${size} bytes`)
        done += bytesRead
      }
      return bytes
    },
    close: () => handle.close(),
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/** Bytes in memory. What `read` returns is a view of them, not a copy. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    async read(offset, length) {
      checkRange(bytes.length, offset, length)
      return bytes.subarray(offset, offset + length)
    },
  }
}

/**
 * The `size` bytes of `source` from `start`, as a source of their own that cannot reach outside.
 */
export function rangeSource(source: ByteSource, start: number, size: number): ByteSource {
  checkRange(source.size, start, size)
  return {
    size,
    async read(offset, length) {
      checkRange(size, offset, length)
      return source.read(start + offset, length)
    },
  }
}

/** The bytes from `start`, `length` of them, in pieces of at most `piece` bytes. */
export async function* pieces(
  source: ByteSource,
  start: number,
  length: number,
  piece = 256 * 1024,
): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < length; done += piece) {
    yield await source.read(start + done, Math.min(piece, length - done))
  }
}

function checkRange(size: number, offset: number, length: number): void {
  if (
    !(
      Number.isSafeInteger(offset) &&
      Number.isSafeInteger(length) &&
      offset >= 0 &&
      length >= 0 &&
      offset + length <= size
    )
  ) {
    throw new RangeError(`${length} bytes from ${offset} are not inside ${size} bytes`)
  }
}
