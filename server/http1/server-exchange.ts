// One request read by request-parser.ts, and its response.
//
// A response is over in steps: ended (by the handler), end written (to the socket), finished (the
// system has accepted all of it); then the exchange is done, once the body has been read, too.
import type { Socket } from 'node:net'
import { scheduleFlush, type BatchWriter } from './write-batch.ts'
import type { ResponseListener, BodySink, HttpExchange, RequestBody } from './exchange.ts'
import { fieldLines, NO_BYTES, valueOf, type RawHeaders } from './header-fields.ts'
import { CONTINUE } from './probes.ts'
import { RawConnection, switchingHead, type RawSource } from './raw-connection.ts'
import type { RequestHead, RequestParser } from './request-parser.ts'
import { asksForWebSocket } from './websocket/handshake.ts'

/** The connection of a request. */
export interface ConnectionHandle {
  readonly socket: Socket
  readonly parser: RequestParser
  /** The last lines of a head that keeps the connection alive. */
  readonly keepAliveLines: string
  /** Whether no further request will be handled. */
  readonly closing: boolean
  /** Reads on, because all buffered bytes have been used. */
  resume(): void
  /** The body cannot be read any further. */
  fail(error: unknown): void
  /** Waits for the rest of a request that has got its response; these many bytes were discarded. */
  linger(bytes: number): void
  /** Request and response are complete; the system has not accepted all of the response yet. */
  awaitFinish(): void
  /** The request and its response are over. */
  exchangeDone(keepAlive: boolean): void
  /**
   * The connection no longer carries HTTP and is no longer read here; null if the caller has closed
   * its sending side.
   */
  detach(): RawSource | null
}

const CLOSE = 'Connection: close\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const [CR, LF] = [13, 10]

/**
 * This many bytes of a response are sent without waiting for the batch, to notice a caller that
 * does not read.
 */
const SEND_AT_ONCE_BYTES = 64 * 1024

/** Passes the body on from its connection, and sends the response's pieces together. */
export class ServerExchange implements HttpExchange, RequestBody, BatchWriter {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: RequestBody | null
  readonly length: number | null
  closed = false
  headersSent = false
  readonly #connection: ConnectionHandle
  readonly #http10: boolean
  #keepAlive: boolean
  #expectsContinue: boolean
  // The body.
  #sink: BodySink | null = null
  #paused = false
  #bodyDone: boolean
  // The response.
  #listener: ResponseListener | null = null
  #pendingHead = ''
  #framing: 'none' | 'counted' | 'chunked' | 'until-close' = 'none'
  #pendingPieces: Buffer[] = []
  /** Total bytes of the pieces. */
  #pendingBytes = 0
  // The steps of its end.
  #ended = false
  #endWritten = false
  #finished = false
  #done = false

  constructor(
    connection: ConnectionHandle,
    { method, target, headers, http10, framing: length, keepAlive, expectsContinue }: RequestHead,
  ) {
    this.#connection = connection
    this.method = method
    this.target = target
    this.headers = headers
    // A handshake may say that it has no body.
    const hasBody = length !== null && !(length === 0 && asksForWebSocket(headers))
    this.body = hasBody ? this : null
    this.length = typeof length === 'number' ? length : null
    this.#http10 = http10
    this.#keepAlive = keepAlive
    this.#expectsContinue = expectsContinue && hasBody
    this.#bodyDone = !hasBody
  }

  /** Whether the response has ended. */
  get ended(): boolean {
    return this.#ended
  }

  read(sink: BodySink | null): void {
    this.#sink = sink
    this.#paused = false
    this.readBody()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.readBody()
  }

  /** Passes the buffered bytes of the body to the sink; after the response, discards them. */
  readBody(): void {
    const { parser } = this.#connection
    try {
      while (!this.#bodyDone && (this.#ended || (this.#sink !== null && !this.#paused))) {
        const piece = parser.nextChunk()
        if (piece === null && !parser.ended) {
          if (this.#ended) this.#connection.linger(0)
          return this.#connection.resume()
        }
        if (piece === null) this.#bodyDone = true
        if (this.#ended) this.#connection.linger(piece?.length ?? 0)
        // oxlint-disable-next-line typescript/no-non-null-assertion -- the loop runs with a sink, or when the exchange has ended
        else if (piece !== null) this.#sink!.onData(piece)
        // oxlint-disable-next-line typescript/no-non-null-assertion -- the loop runs with a sink, or when the exchange has ended
        else this.#sink!.onEnd(parser.trailers)
      }
    } catch (error) {
      return this.#connection.fail(error)
    }
    if (this.#ended) this.#maybeDone()
  }

  watch(listener: ResponseListener): void {
    this.#listener = listener
  }

  writeContinue(): void {
    if (this.#expectsContinue && !this.closed) this.#connection.socket.write(CONTINUE, 'latin1')
    this.#expectsContinue = false
  }

  writeInterim(status: number, reason: string, headers: RawHeaders): void {
    if (!this.#http10 && !this.headersSent)
      this.#pendingHead += `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(headers)}\r\n`
  }

  writeHead(status: number, reason: string, headers: RawHeaders): void {
    this.headersSent = true
    const bodiless = this.method === 'HEAD' || status === 204 || status === 304
    this.#framing = bodiless
      ? 'none'
      : valueOf(headers, 'content-length') !== undefined
        ? 'counted'
        : this.#http10
          ? 'until-close'
          : 'chunked'
    // A caller that never got 100 Continue may or may not send its body, so the next bytes on this
    // connection would be ambiguous.
    if (this.#framing === 'until-close' || this.#expectsContinue || this.#connection.closing)
      this.#keepAlive = false
    this.#pendingHead += `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(headers)}`
    if (this.#framing === 'chunked') this.#pendingHead += 'Transfer-Encoding: chunked\r\n'
    this.#pendingHead += this.#keepAlive ? this.#connection.keepAliveLines : CLOSE
  }

  write(bytes: Buffer): void {
    if (this.#framing === 'none' || bytes.length === 0) return
    const before =
      this.#framing === 'chunked'
        ? `${this.#pendingHead}${bytes.length.toString(16)}\r\n`
        : this.#pendingHead
    const to = before.length + bytes.length
    const piece = Buffer.allocUnsafe(this.#framing === 'chunked' ? to + 2 : to)
    if (before !== '') piece.write(before, 0, 'latin1')
    piece.set(bytes, before.length)
    if (this.#framing === 'chunked') {
      piece[to] = CR
      piece[to + 1] = LF
    }
    this.#pendingHead = ''
    this.#pendingPieces.push(piece)
    this.#pendingBytes += piece.length
  }

  end(trailers: RawHeaders = []): void {
    if (this.#framing === 'chunked') {
      this.#flushHead()
      this.#pendingPieces.push(
        trailers.length === 0
          ? LAST_CHUNK
          : Buffer.from(`0\r\n${fieldLines(trailers)}\r\n`, 'latin1'),
      )
    }
    this.#ended = true
    this.#sink = null
    // The caller was never asked to send its body.
    if (this.#expectsContinue) this.#bodyDone = true
  }

  flush(): boolean {
    if (this.closed) return true
    if (this.#pendingBytes >= SEND_AT_ONCE_BYTES) this.writeNow()
    else scheduleFlush(this)
    return !this.#connection.socket.writableNeedDrain
  }

  writeNow(): void {
    if (this.closed) return
    this.writePending()
    if (!this.#ended || this.#endWritten) return
    this.#endWritten = true
    const { socket } = this.#connection
    if (socket.writableLength === 0) this.#onFinish()
    else {
      // Called once the system has accepted everything before it.
      socket.write(NO_BYTES, () => this.#onFinish())
      this.readBody()
    }
  }

  /** Hands everything written so far to the socket, without ending the response. */
  writePending(): void {
    const { socket } = this.#connection
    this.#flushHead()
    const pieces = this.#pendingPieces
    const [first] = pieces
    if (first === undefined) return
    this.#pendingPieces = []
    this.#pendingBytes = 0
    if (pieces.length === 1) socket.write(first)
    else {
      socket.cork()
      for (const piece of pieces) socket.write(piece)
      socket.uncork()
    }
  }

  reset(): void {
    if (this.closed) return
    this.writePending()
    const { socket } = this.#connection
    // A reset, because a normal close would look like the end of a response without a length or
    // chunks (HTTP/1.0).
    socket.resetAndDestroy()
  }

  get canSwitch(): boolean {
    return !this.closed && !this.headersSent && !this.#http10 && this.body === null
  }

  switchProtocols(headers: RawHeaders): RawConnection | null {
    if (!this.canSwitch) return null
    const source = this.#connection.detach()
    if (source === null) return null
    this.headersSent = true
    this.#listener = null
    this.#pendingHead += switchingHead(headers)
    this.writePending()
    this.closed = true
    this.#finished = true
    return new RawConnection(source)
  }

  /** The socket takes more again. */
  onDrain(): void {
    if (!this.#ended) this.#listener?.onDrain()
  }

  /** Whether the caller would understand a `100 Continue` now. */
  get canBeProbed(): boolean {
    return !this.#http10 && !this.headersSent && !this.closed
  }

  /**
   * Probes a caller that has closed its sending side: if it is gone, its system sends a reset.
   */
  probe(): void {
    if (this.canBeProbed && this.#pendingHead === '')
      this.#connection.socket.write(CONTINUE, 'latin1')
  }

  /** The connection is about to be destroyed. */
  announceShutdown(): void {
    if (!this.closed && !this.#ended) this.#listener?.onShutdown?.()
  }

  /** The caller has left. @param schedule calls the function that ends the request */
  abort(schedule: (end: () => void) => void = (end) => end()): void {
    if (this.closed) return
    this.closed = true
    const sink = this.#bodyDone ? null : this.#sink
    this.#sink = null
    this.#bodyDone = true
    schedule(() => {
      sink?.onAborted()
      if (!this.#finished) this.#listener?.onClose()
    })
  }

  #flushHead(): void {
    if (this.#pendingHead === '') return
    this.#pendingPieces.push(Buffer.from(this.#pendingHead, 'latin1'))
    this.#pendingHead = ''
  }

  #onFinish(): void {
    if (this.closed || this.#finished) return
    this.#finished = true
    this.#listener?.onFinish()
    this.readBody()
  }

  #maybeDone(): void {
    if (this.closed || this.#done) return
    if (!this.#finished) return this.#connection.awaitFinish()
    this.#done = true
    this.#connection.exchangeDone(this.#keepAlive)
  }
}
