// Reads the requests of one HTTP/1.1 connection (RFC 9112), strictly: bytes that two servers could
// read as different requests are refused.
import { BodyDecoder, STRICT_CHUNK_SIZE, FramingError } from './body-decoder.ts'
import {
  digits,
  endOfLine,
  HEAD_END,
  isTokenByte,
  NO_BYTES,
  parseFields,
  type RawHeaders,
  nameAt,
  valueAt,
} from './header-fields.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { ownMemory } from './read-memory.ts'

/** The head of a request. */
export interface RequestHead {
  readonly method: string
  /** The target as it was sent. */
  readonly target: string
  readonly headers: readonly string[]
  readonly http10: boolean
  /** How the body is framed: by a number of bytes, or chunked; null for no body. */
  readonly framing: number | 'chunked' | null
  /** Whether the caller would send another request on this connection. */
  readonly keepAlive: boolean
  /** Whether the caller waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
}

/** The bytes are not a valid request. `message` is a sentence for the caller. */
export class RequestError extends Error {
  readonly code: 'malformed_request' | 'headers_too_large'

  constructor(code: 'malformed_request' | 'headers_too_large', message: string) {
    super(message)
    this.code = code
  }
}

const [CR, LF, ZERO, NINE] = [13, 10, 48, 57]
/** Longest head, in bytes: the same limit as in Node's own server. */
export const MAX_HEAD_BYTES = 16 * 1024
const MAX_FIELDS = 128
/** Longer heads are not remembered, because there may be thousands of connections. */
const MAX_CACHED_HEAD_BYTES = 4 * 1024

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,16}) ([\x21-\x7e]+) HTTP\/1\.([01])$/

/** A head up to the length of its body, and that length. */
const UP_TO_LENGTH = /^(.*\r\ncontent-length:[ \t]*)(\d+)/is

/** A parsed head, remembered in order to recognize the same bytes again. */
interface CachedHead {
  readonly head: RequestHead
  /**
   * Its bytes before and after the digits of its `Content-Length`; without one, all of its bytes
   * and none.
   */
  readonly before: Buffer
  readonly after: Buffer
  /** The index of the length's value in its headers; -1: none. */
  readonly lengthIndex: number
}

/**
 * Pass bytes in with `push`, then read: a head with `nextHead`, and its body with `nextChunk` until
 * `ended`.
 */
export class RequestParser {
  #unread: Buffer = NO_BYTES
  /** Null while nothing is incomplete: most heads arrive as a whole. */
  #buffer: ByteBuffer | null = null
  /** The number of unread bytes that have been searched for the end of a head. */
  #searched = 0
  readonly #body = new BodyDecoder(STRICT_CHUNK_SIZE)
  #lastHead: CachedHead | null = null

  push(bytes: Buffer): void {
    this.#unread =
      this.#unread.length === 0
        ? bytes
        : (this.#buffer ??= new ByteBuffer(MAX_HEAD_BYTES)).append(this.#unread, bytes)
  }

  /** The unread bytes. */
  get unread(): Buffer {
    return this.#unread
  }

  /** Whether the body of the last head is complete. */
  get ended(): boolean {
    return this.#body.ended
  }

  /** The trailers of a chunked body. */
  get trailers(): RawHeaders {
    return this.#body.trailers
  }

  /** The next request's head, or null while it is incomplete. @throws RequestError */
  nextHead(): RequestHead | null {
    const read = this.#unread
    const head = this.#repeatedHead() ?? this.#parsedHead()
    if (head === null) return null
    this.#body.begin(head.framing ?? 0)
    // The body has the rest of this memory to itself: the head was copied into strings.
    const isLast = typeof head.framing === 'number' && head.framing >= this.#unread.length
    if (isLast && read.length === read.buffer.byteLength) ownMemory(this.#unread)
    return head
  }

  /**
   * The next head if it equals the last one except for the `Content-Length`, as is usual on one
   * connection.
   */
  #repeatedHead(): RequestHead | null {
    const bytes = this.#unread
    if (this.#lastHead === null || !matchesAt(bytes, 0, this.#lastHead.before)) return null
    const { head, before, after, lengthIndex } = this.#lastHead
    let end = before.length
    if (lengthIndex >= 0)
      // oxlint-disable-next-line typescript/no-non-null-assertion -- a byte below the length, on the data path
      while (end < bytes.length && bytes[end]! >= ZERO && bytes[end]! <= NINE) end++
    if (!matchesAt(bytes, end, after)) return null
    if (lengthIndex < 0) {
      this.#consume(end)
      return head
    }
    const value = bytes.toString('latin1', before.length, end)
    const framing = digits(value)
    if (framing === null) return null
    this.#consume(end + after.length)
    return value === head.headers[lengthIndex]
      ? head
      : { ...head, framing, headers: head.headers.with(lengthIndex, value) }
  }

  #parsedHead(): RequestHead | null {
    const from = Math.max(0, this.#searched - HEAD_END.length + 1)
    const at = this.#unread.indexOf(HEAD_END, from)
    if (at > MAX_HEAD_BYTES || (at < 0 && this.#unread.length > MAX_HEAD_BYTES))
      throw new RequestError(
        'headers_too_large',
        `The head of a request may have at most ${MAX_HEAD_BYTES} bytes.`,
      )
    if (at < 0) {
      // With other line endings, the head would never end.
      if (hasBareLineEnd(this.#unread, from))
        throw malformed('The lines of a request must end with CRLF.')
      this.#searched = this.#unread.length
      return null
    }
    const text = this.#unread.toString('latin1', 0, at)
    const head = parseHead(text)
    this.#consume(at + HEAD_END.length)
    this.#lastHead = at > MAX_CACHED_HEAD_BYTES ? null : cacheHead(text, head)
    return head
  }

  /**
   * The next bytes of the body, or null: it has ended, or more bytes are needed. @throws
   * RequestError
   */
  nextChunk(): Buffer | null {
    try {
      while (this.#unread.length > 0 && !this.#body.ended) {
        const used = this.#body.decodeSmallChunks(this.#unread) || this.#body.decode(this.#unread)
        if (used === 0) return null
        this.#consume(used)
        if (this.#body.chunk !== null) return this.#body.chunk
      }
      return null
    } catch (error) {
      throw error instanceof FramingError
        ? new RequestError(
            'malformed_request',
            `The body of the request cannot be read: ${error.message}.`,
          )
        : error
    }
  }

  #consume(length: number): void {
    this.#unread = length === this.#unread.length ? NO_BYTES : this.#unread.subarray(length)
    this.#searched = 0
    // An idle connection keeps no more memory than its next head needs.
    if (this.#unread.length === 0) this.#buffer = null
  }
}

/**
 * A parsed head, prepared to recognize the same bytes again. @param text the head without its final
 * blank line
 */
function cacheHead(text: string, head: RequestHead): CachedHead {
  // Not from Node's pool, because the connection would keep a whole slab of it alive.
  const bytes = Buffer.allocUnsafeSlow(text.length + HEAD_END.length)
  bytes.write(text, 'latin1')
  bytes.set(HEAD_END, text.length)
  const [line, before] = UP_TO_LENGTH.exec(text) ?? []
  if (line === undefined || before === undefined)
    return { head, before: bytes, after: NO_BYTES, lengthIndex: -1 }
  const name = head.headers.findIndex(
    (field, i) => i % 2 === 0 && field.toLowerCase() === 'content-length',
  )
  return {
    head,
    before: bytes.subarray(0, before.length),
    after: bytes.subarray(line.length),
    lengthIndex: name + 1,
  }
}

function matchesAt(bytes: Buffer, at: number, part: Buffer): boolean {
  return (
    at + part.length <= bytes.length &&
    bytes.compare(part, 0, part.length, at, at + part.length) === 0
  )
}

/** @param from bytes before it have been checked */
function hasBareLineEnd(bytes: Buffer, from: number): boolean {
  const first = bytes.indexOf(LF)
  return (
    (first >= 0 && bytes[first - 1] !== CR) || bytes.indexOf('\n\n', Math.max(0, from - 1)) >= 0
  )
}

/** @param text a head without its final blank line */
function parseHead(text: string): RequestHead {
  const end = endOfLine(text, 0)
  const line = end < 0 ? null : REQUEST_LINE.exec(text.slice(0, end))
  if (line === null)
    throw malformed(
      'The first line of the request is not that of an HTTP/1.1 request: METHOD /path?query HTTP/1.1, with everything beyond ASCII percent-encoded.',
    )
  const [, method = '', target = '', minor] = line
  const headers = parseFields(text, end + 2)
  if (headers === null) throw malformed('A header of the request is malformed.')
  if (headers.length > 2 * MAX_FIELDS)
    throw new RequestError('headers_too_large', `A request may have at most ${MAX_FIELDS} headers.`)
  const { http10, framing, keepAlive, expectsContinue } = interpretFields(headers, minor === '0')
  return {
    method,
    target,
    headers,
    http10,
    framing,
    keepAlive,
    expectsContinue,
  }
}

/** The connection options and the framing of the body (RFC 9112, sections 6.3 and 9.3). */
function interpretFields(
  headers: RawHeaders,
  http10: boolean,
): Pick<RequestHead, 'http10' | 'framing' | 'keepAlive' | 'expectsContinue'> {
  let hosts = 0
  let length: string | null = null
  let coding: string | null = null
  let connection = ''
  let expectsContinue = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = nameAt(headers, i)
    const value = valueAt(headers, i)
    // The length is tested first: it rules out most names.
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') hosts++
        break
      case 6:
        if (name.toLowerCase() !== 'expect') break
        if (value.toLowerCase() !== '100-continue')
          throw malformed('The request expects something other than 100-continue.')
        expectsContinue = true
        break
      case 10:
        if (name.toLowerCase() === 'connection') connection += `,${value.toLowerCase()}`
        break
      case 14:
        if (name.toLowerCase() !== 'content-length') break
        if (length !== null) throw malformed('The request has two lengths.')
        length = value
        break
      case 17:
        if (name.toLowerCase() !== 'transfer-encoding') break
        if (coding !== null) throw malformed('The request has two transfer codings.')
        coding = value.toLowerCase()
        break
    }
  }
  if (hosts > 1 || (hosts === 0 && !http10))
    throw malformed('The request must have one Host header.')
  if (coding !== null && (length !== null || http10))
    throw malformed('The request gives two lengths for its body.')
  if (coding !== null && coding !== 'chunked')
    throw malformed('The request has a transfer coding other than chunked.')
  const counted = length === null ? null : digits(length)
  if (length !== null && counted === null)
    throw malformed('The Content-Length of the request is not a number.')
  const options = connection === '' ? null : connection.split(',').map((option) => option.trim())
  const keepAlive = options?.includes('close')
    ? false
    : !http10 || (options?.includes('keep-alive') ?? false)
  return {
    http10,
    framing: coding === null ? counted : 'chunked',
    keepAlive,
    expectsContinue: expectsContinue && !http10,
  }
}

function malformed(message: string): RequestError {
  return new RequestError('malformed_request', message)
}

const MAX_METHOD_BYTES = 16
/** The characters that may follow the path: before a query, a path below it, or the version. */
const AFTER_PATH = new Set(Buffer.from('?/ '))

/** A path in the form that `isForPath` searches for. */
export function pathMarker(path: string): Buffer {
  return Buffer.from(` ${path}`, 'latin1')
}

/**
 * Whether bytes begin a request for a path or one below it; null if more bytes are needed to tell.
 * @param path made by `pathMarker`
 */
export function isForPath(bytes: Buffer, path: Buffer): boolean | null {
  let at = 0
  // oxlint-disable-next-line typescript/no-non-null-assertion -- a byte below the length, on the data path
  while (at < bytes.length && at <= MAX_METHOD_BYTES && isTokenByte(bytes[at]!)) at++
  if (at === 0 || at > MAX_METHOD_BYTES) return false
  for (let i = 0; i < path.length; i++, at++) {
    if (at === bytes.length) return null
    if (bytes[at] !== path[i]) return false
  }
  return at === bytes.length ? null : AFTER_PATH.has(bytes.readUInt8(at))
}
