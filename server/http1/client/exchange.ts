// One request and its answer: over which connection, how long each may take, and what every failure
// means.
import type { RawHeaders } from '../header-fields.ts'
import type { LoopTurns } from '../loop-turns.ts'
import type { Connection, ConnectionUser } from './connection.ts'
import type { Dial } from './dial.ts'
import type { ResponseSink } from './response-parser.ts'
import { OURSELVES, Sending, type Outgoing } from './request-writer.ts'

/** Why there is no (whole) answer. */
export class UpstreamError extends Error {
  /** `unreachable`: no connection, or it broke. `timeout`: silence for longer than the limit. */
  readonly code: 'unreachable' | 'timeout'

  constructor(code: 'unreachable' | 'timeout', message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * What the caller of {@link Sender.send} hears, in wire order. Exactly one of `onEnd` and `onError`
 * comes last, unless aborted.
 */
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
  /**
   * From the last byte sent, also of a request whose rest does not come, until the answer's head.
   */
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
  /** Opens a connection for a request, when it is its turn. */
  open(request: Outgoing, use: (dial: () => Connection) => void): void
  /** Writes some pieces of a large body, when it is the request's turn. */
  write(request: Outgoing, pieces: () => void): void
  /** Counts pieces of answers that are read. */
  readonly reads: LoopTurns
  takeIdle(dial: Dial): Connection | null
  giveBack(dial: Dial, connection: Connection): void
  /** Whether a connection has been unused so long that a FIN may lie unread in its socket. */
  rested(connection: Connection): boolean
}

/**
 * Methods that may be sent twice when the first time went unanswered (RFC 9110, section 9.2.2), as
 * we use it: without a body.
 */
const REPEATABLE = new Set(['GET', 'HEAD'])
/** What a limit that has run out says: before the connection stood, before the head, after it. */
const UNREACHED = ['the upstream could not be reached in time', 'unreachable'] as const
const UNANSWERED = ['the upstream did not answer in time', 'timeout'] as const
const SILENT = ['the upstream fell silent', 'timeout'] as const

/**
 * One request and its answer over one connection (two, if the first was stale and provably never
 * used).
 */
export class Exchange implements UpstreamCall, ConnectionUser {
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
  #sending: Sending | null = null
  #headSeen = false
  #over = false
  #retried = false
  /** Why nothing is read: the caller is slow, or it is not this answer's turn. */
  #isPaused = false
  #isWaiting = false
  /** Whether the last piece came after a wait for its turn. */
  #hasWaited = false
  /** The turn of `reads` in which a piece was read last. */
  #lastRead = -Infinity

  constructor(
    request: Outgoing,
    incoming: Incoming,
    limits: UpstreamLimits,
    connections: Connections,
  ) {
    this.#request = request
    this.#incoming = incoming
    this.#limits = limits
    this.#connections = connections
    this.#begin()
  }

  get bytesSent(): number {
    return this.#sending?.bytes ?? 0
  }

  get begun(): boolean {
    return this.#sending !== null && this.#sending.writes > 0
  }

  pause(): void {
    this.#isPaused = true
    if (!this.#over) this.#connection?.socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#readOn()
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
    this.#connections.open(this.#request, (dial) => {
      if (this.#over) return
      try {
        this.#use(dial())
      } catch (error) {
        // Reported like every other failure: after `send` has returned.
        queueMicrotask(() =>
          this.onBroken(
            error instanceof Error ? error : new Error('the connection could not be opened'),
          ),
        )
      }
    })
  }

  #use(connection: Connection): void {
    this.#connection = connection
    this.#setLimit(this.#limits.connect)
    connection.take(this, this.#request.method)
  }

  onReady(): void {
    this.#setLimit(this.#limits.firstByte)
    this.#sending = new Sending(this.#connection!.socket, this.#request, (pieces) =>
      this.#connections.write(this.#request, pieces),
    )
    this.#sending.start()
  }

  onDrain(): void {
    this.#sending?.drained()
  }

  onInterim(status: number, reason: string, headers: RawHeaders): void {
    this.#moved = true
    // We never ask for 100 (the caller's Expect is answered by our own server), so nobody waits for
    // it.
    if (status !== 100) this.#incoming.onInterim(status, reason, headers)
  }

  onHead(status: number, reason: string, headers: RawHeaders): void {
    this.#headSeen = true
    this.#sending?.letGo()
    this.#setLimit(this.#limits.idle)
    this.#incoming.onHead(status, reason, headers)
  }

  onBody(chunk: Buffer): void {
    this.#moved = true
    this.#incoming.onBody(chunk)
  }

  onPause(): void {
    this.#incoming.onPause()
    if (!this.#over) this.#takeTurn()
  }

  /**
   * An answer that comes again and again waits for its turn where many do; all that comes until
   * then is read as one piece.
   */
  #takeTurn(): void {
    const { reads } = this.#connections
    const isBusy = this.#hasWaited || this.#lastRead >= reads.turn - 1
    this.#lastRead = reads.turn
    this.#hasWaited = reads.isOver() && isBusy
    if (!this.#hasWaited) return
    this.#isWaiting = true
    this.#connection!.socket.pause()
    reads.take(this.#request.owner ?? OURSELVES, () => {
      this.#isWaiting = false
      this.#readOn()
    })
  }

  #readOn(): void {
    if (!this.#over && !this.#isPaused && !this.#isWaiting) this.#connection?.socket.resume()
  }

  onEnd(trailers: RawHeaders): void {
    const connection = this.#connection!
    this.#finish()
    connection.release()
    // An answer before the whole request was sent: the rest of the request would be read as the
    // next one.
    if (this.#sending?.done && connection.reader.keepAlive) {
      connection.socket.resume()
      // Only after the reader is through with this piece: bytes behind the answer spoil the
      // connection.
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
      this.#sending = null
      return this.#begin()
    }
    this.#finish()
    if (error instanceof UpstreamError) return this.#incoming.onError(error)
    const what = this.#headSeen
      ? 'the upstream broke off its answer'
      : 'the upstream could not be reached'
    this.#incoming.onError(new UpstreamError('unreachable', what, error))
  }

  /**
   * A pooled connection that the upstream has closed meanwhile is nobody's fault, but a request may
   * only be repeated when it was certainly not processed: nothing of it was written, its one and
   * only write was refused by our own kernel, or it is a GET or HEAD without a body.
   */
  #mayRetry(error: Error): boolean {
    const connection = this.#connection
    if (this.#retried || connection === null || !connection.reused || connection.reader.started)
      return false
    if (error instanceof UpstreamError) return false
    if (this.#sending?.writes === 0) return true
    if (this.#request.body === null && REPEATABLE.has(this.#request.method)) return true
    const { code, syscall } = error as NodeJS.ErrnoException
    return (
      code === 'EPIPE' &&
      syscall === 'write' &&
      this.#sending?.writes === 1 &&
      this.#request.body?.rest == null
    )
  }

  #setLimit(milliseconds: number): void {
    this.#limit = milliseconds
    this.#moved = true
  }

  /**
   * Ends the exchange when nothing has moved for as long as the limit says. Time counts from the
   * check that saw the last move.
   */
  check(now: number): void {
    if (this.#moved || this.#sending?.moved) {
      this.#moved = false
      if (this.#sending !== null) this.#sending.moved = false
      this.#deadline = now + this.#limit
    } else if (now > this.#deadline) {
      const [message, code] = this.#headSeen
        ? SILENT
        : this.#sending === null
          ? UNREACHED
          : UNANSWERED
      this.#connection?.fail(new UpstreamError(code, message))
    }
  }

  #finish(): void {
    this.#over = true
    this.#sending?.stop()
  }
}
