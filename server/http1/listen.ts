// The HTTP server's sockets: opening them with a clear sentence when that fails, and closing them
// without cutting anyone off.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv6, Server as NetServer, type AddressInfo } from 'node:net'
import { Problem, SetupError, codeOf } from '../common/errors.ts'
import type { HttpExchange } from './exchange.ts'
import { AddressLimiter } from './address-limits.ts'
import { TOO_MANY_CONNECTIONS } from './server-connection.ts'
import {
  openConnectionRouter,
  createRouterBudgets,
  type ConnectionRouter,
} from './connection-router.ts'
import { newId } from '../common/ids.ts'
import { lingeringClose } from './lingering-close.ts'
import type { Log } from '../common/log.ts'

/** Answers one request on Node's own objects. */
export type NodeRequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** The two ways in. */
export interface RequestListeners {
  /**
   * Takes every request that is for the proxy and begins a connection, or follows another one that
   * does; null where there is no proxy.
   */
  readonly proxy: ((caller: HttpExchange) => void) | null
  /**
   * Takes all others, and whatever follows one on its connection; also what has no Host, or expects
   * what nobody knows, which Node itself would refuse without a word.
   */
  readonly other: NodeRequestListener
}

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** Milliseconds that a caller may take to send the head of a request. */
  readonly headersTimeout: number
  /** Connections of one address at once; 0: any number. */
  readonly maxConnections: number
  /** Whether a reverse proxy stands in front that names its callers. */
  readonly trustProxy: boolean
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

export interface RunningServer {
  readonly port: number
  /** Where a person on this machine reaches it. */
  readonly url: string
  /** Connections that were turned away because there were too many from one address. */
  rejectedConnections(): number
  /**
   * Goes on accepting, but closes each connection after its next response (`Connection: close`), so
   * that clients and balancers open their next one elsewhere.
   */
  closeAfterResponses(): void
  /** Stops accepting, lets requests in progress end within bounds, and closes all connections. */
  close(options: CloseOptions): Promise<void>
}

export interface CloseOptions {
  /** Milliseconds that requests in progress may take; then their connections are destroyed. */
  readonly graceMs: number
  /**
   * Milliseconds for which idle connections still serve one request. A balancer that only notices
   * refused connections may be using one now; default 0.
   */
  readonly idleMs?: number
  /** Destroys the connections at once. */
  readonly force?: AbortSignal
}

/** `localhost` means both: some programs try one family only. */
const LOOPBACK = ['127.0.0.1', '::1']
const ownAddresses = new BlockList()
ownAddresses.addSubnet('127.0.0.0', 8)
ownAddresses.addAddress('::1', 'ipv6')

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    (isIP(host) !== 0 && ownAddresses.check(host, isIPv6(host) ? 'ipv6' : 'ipv4'))
  )
}

/**
 * What listens on all addresses of the machine is no address to go to; from the machine itself this
 * one is.
 */
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::'])

/**
 * How long a connection may wait for its next request: longer than the 60 s for which balancers
 * keep theirs, so that they close first.
 */
const KEEP_ALIVE_MS = 75_000

/**
 * Connections that may wait to be accepted; the system may lower it (net.core.somaxconn). Of what
 * comes beyond, callers hear nothing and try again after a second: with Node's own 511, a burst of
 * callers is neither answered nor refused for that long.
 */
const BACKLOG = 4096

/**
 * Sockets that listen on one port. Of each, Node takes in one connection in a turn of its loop
 * (libuv 1.52), so with a single one a burst of callers stands in front of a busy server for as
 * many turns. Only Linux shares connections out to sockets of one port.
 */
const SOCKETS_PER_PORT = process.platform === 'linux' ? 8 : 1

/** What an answer that was cut off by the shutdown, or refused for it, may take to go out. */
const LAST_ANSWER_MS = 100
/** How often connections that have become idle are closed at the end (milliseconds). */
const IDLE_CHECK_MS = 50

/** Listens. @throws SetupError where that is not possible */
export async function listen(
  { proxy, other }: RequestListeners,
  { host, port, headersTimeout, maxConnections, trustProxy, log, clock }: ListenOptions,
): Promise<RunningServer> {
  const servers: Server[] = []
  const responses = new Set<ServerResponse>()
  let lastResponses = false
  const addressLimiter = new AddressLimiter(maxConnections, trustProxy)
  const limited: NodeRequestListener = (incoming, outgoing) => {
    const leave = addressLimiter.acceptIncoming(incoming)
    if (leave === null) return rejectRequest(incoming, outgoing, clock())
    if (leave !== undefined) outgoing.once('close', leave)
    if (lastResponses) outgoing.shouldKeepAlive = false
    else {
      responses.add(outgoing)
      outgoing.once('close', () => responses.delete(outgoing))
    }
    other(incoming, outgoing)
  }
  const routers: ConnectionRouter[] = []
  const turns = createRouterBudgets()
  const addresses = host === 'localhost' ? LOOPBACK : [host]
  let boundPort = port
  const open = async (address: string): Promise<void> => {
    // A body may take longer than any fixed time (uploads, streams); each reader bounds its own
    // silence.
    const server = createServer(
      {
        headersTimeout,
        requestTimeout: 0,
        connectionsCheckingInterval: 1000,
        requireHostHeader: false,
      },
      limited,
    )
    // A caller may close its sending side behind its request (RFC 9112, section 9.6), and wait for
    // the answer.
    Object.assign(server, { httpAllowHalfOpen: true })
    server.on('checkContinue', limited).on('checkExpectation', limited)
    if (proxy !== null)
      routers.push(
        openConnectionRouter(
          server,
          proxy,
          { head: headersTimeout, keepAlive: KEEP_ALIVE_MS },
          log,
          clock,
          addressLimiter,
          turns,
        ),
      )
    await bind(server, address, boundPort, SOCKETS_PER_PORT > 1)
    servers.push(server)
  }
  for (const address of addresses) {
    try {
      boundPort = await freePort(address, boundPort)
      for (let i = 0; i < SOCKETS_PER_PORT; i++) await open(address)
    } catch (error) {
      // A machine without IPv6 has no ::1, and needs none.
      if (servers.length > 0 && codeOf(error) !== 'EADDRINUSE') continue
      await Promise.all(servers.map(closeNow))
      throw new SetupError(bindErrorMessage(codeOf(error), host, boundPort), { cause: error })
    }
  }
  const closeAfterResponses = (): void => {
    lastResponses = true
    for (const router of routers) router.closeAfterResponses()
    for (const response of responses) if (!response.headersSent) response.shouldKeepAlive = false
    responses.clear()
  }
  const shown = WILDCARD_ADDRESSES.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return {
    port: boundPort,
    url: `http://${shown}:${boundPort}`,
    rejectedConnections: () => addressLimiter.rejected,
    closeAfterResponses,
    close: async ({ graceMs, idleMs = 0, force }) => {
      closeAfterResponses()
      const closed = Promise.all(servers.map(stopAccepting))
      const destroyNow = (): void => {
        for (const router of routers) router.destroyBusy()
        for (const server of servers) server.closeAllConnections()
      }
      const destroy = (): void => {
        for (const router of routers) router.announceShutdown()
        setTimeout(destroyNow, LAST_ANSWER_MS)
      }
      const closeIdle = (): void => {
        for (const router of routers) router.closeWhenIdle()
        for (const server of servers) server.closeIdleConnections()
      }
      const destroyTimer = setTimeout(destroy, graceMs)
      force?.addEventListener('abort', destroy)
      if (force?.aborted === true) destroy()
      // A connection that is busy now becomes idle later, and would be kept alive.
      let idleTimer: NodeJS.Timeout | undefined
      const idleStart = setTimeout(() => {
        closeIdle()
        idleTimer = setInterval(closeIdle, IDLE_CHECK_MS)
      }, idleMs)
      await closed
      clearTimeout(destroyTimer)
      clearTimeout(idleStart)
      clearInterval(idleTimer)
      force?.removeEventListener('abort', destroy)
      // Only now: this also closes idle connections, and stops the checks of header timeouts.
      for (const server of servers) server.close()
    },
  }
}

/** Answers a request of an address that has too many under way. */
function rejectRequest(incoming: IncomingMessage, outgoing: ServerResponse, now: number): void {
  const id = newId('req', now)
  const problem = new Problem(...TOO_MANY_CONNECTIONS, { retryAfter: 1 })
  const finish = lingeringClose(incoming, outgoing)
  outgoing
    .writeHead(problem.status, { ...problem.headers(), 'x-request-id': id })
    .end(JSON.stringify(problem.body(id)))
  finish()
}

/**
 * The port, or any where it is 0. A socket that shares its port would also share it with another
 * server: so one that does not asks first.
 */
async function freePort(address: string, port: number): Promise<number> {
  const server = createServer()
  await bind(server, address, port, false)
  const { port: free } = server.address() as AddressInfo
  await stop(server)
  return free
}

function bind(server: Server, address: string, port: number, reusePort: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host: address, backlog: BACKLOG, reusePort }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

/**
 * Closes the listening socket only; resolves when its last connection is closed. `Server.close` of
 * node:http would also close idle connections.
 */
function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
}

function closeNow(server: Server): Promise<void> {
  server.closeAllConnections()
  return stop(server)
}

function bindErrorMessage(code: string | undefined, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use. Stop what uses it, or set PORT to another one.`
  if (code === 'EACCES')
    return `Port ${port} on ${host} may not be used by this user. Set PORT to one above 1023.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST "${host}" is no address of this machine. Set HOST to localhost, 0.0.0.0 or one of its addresses.`
  return `The server cannot listen on ${host}, port ${port} (${code ?? 'unknown reason'}).`
}
