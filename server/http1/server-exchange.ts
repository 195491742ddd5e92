// One request that our own reader has read, and its answer.
import type { Socket } from 'node:net'
import { joinBurst, type Writer } from './write-batch.ts'
import type { AnswerWatcher, BodySink, Caller, CallerBody } from './exchange.ts'
import { fieldLines, NO_BYTES, valueOf, type RawHeaders } from './header-fields.ts'
import type { RequestHead, RequestReader } from './request-parser.ts'

/** The connection that a request came on. */
export interface Line {
  readonly socket: Socket
  readonly reader: RequestReader
  /** The last lines of a head that lets the connection live. */
  readonly keep: string
  /** No other request will be taken. */
  readonly retiring: boolean
  /** Lets the socket go on after a pause. */
  resume(): void
  /** The body cannot be read any further. */
  fail(error: unknown): void
  /** The answer has been said, and so many bytes of the request's rest were thrown away. */
  linger(bytes: number): void
  /** Answer and request have been said; the system has not taken all of the answer yet. */
  waitForTaking(): void
  /** The request is over, and so is its answer. */
  next(keepAlive: boolean): void
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const CLOSE = 'Connection: close\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/**
 * So many bytes of an answer do not wait for the burst: a caller that does not read must be noticed
 * before there are more.
 */
const MOST_WAITING = 64 * 1024

export class Call implements Caller, CallerBody, Writer {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: CallerBody | null
  readonly length: number | null
  gone = false
  answered = false
  readonly #line: Line
  readonly #http10: boolean
  #keepAlive: boolean
  #expecting: boolean
  // The body.
  #sink: BodySink | null = null
  #paused = false
  #read: boolean
  // The answer.
  #watcher: AnswerWatcher | null = null
  #head = ''
  #framing: 'none' | 'counted' | 'chunked' | 'until-close' = 'none'
  #pieces: Buffer[] = []
  /** Bytes of the pieces. */
  #waiting = 0
  #ended = false
  /** The end has been handed to the socket; the system has taken it. */
  #handed = false
  #taken = false
  #over = false

  constructor(
    line: Line,
    { method, target, headers, http10, framing, keepAlive, expects }: RequestHead,
  ) {
    this.#line = line
    this.method = method
    this.target = target
    this.headers = headers
    this.body = framing === null ? null : this
    this.length = typeof framing === 'number' ? framing : null
    this.#http10 = http10
    this.#keepAlive = keepAlive
    this.#expecting = expects && framing !== null
    this.#read = framing === null
  }

  /** Whether the answer has been said. */
  get ended(): boolean {
    return this.#ended
  }

  read(sink: BodySink | null): void {
    this.#sink = sink
    this.#paused = false
    this.more()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.more()
  }

  /**
   * Gives the sink what has come of the body; once the answer has been said the rest goes nowhere.
   */
  more(): void {
    const { reader } = this.#line
    try {
      while (!this.#read && (this.#ended || (this.#sink !== null && !this.#paused))) {
        const piece = reader.piece()
        if (piece === null && !reader.ended) {
          if (this.#ended) this.#line.linger(0)
          return this.#line.resume()
        }
        if (piece === null) this.#read = true
        if (this.#ended) this.#line.linger(piece?.length ?? 0)
        else if (piece !== null) this.#sink!.onData(piece)
        else this.#sink!.onEnd(reader.trailers)
      }
    } catch (error) {
      return this.#line.fail(error)
    }
    if (this.#ended) this.#finish()
  }

  watch(watcher: AnswerWatcher): void {
    this.#watcher = watcher
  }

  proceed(): void {
    if (this.#expecting && !this.gone) this.#line.socket.write(CONTINUE, 'latin1')
    this.#expecting = false
  }

  interim(status: number, reason: string, headers: RawHeaders): void {
    if (!this.#http10 && !this.answered)
      this.#head += `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(headers)}\r\n`
  }

  head(status: number, reason: string, headers: RawHeaders): void {
    this.answered = true
    const bodiless = this.method === 'HEAD' || status === 204 || status === 304
    this.#framing = bodiless
      ? 'none'
      : valueOf(headers, 'content-length') !== undefined
        ? 'counted'
        : this.#http10
          ? 'until-close'
          : 'chunked'
    // Whoever was never asked for its body may or may not send it: what comes next on this
    // connection would be anybody's guess.
    if (this.#framing === 'until-close' || this.#expecting || this.#line.retiring)
      this.#keepAlive = false
    this.#head += `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(headers)}`
    if (this.#framing === 'chunked') this.#head += 'Transfer-Encoding: chunked\r\n'
    this.#head += this.#keepAlive ? this.#line.keep : CLOSE
  }

  write(bytes: Buffer): void {
    if (this.#framing === 'none' || bytes.length === 0) return
    const open =
      this.#framing === 'chunked' ? `${this.#head}${bytes.length.toString(16)}\r\n` : this.#head
    const close = this.#framing === 'chunked' ? '\r\n' : ''
    const piece = Buffer.allocUnsafe(open.length + bytes.length + close.length)
    if (open !== '') piece.write(open, 0, 'latin1')
    bytes.copy(piece, open.length)
    if (close !== '') piece.write(close, open.length + bytes.length, 'latin1')
    this.#head = ''
    this.#pieces.push(piece)
    this.#waiting += piece.length
  }

  end(trailers: RawHeaders = []): void {
    if (this.#framing === 'chunked') {
      this.#putHead()
      this.#pieces.push(
        trailers.length === 0
          ? LAST_CHUNK
          : Buffer.from(`0\r\n${fieldLines(trailers)}\r\n`, 'latin1'),
      )
    }
    this.#ended = true
    this.#sink = null
    if (this.#expecting) this.#read = true
  }

  flush(): boolean {
    if (this.gone) return true
    if (this.#waiting >= MOST_WAITING) this.writeNow()
    else joinBurst(this)
    return !this.#line.socket.writableNeedDrain
  }

  writeNow(): void {
    if (this.gone) return
    this.handToSocket()
    if (!this.#ended || this.#handed) return
    this.#handed = true
    const { socket } = this.#line
    if (socket.writableLength === 0) this.#onTaken()
    else {
      socket.write(NO_BYTES, () => this.#onTaken())
      this.more()
    }
  }

  /**
   * Everything that has been said of the answer, and no more: what becomes of the request is
   * somebody else's.
   */
  handToSocket(): void {
    const { socket } = this.#line
    this.#putHead()
    const pieces = this.#pieces
    if (pieces.length === 0) return
    this.#pieces = []
    this.#waiting = 0
    if (pieces.length === 1) socket.write(pieces[0]!)
    else {
      socket.cork()
      for (const piece of pieces) socket.write(piece)
      socket.uncork()
    }
  }

  breakOff(): void {
    if (this.gone) return
    this.handToSocket()
    const { socket } = this.#line
    // Nobody can take that for the end of the answer: without a length or chunks (HTTP/1.0), an
    // ordinary close would be one.
    socket.resetAndDestroy()
  }

  /** The socket takes more again. */
  drained(): void {
    if (!this.#ended) this.#watcher?.onDrain()
  }

  /** The caller has left. */
  lose(): void {
    if (this.gone) return
    this.gone = true
    const sink = this.#read ? null : this.#sink
    this.#sink = null
    this.#read = true
    sink?.onGone()
    if (!this.#taken) this.#watcher?.onGone()
  }

  #putHead(): void {
    if (this.#head === '') return
    this.#pieces.push(Buffer.from(this.#head, 'latin1'))
    this.#head = ''
  }

  #onTaken(): void {
    if (this.gone || this.#taken) return
    this.#taken = true
    this.#watcher?.onTaken()
    this.more()
  }

  #finish(): void {
    if (this.gone || this.#over) return
    if (!this.#taken) return this.#line.waitForTaking()
    this.#over = true
    this.#line.next(this.#keepAlive)
  }
}
