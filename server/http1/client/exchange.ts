// One request and its response: the connection, the timeouts, and what each failure means.
import type { RawHeaders } from '../header-fields.ts'
import type { RawConnection } from '../raw-connection.ts'
import type { Owner, Turns } from '../turns.ts'
import type { ClientConnection, ConnectionUser } from './connection.ts'
import type { Destination } from './destination.ts'
import type { ResponseEvents } from './response-parser.ts'
import { INTERNAL_OWNER, RequestWriter, type OutboundRequest } from './request-writer.ts'

/** Why there is no response, or no complete one. */
export class UpstreamError extends Error {
  /** `unreachable`: no connection, or it broke. `timeout`: silence for longer than the limit. */
  readonly code: 'unreachable' | 'timeout'

  constructor(code: 'unreachable' | 'timeout', message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * Callbacks of `HttpClient.send`, in wire order. Exactly one of `onEnd` and `onError` comes last,
 * unless aborted.
 */
export type ResponseHandler = Omit<ResponseEvents, 'onSwitch'> & {
  onError(error: UpstreamError): void
  /**
   * The upstream has switched protocols, as the request asked: nothing else is reported. If this is
   * missing, a switch is an error.
   */
  onSwitch?(headers: RawHeaders, connection: RawConnection): void
}

/** A request in progress. */
export type PendingRequest = {
  /** Body bytes handed to the connection so far. */
  readonly bytesSent: number
  /** Stops reading the response until {@link resume}; TCP slows the upstream down. */
  pause(): void
  resume(): void
  /** Ends the exchange immediately and closes its connection, without further callbacks. */
  abort(): void
}

/** All in milliseconds, except `maxIdlePerDestination`. */
export type ClientLimits = {
  /** Until the connection is established, including TLS. */
  connect: number
  /**
   * From the last byte sent until the response's head, even if the rest of the request does not
   * arrive.
   */
  firstByte: number
  /** Between two pieces of a response, whichever side causes the delay. */
  idle: number
  /** How long an unused connection is kept if the upstream does not specify it. */
  keepAlive: number
  /** Maximum number of unused connections to one destination. */
  maxIdlePerDestination: number
}

/** The source of an exchange's connection, and the state shared by all exchanges. */
export type ConnectionPool = {
  /** Opens a connection for a request, when it is the owner's turn. */
  open(request: OutboundRequest, use: (open: () => ClientConnection) => void): void
  /** Writes some pieces of a large body, when it is the owner's turn. */
  write(request: OutboundRequest, pieces: () => void): void
  /** Counts the pieces of responses that are read. */
  readonly reads: Turns
  /** Ends requests whose connection is lost, or that have timed out, in their owners' turns. */
  readonly ends: Turns
  /** Hands over connections that have switched protocols, in their owners' turns. */
  readonly switches: Turns
  acquire(destination: Destination): ClientConnection | null
  release(destination: Destination, connection: ClientConnection): void
  /** Whether a connection has been unused so long that a FIN may lie unread in its socket. */
  isStale(connection: ClientConnection): boolean
}

/**
 * Methods that may be sent again if the first attempt got no response (RFC 9110, section 9.2.2); we
 * do so only without a body.
 */
const REPEATABLE = new Set(['GET', 'HEAD'])
/**
 * The messages of a timeout: before the connection was established, before the head, and after it.
 */
const CONNECT_TIMEOUT = ['the upstream could not be reached in time', 'unreachable'] as const
const FIRST_BYTE_TIMEOUT = ['the upstream did not answer in time', 'timeout'] as const
const IDLE_TIMEOUT = ['the upstream fell silent', 'timeout'] as const

/**
 * One request and its response over one connection, or two if the first was stale and certainly not
 * used.
 */
export class ClientExchange implements PendingRequest, ConnectionUser {
  #request: OutboundRequest
  #handler: ResponseHandler
  #limits: ClientLimits
  #pool: ConnectionPool
  #connection: ClientConnection | null = null
  /** The current limit, in milliseconds; 0 before the first. */
  #timeout = 0
  /** Whether bytes have been sent or received since the last check. */
  #moved = true
  #deadline = 0
  #writer: RequestWriter | null = null
  #headSeen = false
  #done = false
  #retried = false
  /** The two reasons not to read: the caller is slow, or it is not this response's turn. */
  #isPaused = false
  #isAwaitingTurn = false
  /** Whether the last piece had to wait for its turn. */
  #waitedForTurn = false
  /** The turn of `reads` in which a piece was read last. */
  #lastReadTurn = -Infinity

  constructor(
    request: OutboundRequest,
    handler: ResponseHandler,
    limits: ClientLimits,
    pool: ConnectionPool,
  ) {
    this.#request = request
    this.#handler = handler
    this.#limits = limits
    this.#pool = pool
    this.#connect()
  }

  get #owner(): Owner {
    return this.#request.owner ?? INTERNAL_OWNER
  }

  get bytesSent(): number {
    return this.#writer?.bytes ?? 0
  }

  get writeStarted(): boolean {
    return this.#writer !== null && this.#writer.writes > 0
  }

  pause(): void {
    this.#isPaused = true
    if (!this.#done) this.#connection?.socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#resumeSocket()
  }

  abort(): void {
    if (this.#done) return
    this.#finish()
    this.#connection?.destroy()
  }

  #connect(): void {
    const { destination, upgrade } = this.#request
    const idle = upgrade === true ? null : this.#pool.acquire(destination)
    if (idle !== null && this.#pool.isStale(idle)) {
      // A FIN that has arrived but has not been read is seen before the next check phase.
      setImmediate(() => {
        if (this.#done) return this.#pool.release(destination, idle)
        if (idle.usable) return this.#use(idle)
        idle.destroy()
        this.#connect()
      })
      return
    }
    if (idle !== null) return this.#use(idle)
    this.#pool.open(this.#request, (open) => {
      if (this.#done) return
      try {
        this.#use(open())
      } catch (error) {
        // Reported after `send` has returned, like every other failure.
        queueMicrotask(() =>
          this.onConnectionLost(
            error instanceof Error ? error : new Error('the connection could not be opened'),
          ),
        )
      }
    })
  }

  #use(connection: ClientConnection): void {
    this.#connection = connection
    this.#setTimeout(this.#limits.connect)
    connection.assign(this, this.#request.method, this.#request.upgrade)
  }

  onReady(): void {
    this.#setTimeout(this.#limits.firstByte)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a connection calls this while it is assigned
    this.#writer = new RequestWriter(this.#connection!.socket, this.#request, (pieces) =>
      this.#pool.write(this.#request, pieces),
    )
    this.#writer.start()
  }

  onDrain(): void {
    this.#writer?.onDrain()
  }

  deferRead(read: () => void): boolean {
    const { reads } = this.#pool
    // A response that switches protocols is read at once: its bytes get another reader.
    if (!reads.isBusy || this.#isAwaitingTurn || this.#request.upgrade === true) return false
    this.#moved = true
    this.#awaitTurn(read)
    return true
  }

  onInterim(status: number, reason: string, headers: RawHeaders): void {
    this.#moved = true
    // We never send Expect (our own server answers the caller's), so nothing waits for 100.
    if (status !== 100) this.#handler.onInterim(status, reason, headers)
  }

  onHead(status: number, reason: string, headers: RawHeaders): void {
    this.#headSeen = true
    this.#writer?.releaseBody()
    this.#setTimeout(this.#limits.idle)
    this.#handler.onHead(status, reason, headers)
  }

  onBody(chunk: Buffer): void {
    this.#moved = true
    this.#handler.onBody(chunk)
  }

  onSwitch(headers: RawHeaders, connection: RawConnection): void {
    this.#pool.switches.schedule(this.#owner, () => this.#handOver(headers, connection))
  }

  #handOver(headers: RawHeaders, connection: RawConnection): void {
    // Aborted while it waited for its turn.
    if (this.#done) return connection.destroy()
    this.#finish()
    if (this.#handler.onSwitch !== undefined) return this.#handler.onSwitch(headers, connection)
    connection.destroy()
    this.#handler.onError(new UpstreamError('unreachable', 'the upstream switched protocols'))
  }

  onPause(): void {
    this.#handler.onPause()
    if (!this.#done) this.#yieldTurn()
  }

  /**
   * A response that had data in the last turn too waits for its turn when there are many; all that
   * arrives until then is read as one piece.
   */
  #yieldTurn(): void {
    const { reads } = this.#pool
    const isBusy = this.#waitedForTurn || this.#lastReadTurn >= reads.turn - 1
    this.#lastReadTurn = reads.turn
    this.#waitedForTurn = reads.spend() && isBusy
    if (!this.#waitedForTurn) return
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a connection calls this while it is assigned
    this.#connection!.socket.pause()
    this.#awaitTurn()
  }

  /** Waits for its owner's turn. @param read what to read then, which counts itself */
  #awaitTurn(read?: () => void): void {
    this.#isAwaitingTurn = true
    const next = (): void => {
      this.#isAwaitingTurn = false
      if (this.#done) return
      read?.()
      this.#resumeSocket()
    }
    this.#pool.reads.defer(this.#owner, next, read === undefined ? 1 : 0)
  }

  #resumeSocket(): void {
    if (!this.#done && !this.#isPaused && !this.#isAwaitingTurn) this.#connection?.socket.resume()
  }

  onEnd(trailers: RawHeaders): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a connection calls this while it is assigned
    const connection = this.#connection!
    this.#pool.reads.spend()
    this.#finish()
    connection.unassign()
    // The response came before the whole request was sent: the rest would be read as the next
    // request.
    if (this.#writer?.done && connection.parser.keepAlive) {
      connection.socket.resume()
      // Released only after the parser has finished this piece: bytes after the response make the
      // connection unusable.
      queueMicrotask(() => {
        if (connection.usable) this.#pool.release(this.#request.destination, connection)
      })
    } else connection.destroy()
    this.#handler.onEnd(trailers)
  }

  onConnectionLost(error: Error): void {
    // Bytes that are no response were read, too.
    this.#pool.reads.spend()
    if (!this.#done) this.#pool.ends.schedule(this.#owner, () => this.#loseConnection(error))
  }

  #loseConnection(error: Error): void {
    if (this.#done) return
    if (this.#mayRetry(error)) {
      this.#retried = true
      this.#connection = null
      this.#writer = null
      return this.#connect()
    }
    this.#finish()
    if (error instanceof UpstreamError) return this.#handler.onError(error)
    const what = this.#headSeen
      ? 'the upstream broke off its response'
      : 'the upstream could not be reached'
    this.#handler.onError(new UpstreamError('unreachable', what, error))
  }

  /**
   * The upstream may have closed a pooled connection. A request is repeated only if that is
   * certainly safe: nothing of it was written, its only write was rejected by our own kernel, or it
   * is a GET or HEAD without a body.
   */
  #mayRetry(error: Error): boolean {
    const connection = this.#connection
    if (this.#retried || connection === null || !connection.reused || connection.parser.started)
      return false
    if (error instanceof UpstreamError) return false
    if (this.#writer?.writes === 0) return true
    if (this.#request.body === null && REPEATABLE.has(this.#request.method)) return true
    const { code, syscall } = error as NodeJS.ErrnoException
    return (
      code === 'EPIPE' &&
      syscall === 'write' &&
      this.#writer?.writes === 1 &&
      this.#request.body?.rest == null
    )
  }

  #setTimeout(milliseconds: number): void {
    this.#timeout = milliseconds
    this.#moved = true
  }

  /**
   * Ends the exchange if no bytes have moved for as long as the limit allows. Time counts from the
   * check that saw the last progress.
   */
  checkTimeout(now: number): void {
    if (this.#moved || this.#writer?.progressed) {
      this.#moved = false
      if (this.#writer !== null) this.#writer.progressed = false
      this.#deadline = now + this.#timeout
    } else if (now > this.#deadline) {
      this.#deadline = Infinity
      this.#pool.ends.schedule(this.#owner, () => this.#timeOut())
    }
  }

  #timeOut(): void {
    // Something may have moved while it waited for its turn.
    if (this.#done || this.#moved) return
    const [message, code] = this.#headSeen
      ? IDLE_TIMEOUT
      : this.#writer === null
        ? CONNECT_TIMEOUT
        : FIRST_BYTE_TIMEOUT
    this.#connection?.destroy()
    this.#loseConnection(new UpstreamError(code, message))
  }

  #finish(): void {
    this.#done = true
    this.#writer?.stop()
  }
}
