// The HTTP server: opening it, and closing it without cutting anyone off.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { AddressLimiter } from './address-limits.ts'
import { TOO_MANY_CONNECTIONS, type ConnectionErrors, type ErrorBody } from './connection-errors.ts'
import { ConnectionRouter, createRouterTurns, type RouterOptions } from './connection-router.ts'
import { lingeringClose } from './lingering-close.ts'
import { bind, freePort, SOCKETS_PER_PORT, stop, stopAccepting } from './listening-sockets.ts'
import type { CreateTurns, RouterTurns } from './turns.ts'

/** Handles one request with Node's own objects. */
export type NodeRequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** The handlers of requests. */
export interface RequestListeners {
  /**
   * Handles every request for `path`, or a path below it, that is the first on its connection or
   * follows another such request; null: there is no such path.
   */
  readonly direct: Pick<RouterOptions, 'path' | 'handle'> | null
  /**
   * Handles all other requests, and everything after one on its connection, including requests
   * without Host or with an unknown expectation, which Node would reject without a response body.
   */
  readonly other: NodeRequestListener
}

/** Options of a listening server. */
export interface ListenOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** Milliseconds that a caller may take to send the head of a request. */
  readonly headersTimeout: number
  /** Maximum number of concurrent connections of one address; 0: no limit. */
  readonly maxConnections: number
  /** Whether a trusted reverse proxy is in front. */
  readonly trustProxy: boolean
  readonly errors: ConnectionErrors
  /** Creates the turns in which connections and bodies are read. */
  readonly turns: CreateTurns
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** A server that listens. */
export interface RunningServer {
  readonly port: number
  /** The address to show to a person on this machine. */
  readonly url: string
  /** Connections that were rejected because there were too many from one address. */
  rejectedConnections(): number
  /** Passes every further request to other listeners, which have the same direct path. */
  switchTo(listeners: RequestListeners): void
  /**
   * Stops accepting, closes each connection after its next response (`Connection: close`), and lets
   * requests in progress end within bounds.
   */
  close(options: CloseOptions): Promise<void>
}

/** Options of closing a server. */
export interface CloseOptions {
  /** Milliseconds that requests in progress may take; then their connections are destroyed. */
  readonly graceMs: number
  /**
   * Milliseconds after which a connection that is not used is closed; until then it serves one more
   * request. Longer than a balancer keeps its idle connections, or a request may arrive while its
   * connection is closed. Default 0.
   */
  readonly idleMs?: number
  /** Destroys the connections immediately. */
  readonly force?: AbortSignal
}

/** `localhost` means both addresses, because some programs try only one family. */
const LOOPBACK = ['127.0.0.1', '::1']
const ownAddresses = new BlockList()
ownAddresses.addSubnet('127.0.0.0', 8)
ownAddresses.addAddress('::1', 'ipv6')

/** Whether only this machine can reach a server at this address. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    (isIP(host) !== 0 && ownAddresses.check(host, isIPv6(host) ? 'ipv6' : 'ipv4'))
  )
}

/**
 * Addresses that mean all interfaces. They cannot be opened in a browser, so `localhost` is shown
 * instead.
 */
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::'])

/**
 * How long a connection may wait for its next request: longer than the 60 s for which balancers
 * keep theirs, so that they close first.
 */
const KEEP_ALIVE_MS = 75_000

/** Time to send a response that the shutdown interrupted or replaced (milliseconds). */
const LAST_RESPONSE_MS = 100
/** A turn of the event loop in which nothing else happened takes less (milliseconds). */
const QUIET_TURN_MS = 0.1
/**
 * After this time, the listening sockets of a busy server are closed anyway (milliseconds): the
 * process may have three seconds left.
 */
const MAX_BUSY_MS = 1_000

/** Why an address cannot be listened on. */
export class ListenError extends Error {
  /** Node's code, such as `EADDRINUSE`. */
  readonly code: string | undefined
  readonly host: string
  readonly port: number

  constructor(cause: unknown, host: string, port: number) {
    super(`cannot listen on ${host}, port ${port}`, { cause })
    this.code = codeOf(cause)
    this.host = host
    this.port = port
  }
}

/** Listens. @throws ListenError */
export async function listen(
  listeners: RequestListeners,
  options: ListenOptions,
): Promise<RunningServer> {
  const { host, port } = options
  const listener = new Listener(listeners, options)
  let boundPort = port
  for (const address of host === 'localhost' ? LOOPBACK : [host]) {
    try {
      boundPort = await freePort(address, boundPort)
      for (let i = 0; i < SOCKETS_PER_PORT; i++) await listener.open(address, boundPort)
    } catch (error) {
      // A machine without IPv6 has no ::1, and needs none.
      if (listener.isOpen && codeOf(error) !== 'EADDRINUSE') continue
      await listener.closeNow()
      throw new ListenError(error, host, boundPort)
    }
  }
  const shown = WILDCARD_ADDRESSES.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return {
    port: boundPort,
    url: `http://${shown}:${boundPort}`,
    rejectedConnections: () => listener.rejectedConnections,
    switchTo: (to) => listener.switchTo(to),
    close: (how) => listener.close(how),
  }
}

/** The sockets of one server, with their shared state. */
class Listener {
  #listeners: RequestListeners
  readonly #options: ListenOptions
  readonly #addresses: AddressLimiter
  readonly #turns: RouterTurns
  readonly #servers: Server[] = []
  readonly #routers: ConnectionRouter[] = []
  /** Responses of Node's server in progress. */
  readonly #responses = new Set<ServerResponse>()
  /** Whether each connection is closed after its next response. */
  #isClosing = false
  /** Connections accepted so far. */
  #accepted = 0

  constructor(listeners: RequestListeners, options: ListenOptions) {
    const { maxConnections, trustProxy, turns } = options
    this.#listeners = listeners
    this.#options = options
    this.#addresses = new AddressLimiter(maxConnections, trustProxy)
    this.#turns = createRouterTurns(turns)
  }

  get isOpen(): boolean {
    return this.#servers.length > 0
  }

  get rejectedConnections(): number {
    return this.#addresses.rejected
  }

  switchTo(listeners: RequestListeners): void {
    this.#listeners = listeners
    if (listeners.direct !== null)
      for (const router of this.#routers) router.handle = listeners.direct.handle
  }

  /** Opens one more socket on an address. */
  async open(address: string, port: number): Promise<void> {
    const { headersTimeout, errors, clock } = this.#options
    const { direct } = this.#listeners
    const take: NodeRequestListener = (incoming, outgoing) => this.#take(incoming, outgoing)
    let router: ConnectionRouter | null = null
    // A body may take longer than any fixed time (uploads, streams); each reader has its own idle
    // timeout.
    const server = createServer(
      {
        headersTimeout,
        requestTimeout: 0,
        connectionsCheckingInterval: 1000,
        requireHostHeader: false,
        shouldUpgradeCallback: (incoming) => router?.mayUpgrade(incoming) === true,
      },
      take,
    )
    // A caller may close its sending side after its request (RFC 9112, section 9.6) and wait for
    // the response.
    Object.assign(server, { httpAllowHalfOpen: true })
    server.on('checkContinue', take).on('checkExpectation', take)
    if (direct !== null) {
      router = new ConnectionRouter(server, {
        ...direct,
        timeouts: { head: headersTimeout, keepAlive: KEEP_ALIVE_MS },
        errors,
        now: clock,
        addresses: this.#addresses,
        turns: this.#turns,
      })
      this.#routers.push(router)
    }
    server.on('connection', () => this.#accepted++)
    await bind(server, address, port, SOCKETS_PER_PORT > 1)
    this.#servers.push(server)
  }

  async close({ graceMs, idleMs = 0, force }: CloseOptions): Promise<void> {
    const closed: Promise<void>[] = []
    const latest = performance.now() + MAX_BUSY_MS
    for (const server of this.#servers) {
      if (server.listening) await this.#quietTurn(latest)
      closed.push(stopAccepting(server))
    }
    this.#closeAfterResponses(idleMs)
    const destroy = (): void => this.#destroySoon()
    const destroyTimer = setTimeout(destroy, graceMs)
    force?.addEventListener('abort', destroy)
    if (force?.aborted === true) destroy()
    await Promise.all(closed)
    clearTimeout(destroyTimer)
    force?.removeEventListener('abort', destroy)
    // Called last, because it also closes idle connections and stops the checks of header timeouts.
    for (const server of this.#servers) server.close()
  }

  /** Destroys all connections. */
  async closeNow(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        server.closeAllConnections()
        return stop(server)
      }),
    )
  }

  /** Handles a request of Node's server, unless its address has too many in progress. */
  #take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const leave = this.#addresses.acceptIncoming(incoming)
    if (leave === null)
      return rejectRequest(
        incoming,
        outgoing,
        this.#options.errors.ofRequest(...TOO_MANY_CONNECTIONS),
      )
    if (leave !== undefined) outgoing.once('close', leave)
    if (this.#isClosing) outgoing.shouldKeepAlive = false
    else {
      this.#responses.add(outgoing)
      outgoing.once('close', () => this.#responses.delete(outgoing))
    }
    this.#listeners.other(incoming, outgoing)
  }

  #destroySoon(): void {
    for (const router of this.#routers) router.announceShutdown()
    setTimeout(() => {
      for (const router of this.#routers) router.destroyBusy()
      for (const server of this.#servers) server.closeAllConnections()
    }, LAST_RESPONSE_MS)
  }

  /**
   * Resolves right after the event loop has polled its sockets and found nothing, or at `latest`.
   * The kernel resets connections that wait to be accepted when their socket is closed, so it must
   * be closed before the next one arrives.
   */
  async #quietTurn(latest: number): Promise<void> {
    for (let start = 0; start < latest;) {
      start = performance.now()
      const accepted = this.#accepted
      await new Promise((resolve) => setImmediate(resolve))
      if (accepted === this.#accepted && performance.now() - start < QUIET_TURN_MS) return
    }
  }

  #closeAfterResponses(idleMs: number): void {
    this.#isClosing = true
    for (const router of this.#routers) router.closeAfterResponses(idleMs)
    // Without a direct path, no caller depends on an idle connection.
    if (this.#routers.length === 0)
      for (const server of this.#servers) {
        server.keepAliveTimeout = 1
        server.closeIdleConnections()
      }
    for (const response of this.#responses)
      if (!response.headersSent) response.shouldKeepAlive = false
    this.#responses.clear()
  }
}

/** Responds to a request, and drains its body for a while. */
function rejectRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers, body }: ErrorBody,
): void {
  const finish = lingeringClose(incoming, outgoing)
  outgoing.writeHead(status, headers).end(body)
  finish()
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}
