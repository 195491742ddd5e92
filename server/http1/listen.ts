// The HTTP server's sockets: opening them with a clear sentence when that fails, and closing them
// without cutting anyone off.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv6, type AddressInfo } from 'node:net'
import { Problem, SetupError, codeOf } from '../common/errors.ts'
import type { Caller } from './exchange.ts'
import { Addresses } from './address-limits.ts'
import { TOO_MANY } from './server-connection.ts'
import { openFront, frontTurns, type Front } from './connection-router.ts'
import { newId } from '../common/ids.ts'
import { linger } from './lingering-close.ts'
import type { Log } from '../common/log.ts'

/** Answers one request on Node's own objects. */
export type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** The two ways in. */
export interface Doors {
  /**
   * Takes every request that is for the proxy and begins a connection, or follows another one that
   * does; null where there is no proxy.
   */
  readonly proxy: ((caller: Caller) => void) | null
  /**
   * Takes all others, and whatever follows one on its connection; also what has no Host, or expects
   * what nobody knows, which Node itself would refuse without a word.
   */
  readonly rest: RawHandler
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

export interface Listening {
  readonly port: number
  /** Where a person on this machine reaches it. */
  readonly url: string
  /** Connections that were turned away because there were too many from one address. */
  turnedAway(): number
  /**
   * Stops accepting, waits for requests under way at most `bound` milliseconds, then cuts what is
   * left.
   */
  close(bound: number): Promise<void>
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
const EVERY_ADDRESS = new Set(['0.0.0.0', '::'])

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
const SOCKETS = process.platform === 'linux' ? 8 : 1

/** Listens. @throws SetupError where that is not possible */
export async function listen(
  { proxy, rest }: Doors,
  { host, port, headersTimeout, maxConnections, trustProxy, log, clock }: ListenOptions,
): Promise<Listening> {
  const servers: Server[] = []
  const callers = new Addresses(maxConnections, trustProxy)
  const bounded: RawHandler = (incoming, outgoing) => {
    const leave = callers.acceptIncoming(incoming)
    if (leave === null) return turnAway(incoming, outgoing, clock())
    if (leave !== undefined) outgoing.once('close', leave)
    rest(incoming, outgoing)
  }
  const fronts: Front[] = []
  const turns = frontTurns()
  const addresses = host === 'localhost' ? LOOPBACK : [host]
  let taken = port
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
      bounded,
    )
    // A caller may close its sending side behind its request (RFC 9112, section 9.6), and wait for
    // the answer.
    Object.assign(server, { httpAllowHalfOpen: true })
    server.on('checkContinue', bounded).on('checkExpectation', bounded)
    if (proxy !== null)
      fronts.push(
        openFront(
          server,
          proxy,
          { head: headersTimeout, keepAlive: KEEP_ALIVE_MS },
          log,
          clock,
          callers,
          turns,
        ),
      )
    await bind(server, address, taken, SOCKETS > 1)
    servers.push(server)
  }
  for (const address of addresses) {
    try {
      taken = await freePort(address, taken)
      for (let i = 0; i < SOCKETS; i++) await open(address)
    } catch (error) {
      // A machine without IPv6 has no ::1, and needs none.
      if (servers.length > 0 && codeOf(error) !== 'EADDRINUSE') continue
      await Promise.all(servers.map(closeNow))
      throw new SetupError(sentence(codeOf(error), host, taken), { cause: error })
    }
  }
  const shown = EVERY_ADDRESS.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return {
    port: taken,
    url: `http://${shown}:${taken}`,
    turnedAway: () => callers.refused,
    close: async (bound) => {
      const closed = Promise.all(servers.map(stop))
      for (const front of fronts) front.retire()
      const last = setTimeout(() => {
        for (const front of fronts) front.cut()
        for (const server of servers) server.closeAllConnections()
      }, bound)
      // A connection that was busy when `close` looked becomes idle later, and would be kept alive.
      const idle = setInterval(() => servers.forEach((server) => server.closeIdleConnections()), 50)
      await closed
      clearTimeout(last)
      clearInterval(idle)
    },
  }
}

/** Answers a request of an address that has too many under way. */
function turnAway(incoming: IncomingMessage, outgoing: ServerResponse, now: number): void {
  const id = newId('req', now)
  const problem = new Problem(...TOO_MANY, { retryAfter: 1 })
  const finish = linger(incoming, outgoing)
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

function closeNow(server: Server): Promise<void> {
  server.closeAllConnections()
  return stop(server)
}

function sentence(code: string | undefined, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use. Stop what uses it, or set PORT to another one.`
  if (code === 'EACCES')
    return `Port ${port} on ${host} may not be used by this user. Set PORT to one above 1023.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST "${host}" is no address of this machine. Set HOST to localhost, 0.0.0.0 or one of its addresses.`
  return `The server cannot listen on ${host}, port ${port} (${code ?? 'unknown reason'}).`
}
