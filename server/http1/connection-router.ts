// Who serves a connection: our own reader as long as its requests are for the proxy, Node's server
// from the first other request on.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../common/client-info.ts'
import { throwAway } from './slow-reads.ts'
import { ERRORS, Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { Log } from '../common/log.ts'
import type { Caller } from './exchange.ts'
import { Addresses } from './address-limits.ts'
import { LoopTurns } from './loop-turns.ts'
import {
  Connection,
  TOO_MANY,
  type CallerLimits,
  type House,
  type RefusalCode,
} from './server-connection.ts'

export interface Front {
  /** Closes connections that are not in use, now, and every other with its next answer. */
  retire(): void
  /**
   * Cuts off all connections that Node's server has not taken, and of those that it has the ones
   * that are in the middle of an answer.
   */
  cut(): void
}

/**
 * Pieces of bodies, of 64 KB each, that are read in one turn of the event loop: to read one takes
 * about 40 microseconds.
 */
const READS_A_TURN = 8
/** Connections that Node's server gets in one turn, and reads the first head of. */
const HAND_OVERS_A_TURN = 4
/**
 * Connections that are turned away in one turn: to write why, and to log it, takes about 50
 * microseconds.
 */
const TURNED_AWAY_A_TURN = 16
/** How long a connection that was turned away may take to read why. */
const TURN_AWAY_MS = 1_000
/** How often it is looked whether a connection has waited too long. */
const LOOK_MS = 1_000

/** What is done a few times in a turn of the event loop. */
export interface FrontTurns {
  /** Large pieces of bodies are read. */
  readonly reads: LoopTurns
  /** Node's server gets connections. */
  readonly handOvers: LoopTurns
  /** Connections are turned away. */
  readonly turnedAway: LoopTurns
}

export function frontTurns(): FrontTurns {
  return {
    reads: new LoopTurns(READS_A_TURN),
    handOvers: new LoopTurns(HAND_OVERS_A_TURN),
    turnedAway: new LoopTurns(TURNED_AWAY_A_TURN),
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
export function openFront(
  server: Server,
  handle: (caller: Caller) => void,
  limits: CallerLimits,
  log: Log,
  now: () => number,
  addresses = new Addresses(0, false),
  turns = frontTurns(),
): Front {
  const connections = new Set<Connection>()
  const handedOver = new Set<Socket>()
  const serve = server.listeners('connection')
  let closing = false

  const refusal = (code: Refusal, message: string, ofProxy = false): Buffer => {
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
  const house: House = {
    handle,
    refusal: (code, message) => refusal(code, message, true),
    limits,
    addresses,
    reads: turns.reads,
    keep: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(limits.keepAlive / 1000)}\r\n\r\n`,
    left: (connection) => connections.delete(connection),
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
      turns.handOvers.take(ownerOf(socket), () => {
        if (socket.destroyed) return
        for (const listener of serve) listener.call(server, socket)
        process.nextTick(() => socket.resume())
      })
    },
  }
  server.keepAliveTimeout = limits.keepAlive
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (addresses.acceptConnection(socket)) connections.add(new Connection(socket, house))
    else {
      socket.on('error', () => {})
      turns.turnedAway.take(ownerOf(socket), () => turnAway(socket))
    }
  })
  // The request is on its way already: closed at once, the connection would be reset, and the
  // answer lost with it.
  const turnAway = (socket: Socket): void => {
    if (socket.destroyed) return
    throwAway(socket, socket.remoteAddress ?? '', Infinity, () => {})
    socket.end(refusal(...TOO_MANY))
    setTimeout(() => socket.destroy(), TURN_AWAY_MS).unref()
  }
  const answering = new WeakMap<Socket, ServerResponse>()
  const note = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    void answering.set(incoming.socket, outgoing)
  server
    .prependListener('request', note)
    .prependListener('checkContinue', note)
    .prependListener('checkExpectation', note)
  const isAnswered = (socket: Socket): boolean => {
    const answer = answering.get(socket)
    return answer?.headersSent === true && !answer.writableFinished
  }
  const refuse = (socket: Socket, code: Refusal, message: string): void => {
    // In the middle of an answer nothing else may be said.
    if (socket.destroyed || !socket.writable || isAnswered(socket)) return void socket.destroy()
    socket.end(refusal(code, message), () => socket.destroy())
  }
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    const request = answering.get(socket)?.req
    const isCutOff =
      error.code === 'HPE_INVALID_EOF_STATE' && request?.complete === false && isForm(request)
    refuse(socket, ...(isCutOff ? CUT_OFF : (NODES_ERRORS[error.code ?? ''] ?? NO_REQUEST)))
  })
  // Without a listener Node's server says nothing at all; with one it leaves the socket, and its
  // errors, to us.
  server.on('connect', (_: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {}).resume()
    refuse(socket, 'method_not_allowed', 'This server opens no tunnels.')
  })
  const timer = setInterval(
    () => {
      const at = performance.now()
      for (const connection of connections) connection.check(at)
    },
    Math.min(LOOK_MS, limits.head / 2, limits.keepAlive / 2),
  ).unref()
  server.on('close', () => clearInterval(timer))

  return {
    retire() {
      closing = true
      for (const connection of connections) connection.retire()
    },
    cut() {
      for (const connection of connections) connection.cut()
      for (const socket of handedOver) if (isAnswered(socket)) socket.resetAndDestroy()
    },
  }
}

/**
 * Before its request is read, a connection is that of its address: one that opens many waits for
 * itself.
 */
function ownerOf({ remoteAddress = '' }: Socket) {
  const address = networkOf(remoteAddress)
  return { account_id: address, key_id: address }
}

type Refusal = RefusalCode | 'method_not_allowed' | 'invalid_file'

/** What was sent in place of a request, and of the rest of an upload. */
const NO_REQUEST = ['malformed_request', 'What was sent is not an HTTP/1.1 request.'] as const
const CUT_OFF = ['invalid_file', 'The upload ends before its last byte. Send it again.'] as const

function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
}

/** TABLE of what Node's reader complains of, in our words. */
const NODES_ERRORS: Readonly<Record<string, readonly [Refusal, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The head of the request took too long.'],
}
