// Limits concurrent connections per client address, so that a caller without a key cannot take them
// all.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { lastValue, networkPrefix } from '../common/client-info.ts'
import { valuesOf } from './header-fields.ts'

/**
 * Addresses without open connections are removed when the map has this many entries, and again each
 * time it has doubled.
 */
const MAX_IDLE = 1_024

interface Count {
  open: number
}

/** Releases one slot. */
export type ReleaseSlot = () => void

/**
 * Counts by IPv4 address, or by the /64 network of an IPv6 address, which is what one person has.
 * All listening sockets of a process share one instance.
 *
 * Behind a trusted reverse proxy, all connections come from that proxy, so requests are counted
 * instead, by the address in `X-Forwarded-For`.
 */
export class AddressLimiter {
  /** Connections, or requests, that were rejected. */
  rejected = 0
  /** Whether requests are counted, not connections. */
  readonly countsRequests: boolean
  readonly #limit: number
  readonly #counts = new Map<string, Count>()
  #removeIdleAt = MAX_IDLE

  /** @param most maximum number of connections of one address; 0: no limit */
  constructor(most: number, isBehindProxy: boolean) {
    this.#limit = most === 0 ? Infinity : most
    this.countsRequests = isBehindProxy && this.#limit !== Infinity
  }

  /** Acquires a slot for a connection until it closes. False: the limit is reached. */
  acceptConnection(socket: Socket): boolean {
    if (this.countsRequests || this.#limit === Infinity) return true
    const leave = this.#acquire(networkPrefix(socket.remoteAddress ?? ''))
    if (leave !== null) socket.once('close', leave)
    return leave !== null
  }

  /**
   * Acquires a slot for a request of our own reader, if requests are counted. Null: the limit is
   * reached; undefined: this one is not counted. @param headers name, value, …
   */
  acceptRequest(headers: readonly string[]): ReleaseSlot | null | undefined {
    return this.#acceptForwarded(lastValue(valuesOf(headers, 'x-forwarded-for')))
  }

  /**
   * Acquires a slot for a request of Node's server, as `acceptRequest` does; undefined also if
   * requests are not counted.
   */
  acceptIncoming({ headers }: IncomingMessage): ReleaseSlot | null | undefined {
    if (!this.countsRequests) return undefined
    return this.#acceptForwarded(lastValue(headers['x-forwarded-for']))
  }

  /** A request without a forwarded address is not counted, because the proxy is trusted. */
  #acceptForwarded(address: string | undefined): ReleaseSlot | null | undefined {
    return address === undefined ? undefined : this.#acquire(networkPrefix(address))
  }

  #acquire(address: string): ReleaseSlot | null {
    let count = this.#counts.get(address)
    if (count === undefined) {
      if (this.#counts.size >= this.#removeIdleAt) this.#removeIdle()
      this.#counts.set(address, (count = { open: 0 }))
    }
    if (count.open >= this.#limit) {
      this.rejected++
      return null
    }
    count.open++
    let isOpen = true
    return () => {
      if (isOpen) count.open--
      isOpen = false
    }
  }

  /** Deleting entries as soon as they are empty would add and remove one with every request. */
  #removeIdle(): void {
    for (const [address, { open }] of this.#counts) if (open === 0) this.#counts.delete(address)
    this.#removeIdleAt = Math.max(MAX_IDLE, this.#counts.size * 2)
  }
}
