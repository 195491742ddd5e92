// Bytes with random access: in memory, or a range of another source.

/**
 * Bytes that can be read at any offset, such as a file. Only the result of a call is in memory.
 */
export interface ByteSource {
  /** The size in bytes. */
  readonly size: number
  /**
   * Reads exactly `length` bytes from `offset`.
   *
   * @throws RangeError if they are not all inside the source
   */
  read(offset: number, length: number): Promise<Uint8Array>
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
 * The `size` bytes of `source` from `start`, as a separate source that cannot read outside them.
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

/** @throws RangeError if bytes are not all inside */
export function checkRange(size: number, offset: number, length: number): void {
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

/** Joins all pieces. */
export async function wholeOf(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  const whole = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of all) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
