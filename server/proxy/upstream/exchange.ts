// One request and its answer: what goes on the wire, in which order, and what every failure means.
import type { IncomingMessage } from 'node:http'
import type { Connection, ConnectionUser } from './connection.ts'
import type { Dial } from './dial.ts'
import type { RawHeaders, ResponseSink } from './response.ts'

/** The body of a request to an upstream: bytes that were read already, then whatever the caller still sends. */
export type OutgoingBody = {
  /** The number of bytes in all, or null: then it goes up in chunks, as it came. */
  length: number | null
  held: Buffer[]
  rest: IncomingMessage | null
  /** Which of the caller's trailers go up behind a body in chunks. */
  trailers(raw: RawHeaders): RawHeaders
}

/** One request as it goes on the wire. */
export type Outgoing = {
  dial: Dial
  method: string
  /** Path and query exactly as they are to be sent, starting with `/`. */
  path: string
  /** Without `Host`, `Connection` and `Transfer-Encoding`; `Content-Length` may stand in it, and is set by the body. */
  headers: RawHeaders
  body: OutgoingBody | null
}

/** Why there is no (whole) answer. */
export class UpstreamError extends Error {
  /** `unreachable`: no connection, or it broke. `timeout`: silence for longer than the limit. */
  readonly code: 'unreachable' | 'timeout'

  constructor(code: 'unreachable' | 'timeout', message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** What the caller of {@link Upstream.send} hears, in wire order. Exactly one of `onEnd` and `onError` comes last, unless aborted. */
export type Incoming = ResponseSink & {
  onError(error: UpstreamError): void
}

/** A request under way. */
export type UpstreamCall = {
  /** Body bytes handed to the connection so far. */
  readonly bytesSent: number
  /** Stops reading the answer until {@link resume}; the upstream feels it through TCP. */
  pause(): void
  resume(): void
  /** Ends the call at once and closes its connection. Nothing is reported any more. */
  abort(): void
}

/** All in milliseconds, but `idlePerDial`. */
export type UpstreamLimits = {
  /** Until the connection stands, TLS included. */
  connect: number
  /** From the last byte sent until the answer's head. */
  firstByte: number
  /** Between two pieces of an answer, whoever holds it up. */
  idle: number
  /** How long an unused connection is kept when the upstream does not say. */
  keepAlive: number
  /** How many unused connections are kept to one dial. */
  idlePerDial: number
}

/** Where an exchange gets its connection, and what it shares with all others. */
export type Connections = {
  open(dial: Dial): Connection
  takeIdle(dial: Dial): Connection | null
  giveBack(dial: Dial, connection: Connection): void
  /** Whether a connection has been unused so long that a FIN may lie unread in its socket. */
  rested(connection: Connection): boolean
  /** Those under way: each adds and deletes itself. */
  exchanges: Set<Exchange>
}

/** Methods that may be sent twice when the first time went unanswered (RFC 9110, section 9.2.2), as we use it: without a body. */
const REPEATABLE = new Set(['GET', 'HEAD'])
/** What a limit that has run out says: before the connection stood, before the head, after it. */
const UNREACHED = ['the upstream could not be reached in time', 'unreachable'] as const
const UNANSWERED = ['the upstream did not answer in time', 'timeout'] as const
const SILENT = ['the upstream fell silent', 'timeout'] as const
/** Up to this size head and held body go out as one piece. */
const ONE_WRITE_BYTES = 32 * 1024

/** One request and its answer over one connection (two, if the first was stale and provably never used). */
export class Exchange implements UpstreamCall, ConnectionUser {
  bytesSent = 0
  #request: Outgoing
  #incoming: Incoming
  #limits: UpstreamLimits
  #connections: Connections
  #connection: Connection | null = null
  /** The limit that runs, in milliseconds; 0 before the first. */
  #limit = 0
  /** Something has moved since the last check. */
  #moved = true
  #deadline = 0
  /** The whole request has been handed to the socket. */
  #sent = false
  #headSeen = false
  #over = false
  #writes = 0
  #retried = false
  #stopBody: (() => void) | null = null

  constructor(request: Outgoing, incoming: Incoming, limits: UpstreamLimits, connections: Connections) {
    this.#request = request
    this.#incoming = incoming
    this.#limits = limits
    this.#connections = connections
    connections.exchanges.add(this)
    this.#begin()
  }

  pause(): void {
    if (!this.#over) this.#connection?.socket.pause()
  }

  resume(): void {
    if (!this.#over) this.#connection?.socket.resume()
  }

  abort(): void {
    if (this.#over) return
    this.#finish()
    this.#connection?.destroy()
  }

  #begin(): void {
    const idle = this.#connections.takeIdle(this.#request.dial)
    if (idle !== null && this.#connections.rested(idle)) {
      // A FIN that has arrived but was not read yet is seen before the next check phase.
      setImmediate(() => {
        if (this.#over) return this.#connections.giveBack(this.#request.dial, idle)
        if (idle.usable) return this.#use(idle)
        idle.destroy()
        this.#begin()
      })
      return
    }
    if (idle !== null) return this.#use(idle)
    try {
      this.#use(this.#connections.open(this.#request.dial))
    } catch (error) {
      // Reported like every other failure: after `send` has returned.
      queueMicrotask(() => this.onBroken(error instanceof Error ? error : new Error('the connection could not be opened')))
    }
  }

  #use(connection: Connection): void {
    this.#connection = connection
    this.#setLimit(this.#limits.connect)
    connection.take(this, this.#request.method)
  }

  onReady(): void {
    this.#setLimit(this.#limits.firstByte)
    const { method, path, headers, dial, body } = this.#request
    let head = `${method} ${dial.prefix}${path} HTTP/1.1\r\nHost: ${dial.authority}\r\n`
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!
      if (name.length !== 14 || name.toLowerCase() !== 'content-length') head += `${name}: ${headers[i + 1]}\r\n`
    }
    if (body !== null) head += body.length === null ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${body.length}\r\n`
    head += '\r\n'
    const socket = this.#connection!.socket
    if (body === null) {
      this.#writes = 1
      socket.write(head, 'latin1')
      this.#sent = true
      return
    }
    // Held back for a tick: the caller's first body bytes usually wait in its socket, and then travel with the head.
    socket.cork()
    this.#writeFirst(head, body)
    if (body.rest === null) this.#endBody(body)
    else this.#pump(body.rest, body)
    process.nextTick(() => socket.uncork())
  }

  /** Sends the head with what is held of the body, in one piece where that is small. */
  #writeFirst(head: string, body: OutgoingBody): void {
    const socket = this.#connection!.socket
    const held = body.held.reduce((sum, chunk) => sum + chunk.length, 0)
    this.bytesSent = held
    if (held > 0 && held <= ONE_WRITE_BYTES && body.length !== null) {
      const whole = Buffer.allocUnsafe(head.length + held)
      let at = whole.write(head, 0, 'latin1')
      for (const chunk of body.held) at += chunk.copy(whole, at)
      this.#writes = 1
      socket.write(whole)
      return
    }
    socket.write(head, 'latin1')
    for (const chunk of body.held) this.#write(chunk, body)
    this.#writes = held === 0 ? 1 : 2
  }

  /** @returns false: wait for `onDrain` */
  #write(chunk: Buffer, body: OutgoingBody): boolean {
    const socket = this.#connection!.socket
    this.#writes++
    if (body.length !== null) return socket.write(chunk)
    if (chunk.length === 0) return true
    socket.cork()
    socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
    socket.write(chunk)
    const more = socket.write('\r\n', 'latin1')
    socket.uncork()
    return more
  }

  #pump(rest: IncomingMessage, body: OutgoingBody): void {
    const onData = (chunk: Buffer) => {
      this.bytesSent += chunk.length
      this.#moved = true
      if (!this.#write(chunk, body)) rest.pause()
    }
    const onEnd = () => {
      this.#stopBody?.()
      this.#endBody(body)
    }
    this.#stopBody = () => {
      this.#stopBody = null
      rest.off('data', onData)
      rest.off('end', onEnd)
    }
    if (rest.readableEnded) return onEnd()
    rest.on('data', onData)
    rest.on('end', onEnd)
    rest.resume()
  }

  #endBody(body: OutgoingBody): void {
    this.#sent = true
    this.#moved = true
    if (body.length !== null) return
    let tail = '0\r\n'
    const trailers = body.rest === null || body.rest.rawTrailers.length === 0 ? [] : body.trailers(body.rest.rawTrailers)
    for (let i = 0; i < trailers.length; i += 2) tail += `${trailers[i]}: ${trailers[i + 1]}\r\n`
    this.#connection!.socket.write(`${tail}\r\n`, 'latin1')
  }

  onDrain(): void {
    this.#moved = true
    if (this.#stopBody !== null) this.#request.body?.rest?.resume()
  }

  onInterim(status: number, headers: RawHeaders): void {
    this.#moved = true
    // We never ask for 100 (the caller's Expect is answered by our own server), so nobody waits for it.
    if (status !== 100) this.#incoming.onInterim(status, headers)
  }

  onHead(status: number, reason: string, headers: RawHeaders): void {
    this.#headSeen = true
    this.#setLimit(this.#limits.idle)
    this.#incoming.onHead(status, reason, headers)
  }

  onBody(chunk: Buffer, last: boolean): void {
    this.#moved = true
    this.#incoming.onBody(chunk, last)
  }

  onEnd(trailers: RawHeaders): void {
    const connection = this.#connection!
    this.#finish()
    connection.release()
    // An answer before the whole request was sent: the rest of the request would be read as the next one.
    if (this.#sent && connection.reader.keepAlive) {
      connection.socket.resume()
      // Only after the reader is through with this piece: bytes behind the answer spoil the connection.
      queueMicrotask(() => {
        if (connection.usable) this.#connections.giveBack(this.#request.dial, connection)
      })
    } else connection.destroy()
    this.#incoming.onEnd(trailers)
  }

  onBroken(error: Error): void {
    if (this.#over) return
    if (this.#mayRetry(error)) {
      this.#retried = true
      this.#connection = null
      this.#writes = 0
      this.bytesSent = 0
      return this.#begin()
    }
    this.#finish()
    if (error instanceof UpstreamError) return this.#incoming.onError(error)
    const what = this.#headSeen ? 'the upstream broke off its answer' : 'the upstream could not be reached'
    this.#incoming.onError(new UpstreamError('unreachable', what, error))
  }

  /**
   * A pooled connection that the upstream has closed meanwhile is nobody's fault, but a request may only be repeated when it was
   * certainly not processed: its one and only write was refused by our own kernel, or it is a GET or HEAD without a body.
   */
  #mayRetry(error: Error): boolean {
    const connection = this.#connection
    if (this.#retried || connection === null || !connection.reused || connection.reader.started) return false
    if (error instanceof UpstreamError) return false
    if (this.#request.body === null && REPEATABLE.has(this.#request.method)) return true
    const { code, syscall } = error as NodeJS.ErrnoException
    return code === 'EPIPE' && syscall === 'write' && this.#writes === 1 && this.#request.body?.rest == null
  }

  #setLimit(milliseconds: number): void {
    this.#limit = milliseconds
    this.#moved = true
  }

  /** Ends the exchange when nothing has moved for as long as the limit says. Time counts from the check that saw the last move. */
  check(now: number): void {
    if (this.#moved) {
      this.#moved = false
      this.#deadline = now + this.#limit
    } else if (now > this.#deadline) {
      const [message, code] = this.#headSeen ? SILENT : this.#writes === 0 ? UNREACHED : UNANSWERED
      this.#connection?.fail(new UpstreamError(code, message))
    }
  }

  #finish(): void {
    this.#over = true
    this.#stopBody?.()
    this.#connections.exchanges.delete(this)
  }
}
