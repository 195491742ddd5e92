// Who serves a connection: our own reader as long as its requests are for the proxy, Node's server
// from the first other request on.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkPrefix } from '../common/client-info.ts'
import { discardSlowly } from './slow-reads.ts'
import { ERRORS, Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { Log } from '../common/log.ts'
import type { HttpExchange } from './exchange.ts'
import { SHUTDOWN_EVENT } from './node-exchange.ts'
import { AddressLimiter } from './address-limits.ts'
import { TurnBudget } from '../common/fairness/turn-budget.ts'
import {
  ServerConnection,
  TOO_MANY_CONNECTIONS,
  type ConnectionTimeouts,
  type ServerContext,
  type ConnectionErrorCode,
} from './server-connection.ts'

export interface ConnectionRouter {
  /** Closes each connection after its next response. */
  closeAfterResponses(): void
  /** Closes connections that are not in use. */
  closeWhenIdle(): void
  /** Tells requests in progress that their connections are destroyed in a moment. */
  announceShutdown(): void
  /**
   * Cuts off all connections that Node's server has not taken, and of those that it has the ones
   * that are in the middle of an answer.
   */
  destroyBusy(): void
}

/**
 * Pieces of bodies, of 64 KB each, that are read in one turn of the event loop: to read one takes
 * about 40 microseconds.
 */
const BODY_READS_PER_TURN = 8
/** Connections that Node's server gets in one turn, and reads the first head of. */
const HAND_OVERS_PER_TURN = 4
/**
 * Connections that are turned away in one turn: to write why, and to log it, takes about 50
 * microseconds.
 */
const REJECTIONS_PER_TURN = 16
/** How long a connection that was turned away may take to read why. */
const REJECTION_LINGER_MS = 1_000
/** How often it is looked whether a connection has waited too long. */
const TIMEOUT_CHECK_MS = 1_000

/** What is done a few times in a turn of the event loop. */
export interface RouterBudgets {
  /** Large pieces of bodies are read. */
  readonly reads: TurnBudget
  /** Node's server gets connections. */
  readonly handOvers: TurnBudget
  /** Connections are turned away. */
  readonly rejections: TurnBudget
}

export function createRouterBudgets(): RouterBudgets {
  return {
    reads: new TurnBudget(BODY_READS_PER_TURN),
    handOvers: new TurnBudget(HAND_OVERS_PER_TURN),
    rejections: new TurnBudget(REJECTIONS_PER_TURN),
  }
}

/**
 * Stands before Node's server: every connection that it accepts is read here first.
 *
 * @param handle takes each request for the proxy
 * @param now milliseconds since 1970
 * @param addresses counts connections by the address of their client
 * @param turns what all fronts of a process share
 */
export function openConnectionRouter(
  server: Server,
  handle: (caller: HttpExchange) => void,
  limits: ConnectionTimeouts,
  log: Log,
  now: () => number,
  addresses = new AddressLimiter(0, false),
  turns = createRouterBudgets(),
): ConnectionRouter {
  const connections = new Set<ServerConnection>()
  const handedOver = new Set<Socket>()
  const nodeListeners = server.listeners('connection')
  let closing = false

  const errorResponse = (code: ErrorCode, message: string, ofProxy = false): Buffer => {
    const id = newId('req', now())
    // What we read ourselves is for the proxy, whose own answers all say so.
    const more: Record<string, string> = ofProxy
      ? { 'x-proxy-error': code, 'x-proxy-request-id': id }
      : {}
    const problem = new Problem(
      code,
      message,
      code === 'too_many_connections' ? { retryAfter: 1 } : {},
    )
    log.request({
      request_id: id,
      method: '',
      route: null,
      status: problem.status,
      duration_ms: 0,
      code,
    })
    const body = JSON.stringify(problem.body(id))
    const head = {
      ...problem.headers(),
      ...more,
      'content-length': String(Buffer.byteLength(body)),
      date: new Date(now()).toUTCString(),
      connection: 'close',
      'x-request-id': id,
    }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(
      `HTTP/1.1 ${problem.status} ${ERRORS[code].title}\r\n${lines.join('')}\r\n${body}`,
    )
  }
  const context: ServerContext = {
    handle,
    errorResponse: (code, message) => errorResponse(code, message, true),
    limits,
    addresses,
    bodyReads: turns.reads,
    keepAliveLines: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(limits.keepAlive / 1000)}\r\n\r\n`,
    detached: (connection) => connections.delete(connection),
    get closing() {
      return closing
    },
    handOver(socket, unread) {
      // Node's server reads what is put back as soon as the socket flows again.
      socket.pause()
      socket.unshift(unread)
      handedOver.add(socket)
      socket.once('close', () => handedOver.delete(socket))
      // Until Node's server listens.
      socket.on('error', () => {})
      turns.handOvers.schedule(addressOwner(socket), () => {
        if (socket.destroyed) return
        for (const listener of nodeListeners) listener.call(server, socket)
        process.nextTick(() => socket.resume())
      })
    },
  }
  server.keepAliveTimeout = limits.keepAlive
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (addresses.acceptConnection(socket)) connections.add(new ServerConnection(socket, context))
    else {
      socket.on('error', () => {})
      turns.rejections.schedule(addressOwner(socket), () => rejectConnection(socket))
    }
  })
  // The request is on its way already: closed at once, the connection would be reset, and the
  // answer lost with it.
  const rejectConnection = (socket: Socket): void => {
    if (socket.destroyed) return
    discardSlowly(socket, socket.remoteAddress ?? '', Infinity, () => {})
    socket.end(errorResponse(...TOO_MANY_CONNECTIONS))
    setTimeout(() => socket.destroy(), REJECTION_LINGER_MS).unref()
  }
  const responses = new WeakMap<Socket, ServerResponse>()
  const rememberResponse = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    void responses.set(incoming.socket, outgoing)
  server
    .prependListener('request', rememberResponse)
    .prependListener('checkContinue', rememberResponse)
    .prependListener('checkExpectation', rememberResponse)
  const isResponding = (socket: Socket): boolean => {
    const answer = responses.get(socket)
    return answer?.headersSent === true && !answer.writableFinished
  }
  const sendError = (socket: Socket, code: ErrorCode, message: string): void => {
    // In the middle of an answer nothing else may be said.
    if (socket.destroyed || !socket.writable || isResponding(socket)) return void socket.destroy()
    socket.end(errorResponse(code, message), () => socket.destroy())
  }
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    const request = responses.get(socket)?.req
    const isTruncatedUpload =
      error.code === 'HPE_INVALID_EOF_STATE' && request?.complete === false && isForm(request)
    sendError(
      socket,
      ...(isTruncatedUpload
        ? TRUNCATED_UPLOAD
        : (NODE_CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP)),
    )
  })
  // Without a listener Node's server says nothing at all; with one it leaves the socket, and its
  // errors, to us.
  server.on('connect', (_: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {}).resume()
    sendError(socket, 'method_not_allowed', 'This server opens no tunnels.')
  })
  const timer = setInterval(
    () => {
      const at = performance.now()
      for (const connection of connections) connection.checkTimeout(at)
    },
    Math.min(TIMEOUT_CHECK_MS, limits.head / 2, limits.keepAlive / 2),
  ).unref()
  server.on('close', () => clearInterval(timer))

  return {
    closeAfterResponses() {
      closing = true
    },
    closeWhenIdle() {
      for (const connection of connections) connection.closeWhenIdle()
    },
    announceShutdown() {
      for (const connection of connections) connection.announceShutdown()
      for (const socket of handedOver) socket.emit(SHUTDOWN_EVENT)
    },
    destroyBusy() {
      for (const connection of connections) connection.destroy()
      for (const socket of handedOver) if (isResponding(socket)) socket.resetAndDestroy()
    },
  }
}

/**
 * Before its request is read, a connection is that of its address: one that opens many waits for
 * itself.
 */
function addressOwner({ remoteAddress = '' }: Socket) {
  const address = networkPrefix(remoteAddress)
  return { account_id: address, key_id: address }
}

type ErrorCode = ConnectionErrorCode | 'method_not_allowed' | 'invalid_file'

/** What was sent in place of a request, and of the rest of an upload. */
const NOT_HTTP = ['malformed_request', 'What was sent is not an HTTP/1.1 request.'] as const
const TRUNCATED_UPLOAD = [
  'invalid_file',
  'The upload ends before its last byte. Send it again.',
] as const

function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
}

/** TABLE of what Node's reader complains of, in our words. */
const NODE_CLIENT_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The head of the request took too long.'],
}
