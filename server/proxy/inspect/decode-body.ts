// Decodes a compressed request body for inspection, off the main thread; the original bytes are
// forwarded.
import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  crc32,
} from 'node:zlib'

/**
 * One of Node's decoders. `bytesWritten`: bytes of the input that belonged to the one stream that
 * it decodes.
 */
type Decoder = Transform & { readonly bytesWritten: number }

/**
 * How much of the body frames the compressed stream, which is passed to the decoder with everything
 * after it.
 */
interface Framing {
  readonly head: number
  readonly tail: Buffer
}

interface Encoding {
  open(): Decoder
  /** Null if the body is not in this encoding. */
  frame(pieces: readonly Buffer[]): Framing | null
  /**
   * Whether these four bytes begin a second stream. The decoder would decode that one, too, if a
   * new piece began with it.
   */
  begins?(bytes: Buffer): boolean
}

/** Each chunk is a task of a thread: larger ones cost less. */
const OPTIONS = { chunkSize: 64 * 1024 }
const UNFRAMED: Framing = { head: 0, tail: Buffer.alloc(0) }
const GZIP: Encoding = { open: () => createInflateRaw(OPTIONS), frame: gzipFraming }
const unframed = (open: () => Decoder): Encoding => ({ open, frame: () => UNFRAMED })

/** TABLE of decoders. A map, because callers may send any name, such as `constructor`. */
const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', unframed(() => createInflate(OPTIONS))],
  ['br', unframed(() => createBrotliDecompress(OPTIONS))],
  [
    'zstd',
    { ...unframed(() => createZstdDecompress(OPTIONS)), begins: (bytes) => isZstdFrame(bytes) },
  ],
])

/** Supplies the bytes of one body, in order. */
export interface Source {
  /** Whether the body has ended. */
  readonly ended: boolean
  /**
   * The next bytes, at most `most`. `waiting`: there are none yet, and `resume` is called when
   * there are; `broken`: the body will never be complete.
   */
  next(resume: () => void, most: number): Buffer | 'waiting' | 'end' | 'broken'
  /** Stops reading. */
  close(): void
}

/**
 * The source of the decoded bytes, or null for an unknown encoding. It breaks if the body is longer
 * than `maxDecoded` bytes, or is not exactly one compressed stream: servers disagree about bytes
 * after the first (RFC 9110, section 8.4).
 */
export function decodedSource(
  pieces: readonly Buffer[],
  encoding: string,
  maxDecoded: number,
): Source | null {
  const found = ENCODINGS.get(encoding.trim().toLowerCase())
  const framing = found?.frame(pieces) ?? null
  return found === undefined || framing === null
    ? null
    : new DecodedSource(pieces, found, framing, maxDecoded)
}

/** Whether a content coding means that nothing was encoded. */
export const isIdentity = (encoding: string): boolean =>
  encoding.trim().toLowerCase() === 'identity'

class DecodedSource implements Source {
  ended = false
  readonly #pieces: readonly Buffer[]
  readonly #encoding: Encoding
  readonly #decoder: Decoder
  readonly #framing: Framing
  readonly #maxDecoded: number
  readonly #length: number
  /** The next piece for the decoder, and the number of bytes it has been given. */
  #at = 0
  #given = 0
  #decoded = 0
  #crc = 0
  #broken = false
  #finished = false
  /** Decoded bytes that have not been read. */
  #ready: Buffer | null = null
  #resume: (() => void) | null = null

  constructor(pieces: readonly Buffer[], encoding: Encoding, framing: Framing, maxDecoded: number) {
    const decoder = encoding.open()
    this.#pieces = pieces
    this.#encoding = encoding
    this.#decoder = decoder
    this.#framing = framing
    this.#maxDecoded = maxDecoded
    this.#length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    decoder.on('readable', () => this.#wake())
    decoder.on('end', () => {
      this.#finished = true
      this.#wake()
    })
    decoder.on('error', () => this.#break())
    this.#give(framing.head)
  }

  next(resume: () => void, most: number): Buffer | 'waiting' | 'end' | 'broken' {
    this.#ready ??= this.#broken ? null : (this.#decoder.read() as Buffer | null)
    const ready = this.#ready
    if (ready !== null) {
      const bytes = ready.length > most ? ready.subarray(0, most) : ready
      this.#ready = bytes === ready ? null : ready.subarray(most)
      this.#decoded += bytes.length
      if (this.#decoded > this.#maxDecoded) this.#break()
      if (this.#framing.tail.length > 0) this.#crc = crc32(bytes, this.#crc)
      return this.#broken ? 'broken' : bytes
    }
    if (this.#broken) return 'broken'
    if (this.#finished) return this.#isWhole() ? 'end' : 'broken'
    this.#resume = resume
    return 'waiting'
  }

  close(): void {
    this.#broken = true
    this.#decoder.destroy()
  }

  /** Passes the decoder one piece after another, each when it has taken the previous one. */
  #give(skipped: number): void {
    for (let piece = this.#pieces[this.#at]; piece !== undefined && piece.length <= skipped;) {
      skipped -= piece.length
      piece = this.#pieces[++this.#at]
    }
    if (
      this.#given > 0 &&
      this.#encoding.begins?.(beginning(this.#pieces, MAGIC_BYTES, this.#at)) === true
    )
      return this.#break()
    const piece = this.#pieces[this.#at++]
    if (piece === undefined) return void this.#decoder.end()
    const rest = piece.subarray(skipped)
    this.#given += rest.length
    this.#decoder.write(rest, () => {
      // Bytes that a decoder leaves unread come after its stream.
      if (!this.#broken && this.#decoder.bytesWritten === this.#given) this.#give(0)
    })
  }

  /**
   * Checks that the stream fills the body from header to trailer, and matches the trailer's
   * checksum.
   */
  #isWhole(): boolean {
    const { head, tail } = this.#framing
    if (head + this.#decoder.bytesWritten + tail.length !== this.#length) return false
    return (
      tail.length === 0 ||
      (tail.readUInt32LE(0) === this.#crc && tail.readUInt32LE(4) === this.#decoded % 2 ** 32)
    )
  }

  #break(): void {
    this.close()
    this.#wake()
  }

  #wake(): void {
    const resume = this.#resume
    this.#resume = null
    resume?.()
  }
}

/** A longer header is refused: only file names and comments could fill it. */
const LONGEST_HEAD = 64 * 1024
const TRAILER_BYTES = 8

/**
 * One gzip member (RFC 1952). Its header and trailer are read here, because Node's own decoder
 * joins several members silently.
 */
function gzipFraming(pieces: readonly Buffer[]): Framing | null {
  const start = beginning(pieces, LONGEST_HEAD)
  if (start.length < 18 || start[0] !== 0x1f || start[1] !== 0x8b || start[2] !== 8) return null
  const flags = start.readUInt8(3)
  let at = 10
  if (flags & 4) at += 2 + start.readUInt16LE(at)
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue
    const end = start.indexOf(0, at)
    if (end < 0) return null
    at = end + 1
  }
  if (flags & 2) at += 2
  return at > start.length ? null : { head: at, tail: ending(pieces, TRAILER_BYTES) }
}

const MAGIC_BYTES = 4

/** The magic number of a frame (RFC 8878, section 3.1.1), or of a skippable one. */
const isZstdFrame = (bytes: Buffer): boolean =>
  bytes.length === MAGIC_BYTES &&
  (bytes.readUInt32LE() === 0xfd2fb528 || (bytes.readUInt32LE() & 0xfffffff0) >>> 0 === 0x184d2a50)

/** The first bytes of the pieces from number `from` on, at most `most`. */
function beginning(pieces: readonly Buffer[], most: number, from = 0): Buffer {
  const parts: Buffer[] = []
  let length = 0
  for (let i = from, piece = pieces[i]; piece !== undefined && length < most; piece = pieces[++i]) {
    const part = piece.subarray(0, most - length)
    parts.push(part)
    length += part.length
  }
  const [first] = parts
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts)
}

function ending(pieces: readonly Buffer[], most: number): Buffer {
  let end: Buffer = Buffer.alloc(0)
  for (const piece of pieces.toReversed()) {
    if (end.length >= most) break
    end = Buffer.concat([piece.subarray(-(most - end.length)), end])
  }
  return end
}
