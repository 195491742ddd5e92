// The connection pools: select the connection for a request, and keep idle ones for a while.
import type { CreateTurns, Turns } from '../turns.ts'
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
  /** Closes unused connections now, and every other one when its exchange ends. */
  close(): void
}

/**
 * Connections opened in one turn of the event loop. A TLS handshake costs about a millisecond of
 * CPU: a thousand at once, as in a burst of one key, would delay everything else by a second. The
 * number in progress is not limited, because a distant upstream may be slow.
 */
const CONNECTS_PER_TURN = 8
/**
 * Writes of pieces of buffered bodies, 256 KB at most, in one turn of the event loop: a write of 64
 * KB takes up to 50 microseconds.
 */
const WRITES_PER_TURN = 2
/**
 * Responses of which a piece is read in one turn of the event loop; beyond that, responses that
 * also had data in the turn before must wait for their turn. All that arrives meanwhile is read as
 * one piece: otherwise a thousand responses with an event each millisecond would take the whole
 * CPU.
 */
const READS_PER_TURN = 32
/**
 * Requests ended in one turn because their connection is lost, or they have timed out: resetting
 * the caller's connection and settling the row takes about 100 microseconds.
 */
const ENDS_PER_TURN = 8
/**
 * Connections handed over in one turn because they have switched protocols: starting a WebSocket
 * takes about 100 microseconds.
 */
const SWITCHES_PER_TURN = 8
/**
 * Connections closed in one turn because the upstream has closed or reset them, or they have been
 * unused for too long: closing one takes about 10 microseconds. Then the turns above end their
 * requests.
 */
const CLOSES_PER_TURN = 16
/** A pooled connection that has been idle for longer than this is checked before it is used. */
const STALE_AFTER_MS = 250
/**
 * Subtracted from the upstream's own keep-alive time, because its FIN may already be on the way.
 */
const KEEP_ALIVE_MARGIN_MS = 1_000
/** How often idle connections are checked for their age. */
const IDLE_SWEEP_MS = 500

/**
 * Creates a client: HTTP/1.1, one request per connection at a time; it follows no redirects, and
 * neither decodes nor buffers bodies.
 *
 * @param now a monotonic clock in milliseconds
 * @param turns creates the turns in which connections are opened, and bodies written and read
 */
export function createHttpClient(
  limits: ClientLimits,
  now: () => number,
  turns: CreateTurns,
): HttpClient {
  return new PooledClient(limits, now, turns)
}

class PooledClient implements HttpClient, ConnectionPool {
  readonly reads: Turns
  readonly ends: Turns
  readonly switches: Turns
  readonly #limits: ClientLimits
  readonly #now: () => number
  readonly #connects: Turns
  readonly #writes: Turns
  readonly #closes: Turns
  /** Unused connections by destination, the most recently used last. */
  readonly #idle = new Map<Destination, ClientConnection[]>()
  // Connections, not requests: a set that changes with every request would keep their garbage alive
  // when its table is copied.
  readonly #live = new Set<ClientConnection>()
  #closed = false
  /** Set while there are connections: one timer for all limits. */
  #sweeper: NodeJS.Timeout | null = null
  #lastIdleSweep = 0

  constructor(limits: ClientLimits, now: () => number, turns: CreateTurns) {
    this.#limits = limits
    this.#now = now
    this.#connects = turns(CONNECTS_PER_TURN)
    this.#writes = turns(WRITES_PER_TURN)
    this.#closes = turns(CLOSES_PER_TURN)
    this.reads = turns(READS_PER_TURN)
    this.ends = turns(ENDS_PER_TURN)
    this.switches = turns(SWITCHES_PER_TURN)
  }

  send(request: OutboundRequest, handler: ResponseHandler): PendingRequest {
    // After a stall of this process, timers run before what has arrived meanwhile is read.
    const sweepRead = (): void => void setImmediate((at) => this.#sweep(at), this.#now())
    this.#sweeper ??= setInterval(sweepRead, sweepPeriod(this.#limits)).unref()
    return new ClientExchange(request, handler, this.#limits, this)
  }

  close(): void {
    this.#closed = true
    for (const idle of this.#idle.values())
      for (const connection of idle.splice(0)) connection.destroy()
    this.#stopSweeping()
  }

  open(
    { destination, owner = INTERNAL_OWNER }: OutboundRequest,
    use: (open: () => ClientConnection) => void,
  ): void {
    this.#connects.schedule(owner, () => use(() => this.#connect(destination)))
  }

  write({ owner = INTERNAL_OWNER }: OutboundRequest, pieces: () => void): void {
    this.#writes.schedule(owner, pieces)
  }

  /** The most recently used connection, which is the likeliest to be alive. */
  acquire(destination: Destination): ClientConnection | null {
    const idle = this.#idle.get(destination) ?? []
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.usable && !this.#isExpired(connection, this.#now())) return connection
      this.#close(connection)
    }
    return null
  }

  release(destination: Destination, connection: ClientConnection): void {
    let idle = this.#idle.get(destination)
    if (!idle) this.#idle.set(destination, (idle = []))
    if (this.#closed || idle.length >= this.#limits.maxIdlePerDestination)
      return connection.destroy()
    connection.idleSince = this.#now()
    idle.push(connection)
  }

  isStale(connection: ClientConnection): boolean {
    return this.#now() - connection.idleSince > STALE_AFTER_MS
  }

  #connect(destination: Destination): ClientConnection {
    const connection = new ClientConnection(destination, this.#closes, (lost) => {
      this.#live.delete(lost)
      const idle = this.#idle.get(destination) ?? []
      const at = idle.indexOf(lost)
      if (at >= 0) idle.splice(at, 1)
    })
    this.#live.add(connection)
    return connection
  }

  /** Whether a connection has been idle for longer than the upstream, or we, keep one. */
  #isExpired(connection: ClientConnection, at: number): boolean {
    const announced = connection.parser.keepAliveSeconds
    const keepAlive =
      announced === null
        ? this.#limits.keepAlive
        : Math.max(0, announced * 1000 - KEEP_ALIVE_MARGIN_MS)
    return at - connection.idleSince > keepAlive
  }

  #sweep(at: number): void {
    for (const connection of this.#live) connection.checkTimeout(at)
    if (at - this.#lastIdleSweep > IDLE_SWEEP_MS) this.#sweepIdle(at)
    if (this.#live.size === 0) this.#stopSweeping()
  }

  #sweepIdle(at: number): void {
    this.#lastIdleSweep = at
    for (const idle of this.#idle.values()) {
      for (const connection of idle.filter((one) => this.#isExpired(one, at))) {
        idle.splice(idle.indexOf(connection), 1)
        this.#close(connection)
      }
    }
  }

  #close(connection: ClientConnection): void {
    this.#closes.schedule(INTERNAL_OWNER, () => connection.destroy())
  }

  #stopSweeping(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper)
    this.#sweeper = null
  }
}

/** How often limits are checked (milliseconds): a few times within the shortest. */
function sweepPeriod({ connect, firstByte, idle }: ClientLimits): number {
  return Math.min(1_000, Math.max(10, Math.min(connect, firstByte, idle) / 8))
}
