/** A raw header list as it stood on the wire: name, value, name, value, … (latin1, order and case kept). */
export type RawHeaders = string[]

/** What a {@link ResponseReader} reports, in wire order. */
export type ResponseSink = {
  /** An interim answer (1xx, never 101). */
  onInterim(status: number, headers: RawHeaders): void
  /** The final answer's head. */
  onHead(status: number, reason: string, headers: RawHeaders): void
  /**
   * Body bytes with the transfer framing taken off and nothing else changed; `last` where they complete an announced length. The
   * memory is lent for the call only.
   */
  onBody(chunk: Buffer, last: boolean): void
  /** The answer is complete; trailers are empty unless the body was chunked and had some. */
  onEnd(trailers: RawHeaders): void
}

/** The upstream sent something that is not one unambiguous HTTP/1.1 response. */
export class ProtocolError extends Error {}

const MAX_HEAD_BYTES = 64 * 1024
const MAX_INTERIM = 32
const MAX_LINE_BYTES = 4 * 1024

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/
const [CR, LF, COLON] = [13, 10, 58]
const CHUNK_SIZE = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;|$)/
const HEAD_END = Buffer.from('\r\n\r\n')
const EMPTY = Buffer.alloc(0)

/** Where the reader stands inside one response. */
type Place = 'head' | 'counted' | 'size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-close' | 'done'

/**
 * Reads the responses of one HTTP/1.1 connection from whatever pieces the socket delivers (RFC 9112).
 * It is strict where leniency would let one caller's answer run into another's: two lengths, a length beside
 * chunked coding, folded lines, stray control characters and bytes after the end are all a {@link ProtocolError}.
 */
export class ResponseReader {
  #sink: ResponseSink
  #place: Place = 'done'
  #method = 'GET'
  /** Bytes of a head, size line or trailer section that has not ended yet. */
  #held: Buffer = EMPTY
  #left = 0
  #interim = 0
  #stopped = false
  /** Whether the connection may carry another request after this response. */
  keepAlive = false
  /** Seconds of the response's `Keep-Alive: timeout=`, or null. */
  keepAliveSeconds: number | null = null
  /** Whether any byte of the response has arrived. */
  started = false

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /** Gets ready for the response to a request with this method. */
  begin(method: string): void {
    this.#method = method
    this.#place = 'head'
    this.#held = EMPTY
    this.#interim = 0
    this.#stopped = false
    this.started = false
    this.keepAlive = false
    this.keepAliveSeconds = null
  }

  /** Reports nothing more of this response. */
  stop(): void {
    this.#stopped = true
    this.#place = 'done'
  }

  /** Whether the response is complete. */
  get done(): boolean {
    return this.#place === 'done'
  }

  /**
   * Reads the next bytes of the connection.
   * @throws {ProtocolError} the connection cannot be trusted any further
   */
  push(chunk: Buffer): void {
    this.started = true
    let rest = chunk
    while (rest.length > 0 && !this.#stopped) {
      switch (this.#place) {
        case 'head':
          rest = this.#head(rest)
          break
        case 'counted': {
          const part = rest.length > this.#left ? rest.subarray(0, this.#left) : rest
          rest = rest.subarray(part.length)
          this.#left -= part.length
          this.#sink.onBody(part, this.#left === 0)
          if (this.#left === 0 && !this.#stopped) this.#end([])
          break
        }
        case 'until-close':
          this.#sink.onBody(rest, false)
          return
        case 'size':
          rest = this.#size(rest)
          break
        case 'chunk': {
          const part = rest.length > this.#left ? rest.subarray(0, this.#left) : rest
          rest = rest.subarray(part.length)
          this.#left -= part.length
          if (this.#left === 0) this.#place = 'chunk-end'
          this.#sink.onBody(part, false)
          break
        }
        case 'chunk-end':
          rest = this.#chunkEnd(rest)
          break
        case 'trailers':
          rest = this.#trailers(rest)
          break
        case 'done':
          // Bytes that nobody asked for: the next caller must never read them.
          throw new ProtocolError('the upstream sent bytes after its answer')
      }
    }
  }

  /**
   * The upstream closed its side. A body that ends with the connection is complete now.
   * @throws {ProtocolError} the response was not complete
   */
  finish(): void {
    if (this.#place === 'until-close') this.#end([])
    else if (this.#place !== 'done') throw new ProtocolError('the upstream closed the connection before its answer was complete')
  }

  #hold(rest: Buffer, limit: number): Buffer {
    const held = this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest])
    this.#held = EMPTY
    if (held.length > limit && held.length - rest.length > limit) throw new ProtocolError('the upstream sent an oversized head')
    return held
  }

  /** The caller's memory is only lent. */
  #keep(held: Buffer): void {
    this.#held = Buffer.from(held)
  }

  #head(rest: Buffer): Buffer {
    const held = this.#hold(rest, MAX_HEAD_BYTES)
    const at = held.indexOf(HEAD_END)
    if (at < 0 || at > MAX_HEAD_BYTES) {
      if (held.length > MAX_HEAD_BYTES) throw new ProtocolError('the upstream sent an oversized head')
      this.#keep(held)
      return EMPTY
    }
    const text = held.toString('latin1', 0, at)
    const end = endOfLine(text, 0)
    const line = STATUS_LINE.exec(text.slice(0, end))
    if (!line) throw new ProtocolError('the upstream did not answer in HTTP/1.1')
    const status = Number(line[2])
    const headers = readFields(text, end + 2)
    const after = held.subarray(at + HEAD_END.length)
    if (status < 200) {
      // 101 would turn the connection into something that nobody asked for.
      if (status === 101 || ++this.#interim > MAX_INTERIM) throw new ProtocolError('the upstream sent an unexpected interim answer')
      this.#sink.onInterim(status, headers)
      return after
    }
    this.#frame(status, line[1] === '1', headers)
    const bodiless = this.#place === 'done'
    this.#place = bodiless ? 'head' : this.#place
    this.#sink.onHead(status, line[3] ?? '', headers)
    if (bodiless && !this.#stopped) this.#end([])
    return after
  }

  /** Decides how the body ends (RFC 9112, section 6.3) and whether the connection lives on. */
  #frame(status: number, http11: boolean, headers: RawHeaders): void {
    let length: string | null = null
    let coding: string | null = null
    let connection = ''
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!
      // Cheap test first: of all names only these four lengths matter.
      if (name.length !== 10 && name.length !== 14 && name.length !== 17) continue
      const lower = name.toLowerCase()
      const value = headers[i + 1]!
      if (lower === 'content-length') {
        if (length !== null && length !== value) throw new ProtocolError('the upstream sent two different lengths')
        if (!/^\d{1,15}$/.test(value)) throw new ProtocolError('the upstream sent a malformed length')
        length = value
      } else if (lower === 'transfer-encoding') coding = coding === null ? value : `${coding}, ${value}`
      else if (lower === 'connection') connection += `,${value.toLowerCase()}`
      else if (lower === 'keep-alive') {
        const timeout = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(value)
        if (timeout) this.keepAliveSeconds = Number(timeout[1])
      }
    }
    const options = connection === '' ? [] : connection.split(',').map((option) => option.trim())
    this.keepAlive = http11 ? !options.includes('close') : options.includes('keep-alive') && !options.includes('close')
    if (this.#method === 'HEAD' || status === 204 || status === 304) {
      this.#place = 'done'
      return
    }
    if (coding !== null) {
      if (length !== null) throw new ProtocolError('the upstream sent a length beside a transfer coding')
      if (coding.trim().toLowerCase() !== 'chunked') throw new ProtocolError('the upstream used an unknown transfer coding')
      this.#place = 'size'
    } else if (length !== null) {
      this.#left = Number(length)
      this.#place = this.#left === 0 ? 'done' : 'counted'
    } else {
      this.#place = 'until-close'
      this.keepAlive = false
    }
  }

  #size(rest: Buffer): Buffer {
    const held = this.#hold(rest, MAX_LINE_BYTES)
    const at = held.indexOf(10)
    if (at < 0) {
      if (held.length > MAX_LINE_BYTES) throw new ProtocolError('the upstream sent an oversized chunk line')
      this.#keep(held)
      return EMPTY
    }
    const size = held[at - 1] === 13 ? CHUNK_SIZE.exec(held.toString('latin1', 0, at - 1)) : null
    if (!size) throw new ProtocolError('the upstream sent a malformed chunk')
    this.#left = Number.parseInt(size[1]!, 16)
    this.#place = this.#left === 0 ? 'trailers' : 'chunk'
    return held.subarray(at + 1)
  }

  #chunkEnd(rest: Buffer): Buffer {
    const held = this.#hold(rest, MAX_LINE_BYTES)
    if (held[0] !== 13 || (held.length > 1 && held[1] !== 10)) throw new ProtocolError('the upstream sent a malformed chunk')
    if (held.length === 1) {
      this.#keep(held)
      return EMPTY
    }
    this.#place = 'size'
    return held.subarray(2)
  }

  #trailers(rest: Buffer): Buffer {
    const held = this.#hold(rest, MAX_HEAD_BYTES)
    if (held.length >= 2 && held[0] === 13 && held[1] === 10) {
      this.#end([])
      return held.subarray(2)
    }
    const at = held.indexOf(HEAD_END)
    if (at < 0) {
      if (held.length > MAX_HEAD_BYTES) throw new ProtocolError('the upstream sent oversized trailers')
      this.#keep(held)
      return EMPTY
    }
    const trailers = readFields(held.toString('latin1', 0, at), 0)
    this.#end(trailers)
    return held.subarray(at + HEAD_END.length)
  }

  #end(trailers: RawHeaders): void {
    this.#place = 'done'
    this.#sink.onEnd(trailers)
  }
}

/** What a character may stand in: 1 a field name (RFC 9110 token), 2 a field value or reason. */
const CHARACTERS = new Uint8Array(256)
for (let code = 0; code < 256; code++) {
  if (code === 9 || (code >= 32 && code !== 127)) CHARACTERS[code]! |= 2
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code))) CHARACTERS[code]! |= 1
}

/**
 * The fields of a head, from `at` to the end of the text: lines of `name: value` with CRLF between them. One pass over the characters,
 * because this runs for every answer. Folded lines, bare CR or LF and other control characters are no fields.
 */
function readFields(text: string, at: number): RawHeaders {
  const headers: RawHeaders = []
  while (at < text.length) {
    const from = at
    while (at < text.length && (CHARACTERS[text.charCodeAt(at)]! & 1) !== 0) at++
    if (at === from || text.charCodeAt(at) !== COLON) throw new ProtocolError('the upstream sent a malformed header')
    const name = text.slice(from, at)
    const value = at + 1
    at = endOfLine(text, value)
    headers.push(name, trimmed(text, value, at))
    at += 2
  }
  return headers
}

/** Where the line that `at` lies in ends, which is at CRLF or the end of the text. */
function endOfLine(text: string, at: number): number {
  while (at < text.length && (CHARACTERS[text.charCodeAt(at)]! & 2) !== 0) at++
  if (at < text.length && (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF)) throw new ProtocolError('the upstream sent a malformed head')
  return at
}

/** Without the spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
