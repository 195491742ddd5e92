// Reads the responses of one connection to an upstream.
import { BodyDecoder, FramingError, LENIENT_CHUNK_SIZE } from '../body-decoder.ts'
import {
  digits,
  endOfLine,
  hasBareLineFeed,
  HEAD_END,
  NO_BYTES,
  parseFields,
  without,
  type RawHeaders,
  nameAt,
  valueAt,
} from '../header-fields.ts'
import { ByteBuffer } from '../byte-buffer.ts'

/** Events of a {@link ResponseParser}, in wire order. */
export type ResponseEvents = {
  /** An interim response (1xx, never 101). */
  onInterim(status: number, reason: string, headers: RawHeaders): void
  /** The final response's head. */
  onHead(status: number, reason: string, headers: RawHeaders): void
  /**
   * Body bytes without the transfer framing, otherwise unchanged. The memory is only lent for the
   * call.
   */
  onBody(chunk: Buffer): void
  /** The response is complete; trailers are empty unless the body was chunked and had some. */
  onEnd(trailers: RawHeaders): void
  /** All bytes that have arrived so far have been reported. */
  onPause(): void
  /**
   * The connection has switched to another protocol (101); only if the request asked for it.
   * @param unread its first bytes, which may be kept
   */
  onSwitch?(headers: RawHeaders, unread: Buffer): void
}

/** The upstream sent something that is not one unambiguous HTTP/1.1 response. */
export class ProtocolError extends Error {}

const MAX_HEAD_BYTES = 64 * 1024
const MAX_INTERIM = 32

const VERSION = 'HTTP/1.'
/** The position of the reason in a status line; the part before it has a fixed length. */
const REASON = VERSION.length + '1 200 '.length
const [SPACE, ZERO, ONE] = [32, 48, 49]

/**
 * Reads the responses of one HTTP/1.1 connection from whatever pieces the socket delivers (RFC
 * 9112). It is strict where leniency could mix up two callers' responses: two lengths, a length
 * beside chunked coding, folded lines, stray control characters and bytes after the end are all a
 * {@link ProtocolError}.
 */
export class ResponseParser {
  #sink: ResponseEvents
  #method = 'GET'
  #maySwitch = false
  /** Bytes of an incomplete head, size line or trailer section. */
  #held: Buffer = NO_BYTES
  /** Null while nothing is incomplete: most heads arrive as a whole. */
  #buffer: ByteBuffer | null = null
  /** How many bytes of the head have been searched for its end. */
  #searched = 0
  /** Whether the head is still incomplete. */
  #inHead = false
  readonly #body = new BodyDecoder(LENIENT_CHUNK_SIZE)
  #interim = 0
  /** Whether the connection may carry another request after this response. */
  keepAlive = false
  /** Seconds of the response's `Keep-Alive: timeout=`, or null. */
  keepAliveSeconds: number | null = null
  /** Whether any byte of the response has arrived. */
  started = false
  /** Whether the response is complete. */
  done = true

  constructor(sink: ResponseEvents) {
    this.#sink = sink
  }

  /**
   * Prepares for the response to a request with this method.
   * @param maySwitch whether the request asked for another protocol
   */
  begin(method: string, maySwitch = false): void {
    this.#method = method
    this.#maySwitch = maySwitch
    this.#inHead = true
    this.#held = NO_BYTES
    this.#searched = 0
    this.#interim = 0
    this.done = false
    this.started = false
    this.keepAlive = false
    this.keepAliveSeconds = null
  }

  /** Stops reporting this response. */
  stop(): void {
    this.done = true
  }

  /**
   * Reads the next bytes of the connection, whose memory is only lent.
   * @throws {ProtocolError} the connection can no longer be trusted
   */
  push(chunk: Buffer): void {
    // Unsolicited bytes, which the next caller must never read.
    if (this.done) throw new ProtocolError('the upstream sent bytes after its response')
    this.started = true
    let rest =
      this.#held.length === 0
        ? chunk
        : (this.#buffer ??= new ByteBuffer(MAX_HEAD_BYTES)).append(this.#held, chunk)
    this.#held = NO_BYTES
    while (rest.length > 0) {
      const used = this.#inHead ? this.#parseHead(rest) : this.#decodeBody(rest)
      // The exchange may have been aborted meanwhile, or the response may be complete: bytes after
      // it make the connection unusable.
      if (this.done) {
        if (used < rest.length)
          throw new ProtocolError('the upstream sent bytes after its response')
        return
      }
      if (used === rest.length) break
      if (used === 0) {
        this.#held = this.#buffer?.owns(rest) === true ? rest : Buffer.from(rest)
        break
      }
      rest = rest.subarray(used)
    }
    // A connection that is idle, or carries a long body, keeps no more memory than it needs.
    if (this.#held.length === 0) this.#buffer = null
    this.#sink.onPause()
  }

  /**
   * The upstream closed its side, which completes a body that ends with the connection.
   * @throws {ProtocolError} the response was not complete
   */
  finish(): void {
    if (this.done) return
    if (this.#inHead || !this.#body.untilClose)
      throw new ProtocolError('the upstream closed the connection before its response was complete')
    this.#end([])
  }

  #decodeBody(input: Buffer): number {
    let used: number
    try {
      used = this.#body.decode(input)
    } catch (error) {
      throw error instanceof FramingError
        ? new ProtocolError(`the upstream sent a malformed body: ${error.message}`)
        : error
    }
    const { chunk, ended, trailers } = this.#body
    if (chunk !== null) this.#sink.onBody(chunk)
    if (ended && !this.done) this.#end(trailers)
    return used
  }

  #parseHead(input: Buffer): number {
    const from = Math.max(0, this.#searched - HEAD_END.length + 1)
    const at = input.indexOf(HEAD_END, from)
    if (at > MAX_HEAD_BYTES || (at < 0 && input.length > MAX_HEAD_BYTES))
      throw new ProtocolError('the upstream sent an oversized head')
    if (at < 0) {
      if (!mayBeHead(input, from))
        throw new ProtocolError('the upstream did not answer in HTTP/1.1')
      this.#searched = input.length
      return 0
    }
    this.#searched = 0
    const text = input.toString('latin1', 0, at)
    const end = endOfLine(text, 0)
    const status = end < 0 ? 0 : statusOf(text, end)
    if (status < 100) throw new ProtocolError('the upstream did not answer in HTTP/1.1')
    const headers = parseFields(text, end + 2)
    if (headers === null) throw new ProtocolError('the upstream sent a malformed header')
    const reason = text.slice(REASON, end)
    const used = at + HEAD_END.length
    if (status === 101 && this.#maySwitch) {
      this.done = true
      this.#sink.onSwitch?.(headers, Buffer.from(input.subarray(used)))
      return input.length
    }
    if (status < 200) {
      // A 101 would switch to a protocol that was not requested.
      if (status === 101 || ++this.#interim > MAX_INTERIM)
        throw new ProtocolError('the upstream sent an unexpected interim response')
      this.#sink.onInterim(status, reason, without(headers, 'content-length'))
      return used
    }
    const lengths = this.#applyFraming(status, text.charCodeAt(VERSION.length) === ONE, headers)
    this.#inHead = false
    this.#sink.onHead(status, reason, withLengths(headers, lengths, status === 204 ? 0 : 1))
    if (this.#body.ended && !this.done) this.#end([])
    return used
  }

  /**
   * Decides how the body ends (RFC 9112, section 6.3) and whether the connection stays open.
   * @returns how many `Content-Length` fields there are, all equal
   */
  #applyFraming(status: number, http11: boolean, headers: RawHeaders): number {
    let lengths = 0
    let length: string | null = null
    let counted: number | null = null
    let coding: string | null = null
    let connection = ''
    for (let i = 0; i < headers.length; i += 2) {
      const name = nameAt(headers, i)
      // A cheap test first: only names with these three lengths matter.
      if (name.length !== 10 && name.length !== 14 && name.length !== 17) continue
      const lower = name.toLowerCase()
      const value = valueAt(headers, i)
      if (lower === 'content-length') {
        if (length !== null && length !== value)
          throw new ProtocolError('the upstream sent two different lengths')
        length = value
        lengths++
        counted = digits(value)
        if (counted === null) throw new ProtocolError('the upstream sent a malformed length')
      } else if (lower === 'transfer-encoding')
        coding = coding === null ? value : `${coding}, ${value}`
      else if (lower === 'connection') connection += `,${value.toLowerCase()}`
      else if (lower === 'keep-alive') {
        const timeout = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(value)
        if (timeout) this.keepAliveSeconds = Number(timeout[1])
      }
    }
    const options = connection === '' ? [] : connection.split(',').map((option) => option.trim())
    this.keepAlive = http11
      ? !options.includes('close')
      : options.includes('keep-alive') && !options.includes('close')
    if (this.#method === 'HEAD' || status === 204 || status === 304) this.#body.begin(0)
    else if (coding !== null) {
      if (counted !== null)
        throw new ProtocolError('the upstream sent a length beside a transfer coding')
      if (coding.trim().toLowerCase() !== 'chunked')
        throw new ProtocolError('the upstream used an unknown transfer coding')
      this.#body.begin('chunked')
    } else if (counted !== null) this.#body.begin(counted)
    else {
      this.#body.begin('until-close')
      this.keepAlive = false
    }
    return lengths
  }

  #end(trailers: RawHeaders): void {
    this.done = true
    this.#sink.onEnd(trailers)
  }
}

/**
 * Whether bytes without an empty line can still become a head. @param from bytes before it have
 * been checked
 */
function mayBeHead(bytes: Buffer, from: number): boolean {
  return (
    VERSION.startsWith(bytes.toString('latin1', 0, VERSION.length)) && !hasBareLineFeed(bytes, from)
  )
}

/**
 * The headers with only the first `wanted` of their `Content-Length` fields (RFC 9110, section 8.6:
 * a 204 has none).
 */
function withLengths(headers: RawHeaders, lengths: number, wanted: number): RawHeaders {
  if (lengths <= wanted) return headers
  const first = headers.findIndex(
    (name, i) => i % 2 === 0 && name.toLowerCase() === 'content-length',
  )
  const rest = without(headers, 'content-length')
  return wanted === 0 ? rest : rest.toSpliced(first, 0, ...headers.slice(first, first + 2))
}

/**
 * The status of a status line (RFC 9112, section 4) that ends at `end`, with or without a reason; 0
 * if it is not one.
 */
function statusOf(text: string, end: number): number {
  const minor = text.charCodeAt(VERSION.length)
  if (
    !text.startsWith(VERSION) ||
    (minor !== ZERO && minor !== ONE) ||
    text.charCodeAt(VERSION.length + 1) !== SPACE
  )
    return 0
  if (end !== REASON - 1 && (end < REASON || text.charCodeAt(REASON - 1) !== SPACE)) return 0
  return digits(text, VERSION.length + 2, REASON - 1) ?? 0
}
