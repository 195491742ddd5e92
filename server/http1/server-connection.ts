// A caller's connection, which carries one request after another until either side closes it. Each
// request is a `ServerExchange`, which ends when the system has accepted the response and the
// request's body has been read.
import type { Socket } from 'node:net'
import { FULL_SPEED_BYTES, slowReads, discardSlowly, type SlowReader } from './drain-request.ts'
import { ServerExchange, type ConnectionHandle } from './server-exchange.ts'
import type { AddressLimiter, ReleaseSlot } from './address-limits.ts'
import { TOO_MANY_CONNECTIONS, type ConnectionErrorCode } from './connection-errors.ts'
import type { HttpExchange } from './exchange.ts'
import { countRead } from './read-memory.ts'
import type { RawSource } from './raw-connection.ts'
import {
  isForPath,
  MAX_HEAD_BYTES,
  RequestError,
  RequestParser,
  type RequestHead,
} from './request-parser.ts'
import { probeAgain } from './probes.ts'
import { closeAtOnce, closeInTurn } from './reset-turns.ts'
import { networkPrefix } from '../common/client-info.ts'
import type { Owner, RouterTurns } from './turns.ts'

/** The state shared by all connections of a server. */
export interface ServerContext {
  /** Handles a request. */
  handle(caller: HttpExchange): void
  /** The result of `pathMarker` for our path. */
  readonly path: Buffer
  /** Receives a connection whose next request is for another path, with the bytes read so far. */
  handOver(socket: Socket, unread: Buffer): void
  /** Returns the response to bytes that are not a request. */
  errorResponse(code: ConnectionErrorCode, message: string): Buffer
  /** A connection has closed, or was handed over. */
  detached(connection: ServerConnection): void
  /** A connection has switched protocols; call `announce` before it is destroyed. */
  switched(socket: Socket, announce: () => void): void
  /** Whether connections must not take another request. */
  readonly closing: boolean
  readonly timeouts: ConnectionTimeouts
  /** Counts requests by client address; null if they are not counted. */
  readonly requestLimits: AddressLimiter | null
  readonly turns: RouterTurns
  /** The last lines of a head that keeps the connection alive. */
  readonly keepAliveLines: string
}

/** Timeouts of a caller's connection, in milliseconds. */
export interface ConnectionTimeouts {
  /** How long a caller may take to send the head of a request. */
  readonly head: number
  /** How long a connection may wait for its next request. */
  readonly keepAlive: number
}

/** How long a response's last bytes may wait for a caller that does not read. */
const FINISH_TIMEOUT_MS = 300_000
/**
 * After an early response (401, 413, 429, …) the rest of the request is slowly drained, so that the
 * caller can read the response: closing immediately would make its system discard it. The bytes
 * have the default of `TOLLMARK_MAX_BODY`.
 */
const LINGER_MS = 5_000
const LINGER_BYTES = 64 * 1_048_576
/**
 * A head in more pieces than this is read slowly: each piece costs about as much as a whole
 * request, and thousands of callers can send theirs byte by byte.
 */
const MAX_HEAD_CHUNKS = 4
/**
 * A head, with what came of its body, counts once more for each of these bytes: checking hundreds
 * of parameters or ids takes up to 0.4 ms.
 */
const SHORT_BYTES = 2 * 1024
/** Bytes that may wait to be read before the socket is paused. */
const MAX_UNREAD_BYTES = 64 * 1024

/**
 * If this many bytes arrive at once, more wait in the system: Node reads up to two megabytes of a
 * fast upload in a turn of the loop.
 */
const LARGE_READ_BYTES = 32 * 1024
/** The owner of all connections' reads: together they have one place in the turns. */
const BODY_READS_OWNER = { account_id: '', key_id: '' }

/** What the connection waits for: its first request, the rest of a head, the next request, … */
type ConnectionState = 'first' | 'head' | 'next' | 'exchange' | 'linger' | 'taking' | 'close'

/**
 * A caller's connection. It lives until it is closed, handed to Node's server, or detached because
 * it switches protocols.
 */
export class ServerConnection implements ConnectionHandle, SlowReader {
  readonly socket: Socket
  readonly address: string
  readonly parser = new RequestParser()
  readonly #context: ServerContext
  #exchange: ServerExchange | null = null
  #parsing = false
  #paused = false
  /** Whether it waits for its turn to be read. */
  #awaitingTurn = false
  /** Whether its next head waits for its turn to be parsed. */
  #awaitingParse = false
  #handedOver = false
  /** Whether the caller has closed its sending side. */
  #receivedFin = false
  /** Whether a caller that has done so may still wait for the response. */
  #awaitsAfterFin = false
  #discardedBytes = 0
  /** Pieces of an incomplete head received so far. */
  #headChunks = 0
  /** How many pieces of a discarded body may be read before the next turn. */
  #readsLeft = 0
  /** Releases the request's slot, if it is counted by address. */
  #releaseSlot: ReleaseSlot | undefined
  #state: ConnectionState = 'first'
  /** How long it may wait, in milliseconds, and the deadline, which is set at the first check. */
  #timeout: number
  #deadline = 0
  /** Whether it has waited too long, and waits for its turn to be closed. */
  #isTimedOut = false
  /** Whether it waits for its turn to be probed. */
  #isProbing = false

  constructor(socket: Socket, context: ServerContext) {
    this.socket = socket
    this.address = socket.remoteAddress ?? ''
    this.#context = context
    // A balancer keeps connections that it has opened but not used as long as used ones: if we
    // closed them sooner, a request might already be on its way.
    this.#timeout = context.timeouts.keepAlive
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('close', this.#onClose)
      .on('drain', this.#onDrain)
      .on('error', ignore)
    closeInTurn(socket, (close) => context.turns.closes.schedule(this.#owner, close))
  }

  get keepAliveLines(): string {
    return this.#context.keepAliveLines
  }

  get closing(): boolean {
    return this.#context.closing
  }

  /** Checks whether it has waited too long. @param now monotonic milliseconds */
  checkTimeout(now: number): void {
    // Thousands may be checked at once.
    const { ends } = this.#context.turns
    if (this.#awaitsAfterFin && !this.#isProbing) {
      this.#isProbing = true
      ends.schedule(this.#owner, () => this.#probe())
    }
    if (this.#deadline === 0) this.#deadline = now + this.#timeout
    else if (now >= this.#deadline && !this.#awaitingParse && !this.#isTimedOut) {
      this.#isTimedOut = true
      ends.schedule(this.#owner, () => this.#timeOut())
    }
  }

  #probe(): void {
    this.#isProbing = false
    this.#exchange?.probe()
  }

  #timeOut(): void {
    // Something may have arrived while it waited for its turn.
    const isLate = this.#isTimedOut && !this.#awaitingParse && !this.#handedOver
    this.#isTimedOut = false
    if (!isLate || this.socket.destroyed) return
    if (this.#state === 'head' && this.parser.unread.length > 0)
      this.#sendError('request_timeout', 'The head of the request took too long to arrive.')
    else this.socket.destroy()
  }

  /** If it waits for a request, it waits no longer than the keep-alive timeout from now on. */
  updateTimeout(): void {
    if (this.#exchange === null && this.#state !== 'close')
      this.#setState(this.#state, Math.min(this.#timeout, this.#context.timeouts.keepAlive))
  }

  /** It is about to be destroyed: a request in progress may still get a response. */
  announceShutdown(): void {
    this.#exchange?.announceShutdown()
  }

  /**
   * Ends it now. An incomplete response is reset, because to an HTTP/1.0 caller a normal close
   * would look like its end.
   */
  destroy(): void {
    if (this.#exchange === null) this.socket.destroy()
    else this.socket.resetAndDestroy()
  }

  resume(): void {
    if (this.#awaitsAfterFin) return this.#truncated()
    if (!this.#paused) return
    this.#paused = false
    if (!this.#awaitingTurn) this.socket.resume()
  }

  fail(error: unknown): void {
    if (!(error instanceof RequestError)) throw error
    this.#sendError(error.code, error.message)
  }

  linger(bytes: number): void {
    if (this.#state !== 'linger') {
      this.#discardedBytes = 0
      this.#readsLeft = 0
      this.#setState('linger', LINGER_MS)
    }
    this.#discardedBytes += bytes
    if (this.#discardedBytes > LINGER_BYTES) this.socket.destroy()
  }

  awaitFinish(): void {
    this.#setState('taking', FINISH_TIMEOUT_MS)
  }

  exchangeDone(keepAlive: boolean): void {
    this.#exchange = null
    this.#releaseSlot?.()
    if (!keepAlive) return this.#close()
    this.#setState('next', this.#context.timeouts.keepAlive)
    if (!this.#awaitsAfterFin) this.resume()
    // A caller may have sent many requests in advance.
    if (this.parser.unread.length > 0) this.#parseInTurn()
    else if (this.#awaitsAfterFin) this.#close()
  }

  readonly #onData = (bytes: Buffer): void => {
    countRead(bytes.length)
    this.parser.push(bytes)
    if (this.#exchange === null) this.#parseInTurn()
    else this.#exchange.readBody()
    if (
      this.#state === 'linger' &&
      this.#discardedBytes >= FULL_SPEED_BYTES &&
      --this.#readsLeft <= 0
    )
      this.#throttle()
    else if (bytes.length >= LARGE_READ_BYTES && this.#exchange !== null && !this.#awaitingTurn)
      this.#yieldTurn()
    if (this.#paused || this.parser.unread.length < MAX_UNREAD_BYTES) return
    // The rest stays in the caller's system until some of this is read.
    this.#paused = true
    this.socket.pause()
  }

  /** Continues reading discarded bytes, or heads in many pieces, when it is its turn. */
  #throttle(): void {
    this.#awaitingTurn = true
    this.socket.pause()
    slowReads.enqueue(this)
  }

  resumeReading(pieces: number): void {
    this.#readsLeft = pieces
    this.#resumeSocket()
  }

  #resumeSocket(): void {
    this.#awaitingTurn = false
    if (!this.#paused && !this.#handedOver) this.socket.resume()
  }

  /** Continues reading when it is this connection's turn, which may be now. */
  #yieldTurn(): void {
    let isNow = true
    this.#awaitingTurn = true
    this.#context.turns.reads.schedule(BODY_READS_OWNER, () => {
      if (isNow) this.#awaitingTurn = false
      else this.#resumeSocket()
    })
    isNow = false
    if (this.#awaitingTurn) this.socket.pause()
  }

  readonly #onEnd = (): void => {
    this.#receivedFin = true
    // What it sent before comes first.
    if (this.#awaitingParse) return
    this.#context.turns.ends.schedule(this.#owner, () => this.#endInTurn())
  }

  /**
   * Before its response begins, a caller that has stopped sending may only be half-closed (RFC
   * 9112, section 9.6), which a probe distinguishes from a disconnect. During its response, or if
   * it cannot be probed, it counts as disconnected.
   */
  #endInTurn(): void {
    if (this.socket.destroyed) return
    const exchange = this.#exchange
    if (exchange === null || exchange.ended) {
      exchange?.writeNow()
      return this.#close()
    }
    if (!exchange.canBeProbed) return void this.socket.destroy()
    this.#awaitsAfterFin = true
    exchange.readBody()
    if (this.#exchange !== exchange) return
    exchange.probe()
    const { ends } = this.#context.turns
    probeAgain(() => ends.schedule(this.#owner, () => this.#probe()))
  }

  /** Ends a connection whose caller has stopped sending before the body was complete. */
  #truncated(): void {
    if (this.#exchange?.ended === true) this.#close()
    else this.socket.destroy()
  }

  readonly #onClose = (): void => {
    slowReads.remove(this)
    this.#context.detached(this)
    this.#releaseSlot?.()
    const { ends } = this.#context.turns
    this.#exchange?.abort((end) => ends.schedule(this.#owner, end))
  }

  readonly #onDrain = (): void => this.#exchange?.onDrain()

  /**
   * Owns its work. Requests on a connection that was used before do not wait behind new callers.
   */
  get #owner(): Owner {
    const address = networkPrefix(this.address)
    const isNew = this.#state === 'first' || this.#state === 'head'
    return { account_id: address, key_id: isNew ? 'new' : 'known' }
  }

  /**
   * Serves the buffered requests when it is this connection's turn, which is usually now. If
   * thousands of callers send a head at once, parsing all of them would delay everything else.
   */
  #parseInTurn(): void {
    if (this.#awaitingParse) return
    const { path, turns } = this.#context
    const { unread } = this.parser
    const cost = 1 + Math.floor(Math.min(unread.length, MAX_HEAD_BYTES) / SHORT_BYTES)
    // Connections are handed over in turns of their own.
    if (!turns.heads.spend(cost) || isForPath(unread, path) === false) return this.#parseRequests()
    this.#awaitingParse = true
    const parse = (): void => {
      this.#awaitingParse = false
      if (this.socket.destroyed) return
      this.#parseRequests()
      if (this.#receivedFin) this.#onEnd()
    }
    turns.heads.schedule(this.#owner, parse, cost)
  }

  /** Serves the buffered requests, one at a time. */
  #parseRequests(): void {
    if (this.#parsing) return
    this.#parsing = true
    while (
      this.#exchange === null &&
      !this.#handedOver &&
      this.parser.unread.length > 0 &&
      this.#state !== 'close'
    ) {
      const ours = isForPath(this.parser.unread, this.#context.path)
      if (ours === false) {
        if (!this.#receivedFin) this.#handOver()
        break
      }
      let head: RequestHead | null = null
      try {
        if (ours) head = this.parser.nextHead()
      } catch (error) {
        this.fail(error)
        break
      }
      if (head === null) {
        if (this.#state === 'next' || this.#state === 'first')
          this.#setState('head', this.#context.timeouts.head)
        if (++this.#headChunks > MAX_HEAD_CHUNKS && !this.#awaitingTurn) this.#throttle()
        break
      }
      this.#headChunks = 0
      const releaseSlot = this.#context.requestLimits?.acceptRequest(head.headers)
      if (releaseSlot === null) {
        this.#sendError(...TOO_MANY_CONNECTIONS)
        break
      }
      this.#releaseSlot = releaseSlot
      this.#setState('exchange', Infinity)
      this.#exchange = new ServerExchange(this, head)
      this.#context.handle(this.#exchange)
    }
    this.#parsing = false
    // No further request can arrive, and Node's server could not read the remaining bytes.
    if (this.#awaitsAfterFin && this.#exchange === null && !this.#handedOver) this.#close()
  }

  #handOver(): void {
    this.#release()
    this.#context.handOver(this.socket, this.parser.unread)
  }

  detach(): RawSource | null {
    if (this.#receivedFin) return null
    this.#release()
    slowReads.remove(this)
    this.#exchange = null
    const releaseSlot = this.#releaseSlot
    if (releaseSlot !== undefined) this.socket.once('close', releaseSlot)
    return rawSource(this.socket, this.parser.unread, this.#context)
  }

  /** Stops using the socket, which is handed over. */
  #release(): void {
    this.#handedOver = true
    this.socket
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('close', this.#onClose)
      .off('drain', this.#onDrain)
      .off('error', ignore)
    closeAtOnce(this.socket)
    this.#context.detached(this)
  }

  #sendError(code: ConnectionErrorCode, message: string): void {
    const exchange = this.#exchange
    this.#exchange = null
    exchange?.writePending()
    exchange?.abort()
    if (exchange?.headersSent) {
      // What is left is no request.
      this.#setState('close', LINGER_MS)
      return void this.socket.destroy()
    }
    this.socket.write(this.#context.errorResponse(code, message))
    this.#close()
  }

  /**
   * Closes our side, and waits a moment for the other side to close; bytes that still arrive are
   * discarded.
   */
  #close(): void {
    if (this.#state === 'close') return
    this.#setState('close', LINGER_MS)
    this.socket.off('data', this.#onData)
    this.#paused = false
    discardSlowly(this.socket, this.address, LINGER_BYTES, () => this.socket.destroy())
    this.socket.end()
  }

  #setState(what: ConnectionState, limit: number): void {
    this.#state = what
    this.#timeout = limit
    this.#deadline = 0
    this.#isTimedOut = false
  }
}

/**
 * A function of its own: its closures live as long as the connection, and keep nothing else alive.
 */
const rawSource = (socket: Socket, unread: Buffer, context: ServerContext): RawSource => ({
  socket,
  unread,
  subscribe: (take) => void socket.on('data', take),
  onShutdown: (announce) => context.switched(socket, announce),
  reads: context.turns.reads,
})

function ignore(): void {}
