// A deflated part as a source, without keeping it: it is inflated from its beginning for every step
// backwards. For files that are unpacked one after another; conversions read a copy (part-copy.ts).
import { streamEntry } from './inflate.ts'
import type { ZipEntry } from './layout.ts'
import type { ByteSource } from './byte-source.ts'

/** How far a reader may go back without starting again (bytes). */
const LOOKBACK_BYTES = 1024 * 1024

type Pieces = AsyncGenerator<Uint8Array>

/** Reads a part from beginning to end; going back starts again. */
export class InflatedPart implements ByteSource {
  readonly size: number
  readonly #outer: ByteSource
  readonly #part: ZipEntry
  #pieces: Pieces | null = null
  /** The last pieces, and the range that they cover. */
  #window: Uint8Array[] = []
  #from = 0
  #to = 0

  constructor(outer: ByteSource, part: ZipEntry) {
    this.#outer = outer
    this.#part = part
    this.size = part.size
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size))
      throw new RangeError(`${length} bytes from ${offset} are not inside ${this.size} bytes`)
    const pieces = offset < this.#from || !this.#pieces ? await this.#begin() : this.#pieces
    const bytes = Buffer.allocUnsafe(length)
    let done = this.#copy(bytes, offset, 0)
    while (done < length) {
      await this.#next(pieces, offset)
      done = this.#copy(bytes, offset, done)
    }
    return bytes
  }

  /** Ends reading. */
  async close(): Promise<void> {
    await this.#pieces?.return(undefined)
    this.#pieces = null
    this.#window = []
  }

  async #begin(): Promise<Pieces> {
    await this.close()
    this.#from = this.#to = 0
    return (this.#pieces = streamEntry(this.#outer, this.#part))
  }

  /** Adds a piece, and drops those far before `needed`. */
  async #next(pieces: Pieces, needed: number): Promise<void> {
    const { value, done } = await pieces.next()
    if (done) throw new RangeError(`the part ended after ${this.#to} of ${this.size} bytes`)
    this.#window.push(value)
    this.#to += value.length
    const keptFrom = Math.min(needed, this.#to) - LOOKBACK_BYTES
    for (const { length } of this.#window.slice(0, -1)) {
      if (this.#from + length > keptFrom) break
      this.#from += length
      this.#window.shift()
    }
  }

  /**
   * Copies the part of the window from `offset + done`; returns the number of bytes copied so far.
   */
  #copy(bytes: Buffer, offset: number, done: number): number {
    let filled = done
    let at = this.#from
    for (const piece of this.#window) {
      const start = offset + filled - at
      if (start >= 0 && start < piece.length && filled < bytes.length) {
        const some = piece.subarray(start, start + bytes.length - filled)
        bytes.set(some, filled)
        filled += some.length
      }
      at += piece.length
    }
    return filled
  }
}
