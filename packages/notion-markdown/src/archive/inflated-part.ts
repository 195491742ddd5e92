// A deflated part as a source of its own, without ever holding it: it is inflated from its beginning, as often as somebody has to go back.
// What is read again and again (pages, databases) is kept packed in a scratch file: a small share of a part, most of which is media.
import { randomUUID } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { streamEntry } from './inflate.ts'
import type { ZipEntry } from './layout.ts'
import type { ByteSource } from './source.ts'

/** How much of the part's end is kept, where its directory lies. */
const TAIL = 4 * 1024 * 1024
/** How far a reader may go back without a new beginning. */
const LOOKBACK = 1024 * 1024

/** Reads a part from its beginning to its end; going back costs a new beginning. */
export class InflatedPart implements ByteSource {
  readonly size: number
  readonly #outer: ByteSource
  readonly #part: ZipEntry
  #pieces: AsyncGenerator<Uint8Array> | null = null
  /** The last pieces, and where they begin and end. */
  #window: Uint8Array[] = []
  #from = 0
  #to = 0
  #tail: Buffer = Buffer.alloc(0)

  constructor(outer: ByteSource, part: ZipEntry) {
    this.#outer = outer
    this.#part = part
    this.size = part.size
  }

  /**
   * Inflates all of it once, and keeps its end.
   *
   * @throws InvalidArchive where it is not what the archive announced
   */
  async check(): Promise<void> {
    const last: Uint8Array[] = []
    let bytes = 0
    for await (const piece of streamEntry(this.#outer, this.#part)) {
      last.push(piece)
      bytes += piece.length
      while (bytes - last[0]!.length >= TAIL) bytes -= last.shift()!.length
    }
    this.#tail = Buffer.concat(last)
  }

  /** Lets the kept end go: from now on it is read like all else. */
  forgetEnd(): void {
    this.#tail = Buffer.alloc(0)
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size)) throw new RangeError(`${length} bytes from ${offset} are not inside ${this.size} bytes`)
    const tailAt = this.size - this.#tail.length
    if (offset >= tailAt && this.#tail.length > 0) return this.#tail.subarray(offset - tailAt, offset - tailAt + length)
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

  /** Takes one more piece; lets those go that lie far before `needed`. */
  async #next(needed: number): Promise<void> {
    const { value, done } = await this.#pieces!.next()
    if (done) throw new RangeError(`the part ended after ${this.#to} of ${this.size} bytes`)
    this.#window.push(value)
    this.#to += value.length
    while (this.#window.length > 1 && this.#from + this.#window[0]!.length <= Math.min(needed, this.#to) - LOOKBACK) this.#from += this.#window.shift()!.length
  }

  /** Copies what the window holds of the bytes from `offset + done`; gives how many are there then. */
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

/** A part of which some entries lie packed in a scratch file that vanishes with its handle, also when the process is killed. */
export interface CachedPart extends ByteSource {
  close(): Promise<void>
}

/** Packs the data of entries into a scratch file, in one pass over the part. */
export async function cacheEntries(part: InflatedPart, entries: readonly ZipEntry[], folder: string): Promise<CachedPart> {
  const path = join(folder, `${randomUUID()}.part`)
  const file = await open(path, 'wx+', 0o600)
  try {
    const placeOf = new Map<number, number>()
    let at = 0
    for (const { dataAt, packedSize } of entries.toSorted((a, b) => a.dataAt - b.dataAt)) {
      await writeAll(file, await part.read(dataAt, packedSize), at)
      placeOf.set(dataAt, at)
      at += packedSize
    }
    return {
      size: part.size,
      async read(offset, length) {
        const place = placeOf.get(offset)
        if (place === undefined) return part.read(offset, length)
        const bytes = Buffer.allocUnsafe(length)
        for (let done = 0; done < length; ) {
          const { bytesRead } = await file.read(bytes, done, length - done, place + done)
          if (bytesRead === 0) throw new RangeError('a scratch file was cut')
          done += bytesRead
        }
        return bytes
      },
      close: async () => {
        await part.close()
        await file.close()
      },
    }
  } catch (error) {
    await file.close()
    throw error
  } finally {
    await unlink(path)
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
}
