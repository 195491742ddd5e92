// Where bytes are gathered that come in small pieces and are of use only together: heads, the lines
// of chunks, trailers.
import { NO_BYTES } from './header-fields.ts'

/** A piece is copied into a buffer of this size at least. */
const MIN_BYTES = 1024

/**
 * What is short is copied into a buffer with room for what follows, so that each byte is copied
 * once or twice. Bytes that were given out are never written again.
 */
export class ByteBuffer {
  readonly #maxBytes: number
  #bytes: Buffer = NO_BYTES
  #used = 0

  /** @param most what is longer is joined without room for more */
  constructor(most: number) {
    this.#maxBytes = most
  }

  /** What is unread, with more behind it. */
  append(unread: Buffer, more: Buffer): Buffer {
    const length = unread.length + more.length
    if (length > this.#maxBytes) return Buffer.concat([unread, more], length)
    const from = unread.byteOffset - this.#bytes.byteOffset
    const to = from + unread.length
    if (!this.owns(unread) || to !== this.#used || to + more.length > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(MIN_BYTES, length * 2))
      this.#used = length
      unread.copy(this.#bytes)
      more.copy(this.#bytes, unread.length)
      return this.#bytes.subarray(0, length)
    }
    more.copy(this.#bytes, to)
    this.#used = to + more.length
    return this.#bytes.subarray(from, this.#used)
  }

  /** Whether these are bytes that were gathered here. */
  owns(bytes: Buffer): boolean {
    return bytes.buffer === this.#bytes.buffer
  }

  /** Keeps nothing. */
  clear(): void {
    this.#bytes = NO_BYTES
  }
}
