// Decodes the transfer framing of a body (RFC 9112, sections 6 and 7), for requests and responses.
// oxlint-disable typescript/no-non-null-assertion -- bytes and pairs of indexes, below the length that each loop checks
import {
  HEAD_END,
  hasBareLineFeed,
  parseFields,
  valueOf,
  type RawHeaders,
} from './header-fields.ts'

/** The framing is invalid, so nothing after it can be trusted. */
export class FramingError extends Error {}

const MAX_LINE_BYTES = 4 * 1024
const MAX_EXTENSION_BYTES = 16 * 1024
const MAX_TRAILER_BYTES = 16 * 1024
const [CR, LF] = [13, 10]
const FRAMING = ['content-length', 'transfer-encoding']

/**
 * The size line of a chunk from a caller, which must follow the grammar (RFC 9112, section 7.1).
 */
export const STRICT_CHUNK_SIZE =
  /^([0-9A-Fa-f]{1,13})(?:;[\w!#$%&'*+.^`|~-]+(?:=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t -\x7e])*"))?)*$/
/**
 * The size line of a chunk from an upstream: spaces after the size, which some old servers add as
 * padding, and any extensions are allowed.
 */
export const LENIENT_CHUNK_SIZE = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;|$)/

/** Chunks up to this size are joined if they arrive together. */
const MAX_SMALL_CHUNK_BYTES = 1024
/** Digits of a chunk's size, as in the patterns above. */
const MAX_DIGITS = 13

/** The value of a hexadecimal digit; 255 for other bytes. */
const HEX = new Uint8Array(256).fill(255)
for (let digit = 0; digit < 16; digit++)
  for (const text of [digit.toString(16), digit.toString(16).toUpperCase()])
    HEX[text.charCodeAt(0)] = digit

/** The state of the decoder. */
type DecoderState =
  | 'counted'
  | 'until-close'
  | 'size'
  | 'chunk'
  | 'chunk-end'
  | 'trailers'
  | 'ended'

/**
 * Decodes one body after another. It keeps no bytes: unused ones must be passed in again, followed
 * by more.
 */
export class BodyDecoder {
  /**
   * Body bytes found by the last `decode` (a part of its input) or `decodeSmallChunks` (a buffer of
   * its own); null if none.
   */
  chunk: Buffer | null = null
  trailers: RawHeaders = []
  #state: DecoderState = 'ended'
  #left = 0
  #extensions = 0
  /** Where the bytes of the whole chunk found last begin. */
  #from = 0
  /** How many bytes of the trailers, or of a line, have been searched for their end. */
  #searched = 0
  readonly #sizePattern: RegExp

  constructor(size: RegExp) {
    this.#sizePattern = size
  }

  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** Whether this body ends only with the connection. */
  get untilClose(): boolean {
    return this.#state === 'until-close'
  }

  /** @param framing the length in bytes, or the kind of framing; 0 for no body */
  begin(framing: number | 'chunked' | 'until-close'): void {
    this.chunk = null
    this.trailers = []
    this.#extensions = 0
    this.#searched = 0
    this.#left = typeof framing === 'number' ? framing : 0
    this.#state =
      framing === 'chunked'
        ? 'size'
        : framing === 'until-close'
          ? framing
          : framing === 0
            ? 'ended'
            : 'counted'
  }

  /**
   * Consumes the bytes of one step and returns how many they were; 0: more are needed, or the body
   * has ended.
   * @throws FramingError
   */
  decode(input: Buffer): number {
    this.chunk = null
    switch (this.#state) {
      case 'counted':
      case 'chunk': {
        const length = Math.min(this.#left, input.length)
        this.#left -= length
        this.chunk = length === input.length ? input : input.subarray(0, length)
        if (this.#left === 0) this.#state = this.#state === 'chunk' ? 'chunk-end' : 'ended'
        return length
      }
      case 'until-close':
        this.chunk = input
        return input.length
      case 'size':
        return this.#decodeWholeChunk(input) || this.#decodeSize(input)
      case 'chunk-end':
        if (input[0] !== CR || (input.length > 1 && input[1] !== LF))
          throw new FramingError('a chunk does not end after the size that it gave')
        if (input.length === 1) return 0
        this.#state = 'size'
        return 2
      case 'trailers':
        return this.#decodeTrailers(input)
      case 'ended':
        return 0
    }
  }

  /**
   * Consumes two or more small chunks that arrived together, and joins their bytes into one piece:
   * a body in chunks of one byte must not cost its readers more than one in large chunks. 0: there
   * are none, or they need the strict parser in `decode`.
   */
  decodeSmallChunks(input: Buffer): number {
    this.chunk = null
    if (this.#state !== 'size') return 0
    const parts: number[] = []
    let [at, length] = [0, 0]
    for (;;) {
      const to = this.#findWholeChunk(input, at)
      const from = this.#from
      if (to === 0 || to - from > MAX_SMALL_CHUNK_BYTES) break
      parts.push(from, to)
      length += to - from
      at = to + 2
    }
    if (parts.length < 4) return 0
    const piece = Buffer.allocUnsafeSlow(length)
    let written = 0
    for (let i = 0; i < parts.length; i += 2) {
      // A call to `copy` costs more than copying a few bytes in a loop.
      if (parts[i + 1]! - parts[i]! > 32)
        written += input.copy(piece, written, parts[i], parts[i + 1])
      else for (let from = parts[i]!; from < parts[i + 1]!; from++) piece[written++] = input[from]!
    }
    this.chunk = piece
    // The first size line may have been searched before and found incomplete.
    this.#searched = 0
    return at
  }

  /** Consumes a chunk that has arrived whole, as the events of a stream do; 0: there is none. */
  #decodeWholeChunk(input: Buffer): number {
    const to = this.#findWholeChunk(input, 0)
    if (to === 0) return 0
    this.chunk = input.subarray(this.#from, to)
    // The size line may have been searched before and found incomplete.
    this.#searched = 0
    return to + 2
  }

  /**
   * The end of the bytes of the chunk at `at`, which begin at `#from`, if all of it is there and
   * its size line has only digits, which needs no pattern. 0: it is not, or it is the last chunk.
   */
  #findWholeChunk(input: Buffer, at: number): number {
    let [from, size] = [at, 0]
    while (from < at + MAX_DIGITS && HEX[input[from]!]! < 16)
      size = size * 16 + HEX[input[from++]!]!
    const to = from + 2 + size
    const isWhole =
      size > 0 &&
      input[from] === CR &&
      input[from + 1] === LF &&
      input[to] === CR &&
      input[to + 1] === LF
    this.#from = from + 2
    return isWhole ? to : 0
  }

  #decodeSize(input: Buffer): number {
    const at = input.indexOf(LF, this.#searched)
    if (at > MAX_LINE_BYTES || (at < 0 && input.length > MAX_LINE_BYTES))
      throw new FramingError('a chunk line is too long')
    this.#searched = at < 0 ? input.length : 0
    if (at < 0) return 0
    const line = input[at - 1] === CR ? input.toString('latin1', 0, at - 1) : ''
    const size = this.#sizePattern.exec(line)
    const number = size?.[1]
    if (number === undefined) throw new FramingError('a chunk has no valid size')
    this.#extensions += line.length - number.length
    if (this.#extensions > MAX_EXTENSION_BYTES)
      throw new FramingError('the chunks have too many extensions')
    this.#left = Number.parseInt(number, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
    return at + 1
  }

  #decodeTrailers(input: Buffer): number {
    if (input[0] === CR && input[1] === LF) {
      this.#state = 'ended'
      return 2
    }
    const from = Math.max(0, this.#searched - HEAD_END.length + 1)
    const at = input.indexOf(HEAD_END, from)
    if (at > MAX_TRAILER_BYTES || (at < 0 && input.length > MAX_TRAILER_BYTES))
      throw new FramingError('the trailers are too long')
    if (at < 0) {
      if (hasBareLineFeed(input, from))
        throw new FramingError('a line of the trailers ends with a bare line feed')
      this.#searched = input.length
      return 0
    }
    const trailers = parseFields(input.toString('latin1', 0, at), 0)
    if (trailers === null) throw new FramingError('a trailer is malformed')
    // RFC 9110, section 6.5.1. A server that applied one would read the next request as this one's
    // body.
    for (const name of FRAMING)
      if (valueOf(trailers, name) !== undefined)
        throw new FramingError('a trailer says how the body is framed')
    this.trailers = trailers
    this.#state = 'ended'
    return at + HEAD_END.length
  }
}
