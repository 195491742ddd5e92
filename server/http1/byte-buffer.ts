// Collects bytes that arrive in small pieces and are only useful as a whole: heads, chunk lines,
// trailers.
import { NO_BYTES } from './header-fields.ts'

/** A piece is copied into a buffer of at least this size. */
const MIN_BYTES = 1024

/**
 * Short pieces are copied into a buffer with spare room, so that each byte is copied once or twice.
 * Bytes already handed out are never overwritten.
 */
export class ByteBuffer {
  readonly #maxBytes: number
  #bytes: Buffer = NO_BYTES
  #used = 0

  /** @param most longer data is joined without spare room */
  constructor(most: number) {
    this.#maxBytes = most
  }

  /** The unread bytes, followed by more. */
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

  /** Whether these bytes are in this buffer's own memory. */
  owns(bytes: Buffer): boolean {
    return bytes.buffer === this.#bytes.buffer
  }
}
