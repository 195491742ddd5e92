// Writes ZIP archives (APPNOTE 6.3), with ZIP64 if sizes need it: for exports made of several
// files, and for folders of pages.
import { open, type FileHandle } from 'node:fs/promises'
import { crc32, deflateRawSync } from 'node:zlib'
import { METHOD } from './format.ts'

const MAX_ENTRY_BYTES = 0xffffffff
/** Names are UTF-8. */
const FLAGS = 0x0800
/** The compression level of text: 6 takes twice the time, for 3 % less. */
const DEFLATE_LEVEL = 4

/** The properties of a written entry. */
export interface Packed {
  /** Its path, with exactly as many bytes as were reserved for it. */
  readonly path: string
  /** 0: stored, 8: deflated. */
  readonly method: number
  /** CRC-32 and size of the inflated content. */
  readonly crc: number
  readonly size: number
}

/** Bytes that are gathered before they are written. */
const GATHERED_BYTES = 256 * 1024

interface Entry {
  readonly name: Buffer
  readonly method: number
  readonly modified: number
  readonly at: number
  readonly size: number
  readonly packedSize: number
  readonly crc: number
}

/** An archive being written. `finish` completes it. */
export class ZipWriter implements AsyncDisposable {
  readonly #file: FileHandle
  readonly #entries: Entry[] = []
  /** Small pieces, which are written together. */
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  /** The size of the file, without buffered bytes. */
  #end = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Creates a file that only its owner can read. */
  static async create(path: string): Promise<ZipWriter> {
    return new ZipWriter(await open(path, 'wx', 0o600))
  }

  /**
   * Adds a file, stored.
   *
   * @param path with `/` between folders
   * @param modified milliseconds since 1970
   */
  async add(path: string, modified: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.addPacked(Buffer.byteLength(path), modified, async (write) => {
      let [crc, size] = [0, 0]
      for await (const piece of content) {
        crc = crc32(piece, crc)
        size += piece.length
        await write(piece)
      }
      return { path, method: METHOD.stored, crc, size }
    })
  }

  /** Adds a text, deflated. */
  async addText(path: string, modified: number, text: string): Promise<void> {
    const content = Buffer.from(text)
    const data = deflateRawSync(content, { level: DEFLATE_LEVEL })
    const entry: Entry = {
      name: Buffer.from(path),
      method: METHOD.deflated,
      modified,
      at: this.#end + this.#gatheredBytes,
      size: content.length,
      packedSize: data.length,
      crc: crc32(content),
    }
    this.#entries.push(entry)
    await this.#gather(localHeader(entry))
    await this.#gather(data)
  }

  /**
   * Adds a file that is already packed.
   *
   * @param nameBytes the number of bytes of its path
   * @param fill writes the packed bytes; if it returns null, there is no such entry
   */
  async addPacked(
    nameBytes: number,
    modified: number,
    fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<Packed | null>,
  ): Promise<void> {
    await this.#flush()
    const at = this.#end
    const dataAt = (this.#end = at + LOCAL_BYTES + nameBytes)
    let packed: Packed | null = null
    try {
      packed = await fill((piece) => this.#write(piece))
    } finally {
      if (packed === null) this.#end = at
    }
    if (packed === null) return
    const { path, ...facts } = packed
    const packedSize = this.#end - dataAt
    const entry: Entry = { ...facts, name: Buffer.from(path), modified, at, packedSize }
    if (entry.name.length !== nameBytes)
      throw new RangeError(`"${path}" does not have ${nameBytes} bytes`)
    const header = localHeader(entry)
    await this.#file.write(header, 0, header.length, at)
    this.#entries.push(entry)
  }

  /** Writes the directory. */
  async finish(): Promise<void> {
    await this.#flush()
    const at = this.#end
    for (const entry of this.#entries) await this.#gather(centralHeader(entry))
    await this.#flush()
    await this.#write(endRecords(this.#entries.length, at, this.#end - at))
    await this.#file.truncate(this.#end)
  }

  async #gather(bytes: Uint8Array): Promise<void> {
    this.#gathered.push(bytes)
    this.#gatheredBytes += bytes.length
    if (this.#gatheredBytes >= GATHERED_BYTES) await this.#flush()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#gathered)
    this.#gathered = []
    this.#gatheredBytes = 0
    await this.#write(bytes)
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#end)
      done += bytesWritten
      this.#end += bytesWritten
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close()
  }
}

/** An entry's own header, without its name: 30 bytes, and a field for two sizes of eight bytes. */
const LOCAL_BYTES = 30 + 20

/**
 * Its own header always has room for sizes of eight bytes, because they are known only after the
 * data.
 */
function localHeader(entry: Entry): Buffer {
  const { name, size, packedSize } = entry
  const fixed = Buffer.alloc(30)
  fixed.writeUInt32LE(0x04034b50, 0)
  writeCommon(fixed, 4, entry)
  fixed.writeUInt16LE(20, 28)
  return Buffer.concat([fixed, name, wide([size, packedSize])])
}

function centralHeader(entry: Entry): Buffer {
  const { name, size, packedSize, at } = entry
  const fixed = Buffer.alloc(46)
  fixed.writeUInt32LE(0x02014b50, 0)
  fixed.writeUInt16LE(45, 4)
  writeCommon(fixed, 6, entry)
  const extra = wide(at < MAX_ENTRY_BYTES ? [size, packedSize] : [size, packedSize, at])
  fixed.writeUInt16LE(extra.length, 30)
  fixed.writeUInt32LE(Math.min(at, MAX_ENTRY_BYTES), 42)
  return Buffer.concat([fixed, name, extra])
}

/**
 * The common part of both headers: version, flags, method, time, checksum, sizes, length of the
 * name.
 */
function writeCommon(header: Buffer, at: number, { name, modified, crc, method }: Entry): void {
  const time = new Date(modified)
  const day =
    ((Math.max(time.getUTCFullYear(), 1980) - 1980) << 9) |
    ((time.getUTCMonth() + 1) << 5) |
    time.getUTCDate()
  const clock =
    (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)
  header.writeUInt16LE(45, at)
  header.writeUInt16LE(FLAGS, at + 2)
  header.writeUInt16LE(method, at + 4)
  header.writeUInt16LE(clock, at + 6)
  header.writeUInt16LE(day, at + 8)
  header.writeUInt32LE(crc, at + 10)
  header.writeUInt32LE(MAX_ENTRY_BYTES, at + 14)
  header.writeUInt32LE(MAX_ENTRY_BYTES, at + 18)
  header.writeUInt16LE(name.length, at + 22)
}

/** The extra field of numbers that need eight bytes. */
function wide(numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(8 * numbers.length, 2)
  for (const [place, number] of numbers.entries())
    field.writeBigUInt64LE(BigInt(number), 4 + 8 * place)
  return field
}

function endRecords(count: number, at: number, size: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  for (const place of [8, 10]) end.writeUInt16LE(Math.min(count, 0xffff), place)
  end.writeUInt32LE(Math.min(size, MAX_ENTRY_BYTES), 12)
  end.writeUInt32LE(Math.min(at, MAX_ENTRY_BYTES), 16)
  if (count < 0xffff && at < MAX_ENTRY_BYTES && size < MAX_ENTRY_BYTES) return end
  const whole = Buffer.alloc(56)
  whole.writeUInt32LE(0x06064b50, 0)
  whole.writeBigUInt64LE(44n, 4)
  whole.writeUInt16LE(45, 12)
  whole.writeUInt16LE(45, 14)
  for (const [place, number] of [count, count, size, at].entries())
    whole.writeBigUInt64LE(BigInt(number), 24 + 8 * place)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(at + size), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([whole, locator, end])
}
