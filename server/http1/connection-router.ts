// Decides which server handles a connection: our own reader as long as its requests are for one
// path, and Node's server from the first request for another.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkPrefix } from '../common/client-info.ts'
import type { AddressLimiter } from './address-limits.ts'
import {
  errorResponse,
  TOO_MANY_CONNECTIONS,
  type ConnectionErrors,
  type ServerErrorCode,
} from './connection-errors.ts'
import type { HttpExchange } from './exchange.ts'
import { SHUTDOWN_EVENT, upgradeResponse } from './node-exchange.ts'
import { pathMarker } from './request-parser.ts'
import {
  ServerConnection,
  type ConnectionTimeouts,
  type ServerContext,
} from './server-connection.ts'
import { discardSlowly } from './drain-request.ts'
import type { CreateTurns, Owner, RouterTurns } from './turns.ts'
import { asksForWebSocket } from './websocket/handshake.ts'

/**
 * Pieces of bodies, of 64 KB each, read in one turn of the event loop: one takes about 40
 * microseconds.
 */
const BODY_READS_PER_TURN = 8
/** Connections handed to Node's server in one turn; it reads the first head of each. */
const HAND_OVERS_PER_TURN = 4
/**
 * Connections rejected in one turn: writing the response and the log line takes about 50
 * microseconds.
 */
const REJECTIONS_PER_TURN = 16
/**
 * Heads of requests parsed in one turn; with the steps that follow immediately, one takes about 25
 * microseconds.
 */
const HEADS_PER_TURN = 32
/**
 * Requests ended in one turn because their callers have left: closing the connection to the
 * provider and settling the row takes about 100 microseconds.
 */
const ENDS_PER_TURN = 8
/**
 * Connections closed in one turn because their callers have reset them: one takes about 10
 * microseconds. Then the turns above end their requests.
 */
const CLOSES_PER_TURN = 16
/** How long a rejected connection may take to read its response (milliseconds). */
const REJECTION_LINGER_MS = 1_000
/** How often connections are checked for timeouts, usually and during a shutdown (milliseconds). */
const TIMEOUT_CHECK_MS = 1_000
const SHUTDOWN_CHECK_MS = 50

/** The turns that the routers of a process share. */
export function createRouterTurns(create: CreateTurns): RouterTurns {
  return {
    reads: create(BODY_READS_PER_TURN),
    handOvers: create(HAND_OVERS_PER_TURN),
    rejections: create(REJECTIONS_PER_TURN),
    heads: create(HEADS_PER_TURN),
    ends: create(ENDS_PER_TURN),
    closes: create(CLOSES_PER_TURN),
  }
}

/** The requests that our own reader serves, and its dependencies. */
export interface RouterOptions {
  /** Requests for this path, and for paths below it, are ours. */
  readonly path: string
  /** Handles each of those requests. */
  readonly handle: (exchange: HttpExchange) => void
  readonly timeouts: ConnectionTimeouts
  readonly errors: ConnectionErrors
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly turns: RouterTurns
  /** Counts connections by client address; if missing, they are not limited. */
  readonly addresses?: AddressLimiter
}

/** Takes every connection that Node's server accepts, before Node reads from it. */
export class ConnectionRouter implements ServerContext {
  /** Replaced when the server is told to serve with other listeners. */
  handle: (exchange: HttpExchange) => void
  readonly path: Buffer
  timeouts: ConnectionTimeouts
  readonly requestLimits: AddressLimiter | null
  readonly turns: RouterTurns
  readonly keepAliveLines: string
  closing = false
  readonly #server: Server
  readonly #addresses: AddressLimiter | undefined
  readonly #options: RouterOptions
  /** Connections of our own reader. */
  readonly #connections = new Set<ServerConnection>()
  /** Connections of Node's server. */
  readonly #handedOver = new Set<Socket>()
  /** Connections that have switched protocols, with the callbacks that destroy them. */
  readonly #switched = new Map<Socket, () => void>()
  readonly #nodeListeners: Function[]
  /** The latest response of Node's server on each of its connections. */
  readonly #responses = new WeakMap<Socket, ServerResponse>()
  /** The responses that are not over, on each of its connections. */
  readonly #pending = new WeakMap<Socket, Set<ServerResponse>>()

  constructor(server: Server, options: RouterOptions) {
    const { path, handle, timeouts, turns, addresses } = options
    this.#server = server
    this.#options = options
    this.path = pathMarker(path)
    this.handle = handle
    this.timeouts = timeouts
    this.#addresses = addresses
    this.requestLimits = addresses?.countsRequests === true ? addresses : null
    this.turns = turns
    const seconds = Math.floor(timeouts.keepAlive / 1000)
    this.keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`
    this.#nodeListeners = server.listeners('connection')
    this.#listen()
    const { head, keepAlive } = timeouts
    this.#checkTimeouts(Math.min(TIMEOUT_CHECK_MS, head / 2, keepAlive / 2))
  }

  /** Closes each connection after its next response, or after it was idle for `idleMs`. */
  closeAfterResponses(idleMs: number): void {
    this.closing = true
    const keepAlive = Math.min(idleMs, this.timeouts.keepAlive)
    this.timeouts = { ...this.timeouts, keepAlive }
    for (const connection of this.#connections) connection.updateTimeout()
    this.#checkTimeouts(SHUTDOWN_CHECK_MS)
    // Node's server takes 0 for no timeout.
    this.#server.keepAliveTimeout = Math.max(1, keepAlive)
    this.#server.keepAliveTimeoutBuffer = 0
    for (const socket of this.#handedOver)
      if (this.#responses.get(socket)?.writableFinished === true)
        socket.setTimeout(this.#server.keepAliveTimeout)
  }

  /** Tells requests in progress that their connections are about to be destroyed. */
  announceShutdown(): void {
    for (const connection of this.#connections) connection.announceShutdown()
    for (const socket of this.#handedOver) socket.emit(SHUTDOWN_EVENT)
    for (const announce of this.#switched.values()) announce()
  }

  /** Destroys every connection we own, and those handed to Node that have a response in flight. */
  destroyBusy(): void {
    for (const connection of this.#connections) connection.destroy()
    for (const socket of this.#handedOver) if (this.#isResponding(socket)) socket.resetAndDestroy()
    for (const socket of this.#switched.keys()) socket.destroy()
  }

  /** See `ServerContext`. */
  errorResponse(code: ServerErrorCode, message: string): Buffer {
    return this.#errorResponse(code, message, true)
  }

  /** See `ServerContext`. */
  detached(connection: ServerConnection): void {
    this.#connections.delete(connection)
  }

  /** See `ServerContext`. */
  switched(socket: Socket, announce: () => void): void {
    this.#switched.set(socket, announce)
    socket.once('close', () => this.#switched.delete(socket))
  }

  /** See `ServerContext`. */
  handOver(socket: Socket, unread: Buffer): void {
    // Node's server reads unshifted bytes as soon as the socket flows again.
    socket.pause()
    socket.unshift(unread)
    this.#handedOver.add(socket)
    socket.once('close', () => this.#handedOver.delete(socket))
    // Until Node's server listens.
    socket.on('error', ignore)
    this.#options.turns.handOvers.schedule(addressOwner(socket), () => {
      if (socket.destroyed) return
      for (const listener of this.#nodeListeners) listener.call(this.#server, socket)
      process.nextTick(() => socket.resume())
    })
  }

  /** Whether a request of Node's server asks for another protocol that a handler may switch to. */
  mayUpgrade({ headers, rawHeaders, url = '', socket }: IncomingMessage): boolean {
    const earlier = this.#responses.get(socket)
    return (
      asksForWebSocket(rawHeaders) &&
      url.startsWith(this.#options.path) &&
      (headers['content-length'] ?? '0') === '0' &&
      headers['transfer-encoding'] === undefined &&
      // A handshake sent before the response to an earlier request: Node's server would release the
      // socket that this response needs.
      (earlier === undefined || (earlier.writableFinished && earlier.socket === null))
    )
  }

  #listen(): void {
    const server = this.#server
    const remember = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
      this.#remember(incoming, outgoing)
    server.keepAliveTimeout = this.timeouts.keepAlive
    server.removeAllListeners('connection')
    server
      .on('connection', (socket: Socket) => this.#accept(socket))
      .prependListener('request', remember)
      .prependListener('checkContinue', remember)
      .prependListener('checkExpectation', remember)
      .on('clientError', (error: Error & { code?: string }, socket: Socket) =>
        this.#sendError(socket, ...clientErrorOf(error, this.#responses.get(socket)?.req)),
      )
      .on('upgrade', (incoming: IncomingMessage, socket: Socket, unread: Buffer) => {
        this.#handedOver.delete(socket)
        this.switched(socket, () => void socket.emit(SHUTDOWN_EVENT))
        server.emit('request', incoming, upgradeResponse(incoming, socket, unread))
      })
      // Without a listener, Node's server sends no response; with one, it leaves the socket and its
      // errors to us.
      .on('connect', (_: IncomingMessage, socket: Socket) => this.#refuseTunnel(socket))
  }

  #remember(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket, headers } = incoming
    this.#responses.set(socket, outgoing)
    let pending = this.#pending.get(socket)
    if (pending === undefined) this.#pending.set(socket, (pending = new Set()))
    pending.add(outgoing)
    outgoing.once('close', () => pending.delete(outgoing))
    if (headers.upgrade !== undefined) endUnparsed(incoming, outgoing)
  }

  #refuseTunnel(socket: Socket): void {
    socket.on('error', ignore).resume()
    const pending = this.#pending.get(socket)
    if (pending === undefined || pending.size === 0)
      return this.#sendError(socket, 'method_not_allowed', 'This server does not support CONNECT.')
    // Sent before the responses to earlier requests, which Node's server no longer ends.
    for (const response of pending) {
      response.req.destroy()
      response.destroy()
    }
    socket.destroy()
  }

  /** Checks for timeouts from now on. */
  #checkTimeouts(everyMs: number): void {
    const check = (at: number): void => {
      for (const connection of this.#connections) connection.checkTimeout(at)
    }
    // After a stall of this process, timers run before what has arrived meanwhile is read.
    const timer = setInterval(() => setImmediate(check, performance.now()), everyMs).unref()
    this.#server.on('close', () => clearInterval(timer))
  }

  #accept(socket: Socket): void {
    if (this.#addresses?.acceptConnection(socket) !== false)
      return void this.#connections.add(new ServerConnection(socket, this))
    socket.on('error', ignore)
    this.#options.turns.rejections.schedule(addressOwner(socket), () => this.#reject(socket))
  }

  /**
   * Rejects a connection. Its request is already on its way, so closing immediately would reset the
   * connection and lose the response.
   */
  #reject(socket: Socket): void {
    if (socket.destroyed) return
    discardSlowly(socket, socket.remoteAddress ?? '', Infinity, () => {})
    socket.end(this.#errorResponse(...TOO_MANY_CONNECTIONS, false))
    setTimeout(() => socket.destroy(), REJECTION_LINGER_MS).unref()
  }

  #isResponding(socket: Socket): boolean {
    const response = this.#responses.get(socket)
    return response?.headersSent === true && !response.writableFinished
  }

  #sendError(socket: Socket, code: ServerErrorCode, message: string): void {
    // Nothing else may be written in the middle of a response.
    if (socket.destroyed || !socket.writable || this.#isResponding(socket))
      return void socket.destroy()
    socket.end(this.#errorResponse(code, message, false), () => socket.destroy())
  }

  #errorResponse(code: ServerErrorCode, message: string, isDirect: boolean): Buffer {
    const { errors, now } = this.#options
    return errorResponse(errors.ofConnection(code, message, isDirect), now())
  }
}

function ignore(): void {}

/**
 * Ends the connection of a request that asks for another protocol, and gets an ordinary response:
 * Node's parser drops what follows it in the same piece, and reports neither bytes that are not
 * HTTP nor the end of an incomplete body.
 */
function endUnparsed(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming
  const onEnd = (): void => {
    if (!incoming.complete) socket.destroy()
  }
  outgoing.shouldKeepAlive = false
  socket.once('end', onEnd)
  outgoing.once('close', () => socket.off('end', onEnd))
}

/**
 * Until its request is read, a connection belongs to its address: an address that opens many delays
 * only itself.
 */
function addressOwner({ remoteAddress = '' }: Socket): Owner {
  const address = networkPrefix(remoteAddress)
  return { account_id: address, key_id: address }
}

/** The errors for bytes that are not a request, and for uploads that end early. */
const NOT_HTTP = ['malformed_request', 'The bytes are not an HTTP/1.1 request.'] as const
const TRUNCATED_UPLOAD = [
  'invalid_file',
  'The upload ends before its last byte. Send it again.',
] as const

/** TABLE of the errors of Node's parser, in our words. */
const NODE_CLIENT_ERRORS: Readonly<Record<string, readonly [ServerErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The head of the request took too long to arrive.'],
}

function clientErrorOf(
  { code = '' }: { code?: string },
  request: IncomingMessage | undefined,
): readonly [ServerErrorCode, string] {
  const isTruncatedUpload =
    code === 'HPE_INVALID_EOF_STATE' && request?.complete === false && isForm(request)
  return isTruncatedUpload ? TRUNCATED_UPLOAD : (NODE_CLIENT_ERRORS[code] ?? NOT_HTTP)
}

function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
}
