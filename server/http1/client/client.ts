// The pools: which connection a request goes out on, and how long an unused one is kept.
import { TurnBudget } from '../../common/fairness/turn-budget.ts'
import { ClientConnection } from './connection.ts'
import type { Destination } from './destination.ts'
import {
  ClientExchange,
  type ConnectionPool,
  type ResponseHandler,
  type PendingRequest,
  type ClientLimits,
} from './exchange.ts'
import { INTERNAL_OWNER, type OutboundRequest } from './request-writer.ts'

export {
  UpstreamError,
  type ResponseHandler,
  type PendingRequest,
  type ClientLimits,
} from './exchange.ts'
export type { OutboundRequest } from './request-writer.ts'
export { destinationOf, PrivateAddressError, type Destination } from './destination.ts'

/** Sends requests to upstreams. */
export type HttpClient = {
  send(request: OutboundRequest, handler: ResponseHandler): PendingRequest
  /** Closes the unused connections now and every other when its call ends. */
  close(): void
}

/**
 * Connections that are begun in one turn of the event loop. A TLS handshake costs about a
 * millisecond of our processor: a thousand at once, which is what a burst of one key asks for,
 * would hold up everything else for a second. How many are under way is not limited: an upstream
 * that is far away takes its time.
 */
const CONNECTS_PER_TURN = 8
/**
 * Times that pieces of a body which is held, 256 KB at most, are written in one turn of the event
 * loop: a write of 64 KB takes up to 50 microseconds.
 */
const WRITES_PER_TURN = 2
/**
 * Answers of which a piece is read in one turn of the event loop before those that come again and
 * again wait for their turn. What has come for one meanwhile is read as one piece: a thousand
 * answers with an event each millisecond would otherwise take all of the processor.
 */
const READS_PER_TURN = 32
/**
 * A pooled connection that has rested longer than this is looked at once more before it is trusted.
 */
const STALE_AFTER_MS = 250
/** The upstream's own keep-alive time less this: its FIN may be on the way already. */
const KEEP_ALIVE_MARGIN_MS = 1_000
/** How often it is looked for connections that have rested too long. */
const IDLE_SWEEP_MS = 500

/**
 * The only outbound sockets of the proxy: HTTP/1.1, bytes as they are, one request per connection
 * at a time, no redirect followed, nothing decoded, nothing buffered. `now` is a monotonic clock in
 * milliseconds.
 */
export function createHttpClient(limits: ClientLimits, now: () => number): HttpClient {
  const pools = new Map<Destination, ClientConnection[]>()
  // Not the requests: a set that changes with each of them would keep their garbage alive from one
  // of its tables to the next.
  const live = new Set<ClientConnection>()
  const connects = new TurnBudget(CONNECTS_PER_TURN)
  const writes = new TurnBudget(WRITES_PER_TURN)
  const reads = new TurnBudget(READS_PER_TURN)
  const pool: ConnectionPool = {
    open: ({ destination, owner = INTERNAL_OWNER }, use) =>
      connects.schedule(owner, () => use(() => open(destination))),
    write: ({ owner = INTERNAL_OWNER }, pieces) => writes.schedule(owner, pieces),
    reads,
    acquire,
    release,
    isStale: (connection) => now() - connection.idleSince > STALE_AFTER_MS,
  }
  const period = Math.min(
    1_000,
    Math.max(10, Math.min(limits.connect, limits.firstByte, limits.idle) / 8),
  )
  let closed = false

  function remove(destination: Destination, connection: ClientConnection) {
    live.delete(connection)
    const pool = pools.get(destination)
    const at = pool?.indexOf(connection) ?? -1
    if (at >= 0) pool!.splice(at, 1)
  }

  function open(destination: Destination): ClientConnection {
    const connection = new ClientConnection(destination, (lost) => remove(destination, lost))
    live.add(connection)
    return connection
  }

  /** The connection used last is the one that most surely still lives. */
  function acquire(destination: Destination): ClientConnection | null {
    const pool = pools.get(destination) ?? []
    for (let connection = pool.pop(); connection !== undefined; connection = pool.pop()) {
      if (connection.usable && now() - connection.idleSince <= keepAliveMs(connection))
        return connection
      connection.destroy()
    }
    return null
  }

  function release(destination: Destination, connection: ClientConnection) {
    let pool = pools.get(destination)
    if (!pool) pools.set(destination, (pool = []))
    if (closed || pool.length >= limits.maxIdlePerDestination) return connection.destroy()
    connection.idleSince = now()
    pool.push(connection)
  }

  /** How long the upstream lets this connection rest. */
  function keepAliveMs(connection: ClientConnection): number {
    const said = connection.parser.keepAliveSeconds
    return said === null ? limits.keepAlive : Math.max(0, said * 1000 - KEEP_ALIVE_MARGIN_MS)
  }

  let sweeper: NodeJS.Timeout | null = null
  let lastIdleSweep = 0

  /** One timer for all limits: looked at a few times within the shortest of them. */
  function sweep() {
    const at = now()
    for (const connection of live) connection.checkTimeout(at)
    if (at - lastIdleSweep > IDLE_SWEEP_MS) sweepIdle(at)
    if (live.size > 0) return
    clearInterval(sweeper!)
    sweeper = null
  }

  function sweepIdle(at: number) {
    lastIdleSweep = at
    for (const pool of pools.values()) {
      for (const connection of pool.filter((one) => at - one.idleSince > keepAliveMs(one))) {
        pool.splice(pool.indexOf(connection), 1)
        connection.destroy()
      }
    }
  }

  return {
    send(request, handler) {
      sweeper ??= setInterval(sweep, period).unref()
      return new ClientExchange(request, handler, limits, pool)
    },
    close() {
      closed = true
      for (const pool of pools.values())
        for (const connection of pool.splice(0)) connection.destroy()
      if (sweeper !== null) clearInterval(sweeper)
      sweeper = null
    },
  }
}
