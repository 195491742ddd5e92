// A deflated part as a source, without keeping it: it is inflated from its beginning for every step
// backwards. For files that are unpacked one after another; conversions read a copy (part-copy.ts).
import { streamEntry } from './inflate.ts'
import type { ZipEntry } from './layout.ts'
import type { ByteSource } from './byte-source.ts'

/** How far a reader may go back without starting again (bytes). */
const LOOKBACK_BYTES = 1024 * 1024

/** Reads a part from beginning to end; going back starts again. */
export class InflatedPart implements ByteSource {
  readonly size: number
  readonly #outer: ByteSource
  readonly #part: ZipEntry
  #pieces: AsyncGenerator<Uint8Array> | null = null
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
    if (offset < this.#from || this.#pieces === null) await this.#begin()
    const bytes = Buffer.allocUnsafe(length)
    let done = this.#copy(bytes, offset, 0)
    while (done < length) {
      await this.#next(offset)
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

  async #begin(): Promise<void> {
    await this.close()
    this.#pieces = streamEntry(this.#outer, this.#part)
    this.#from = this.#to = 0
  }

  /** Adds a piece, and drops those far before `needed`. */
  async #next(needed: number): Promise<void> {
    const { value, done } = await this.#pieces!.next()
    if (done) throw new RangeError(`the part ended after ${this.#to} of ${this.size} bytes`)
    this.#window.push(value)
    this.#to += value.length
    while (
      this.#window.length > 1 &&
      this.#from + this.#window[0]!.length <= Math.min(needed, this.#to) - LOOKBACK_BYTES
    )
      this.#from += this.#window.shift()!.length
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
