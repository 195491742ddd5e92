// The pools: which connection a request goes out on, and how long an unused one is kept.
import { LoopTurns } from '../loop-turns.ts'
import { Connection } from './connection.ts'
import type { Dial } from './dial.ts'
import {
  Exchange,
  type Connections,
  type Incoming,
  type UpstreamCall,
  type UpstreamLimits,
} from './exchange.ts'
import { OURSELVES, type Outgoing } from './request-writer.ts'

export { UpstreamError, type Incoming, type UpstreamCall, type UpstreamLimits } from './exchange.ts'
export type { Outgoing } from './request-writer.ts'
export { dialOf, PrivateAddressError, type Dial } from './dial.ts'

/** Sends requests to upstreams. */
export type Sender = {
  send(request: Outgoing, incoming: Incoming): UpstreamCall
  /** Closes the unused connections now and every other when its call ends. */
  close(): void
}

/**
 * Connections that are begun in one turn of the event loop. A TLS handshake costs about a
 * millisecond of our processor: a thousand at once, which is what a burst of one key asks for,
 * would hold up everything else for a second. How many are under way is not limited: an upstream
 * that is far away takes its time.
 */
const DIALS_A_TURN = 8
/**
 * Times that pieces of a body which is held, 256 KB at most, are written in one turn of the event
 * loop: a write of 64 KB takes up to 50 microseconds.
 */
const WRITES_A_TURN = 2
/**
 * Answers of which a piece is read in one turn of the event loop before those that come again and
 * again wait for their turn. What has come for one meanwhile is read as one piece: a thousand
 * answers with an event each millisecond would otherwise take all of the processor.
 */
const READS_A_TURN = 32
/**
 * A pooled connection that has rested longer than this is looked at once more before it is trusted.
 */
const FRESH_MS = 250
/** The upstream's own keep-alive time less this: its FIN may be on the way already. */
const KEEP_ALIVE_MARGIN_MS = 1_000
/** How often it is looked for connections that have rested too long. */
const IDLE_SWEEP_MS = 500

/**
 * The only outbound sockets of the proxy: HTTP/1.1, bytes as they are, one request per connection
 * at a time, no redirect followed, nothing decoded, nothing buffered. `now` is a monotonic clock in
 * milliseconds.
 */
export function createSender(limits: UpstreamLimits, now: () => number): Sender {
  const pools = new Map<Dial, Connection[]>()
  // Not the requests: a set that changes with each of them would keep their garbage alive from one
  // of its tables to the next.
  const live = new Set<Connection>()
  const turns = new LoopTurns(DIALS_A_TURN)
  const writes = new LoopTurns(WRITES_A_TURN)
  const reads = new LoopTurns(READS_A_TURN)
  const connections: Connections = {
    open: ({ dial, owner = OURSELVES }, use) => turns.take(owner, () => use(() => open(dial))),
    write: ({ owner = OURSELVES }, pieces) => writes.take(owner, pieces),
    reads,
    takeIdle,
    giveBack,
    rested: (connection) => now() - connection.idleSince > FRESH_MS,
  }
  const period = Math.min(
    1_000,
    Math.max(10, Math.min(limits.connect, limits.firstByte, limits.idle) / 8),
  )
  let closed = false

  function forget(dial: Dial, connection: Connection) {
    live.delete(connection)
    const pool = pools.get(dial)
    const at = pool?.indexOf(connection) ?? -1
    if (at >= 0) pool!.splice(at, 1)
  }

  function open(dial: Dial): Connection {
    const connection = new Connection(dial, (lost) => forget(dial, lost))
    live.add(connection)
    return connection
  }

  /** The connection used last is the one that most surely still lives. */
  function takeIdle(dial: Dial): Connection | null {
    const pool = pools.get(dial) ?? []
    for (let connection = pool.pop(); connection !== undefined; connection = pool.pop()) {
      if (connection.usable && now() - connection.idleSince <= restTime(connection))
        return connection
      connection.destroy()
    }
    return null
  }

  function giveBack(dial: Dial, connection: Connection) {
    let pool = pools.get(dial)
    if (!pool) pools.set(dial, (pool = []))
    if (closed || pool.length >= limits.idlePerDial) return connection.destroy()
    connection.idleSince = now()
    pool.push(connection)
  }

  /** How long the upstream lets this connection rest. */
  function restTime(connection: Connection): number {
    const said = connection.reader.keepAliveSeconds
    return said === null ? limits.keepAlive : Math.max(0, said * 1000 - KEEP_ALIVE_MARGIN_MS)
  }

  let sweeper: NodeJS.Timeout | null = null
  let lastIdleSweep = 0

  /** One timer for all limits: looked at a few times within the shortest of them. */
  function sweep() {
    const at = now()
    for (const connection of live) connection.check(at)
    if (at - lastIdleSweep > IDLE_SWEEP_MS) sweepIdle(at)
    if (live.size > 0) return
    clearInterval(sweeper!)
    sweeper = null
  }

  function sweepIdle(at: number) {
    lastIdleSweep = at
    for (const pool of pools.values()) {
      for (const connection of pool.filter((one) => at - one.idleSince > restTime(one))) {
        pool.splice(pool.indexOf(connection), 1)
        connection.destroy()
      }
    }
  }

  return {
    send(request, incoming) {
      sweeper ??= setInterval(sweep, period).unref()
      return new Exchange(request, incoming, limits, connections)
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
