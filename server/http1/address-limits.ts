// The number of concurrent connections per client address, so that a caller without a key cannot
// take them all.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { lastValue, networkPrefix } from '../common/client-info.ts'
import { valuesOf } from './header-fields.ts'

/**
 * Addresses with nothing open are forgotten when there are this many, and again when those that are
 * left have doubled.
 */
const MAX_IDLE = 1_024

interface Count {
  open: number
}

/** Gives one place back. */
export type ReleaseSlot = () => void

/**
 * Counts by IPv4 address, or by the /64 network of an IPv6 one, which is what one person has. All
 * listening sockets of a process share one.
 *
 * Behind a trusted reverse proxy all connections come from that proxy: then requests are counted
 * instead, by the address in `X-Forwarded-For`.
 */
export class AddressLimiter {
  /** Connections, or requests, that were turned away. */
  rejected = 0
  readonly isBehindProxy: boolean
  readonly #limit: number
  readonly #counts = new Map<string, Count>()
  #removeIdleAt = MAX_IDLE

  /** @param most connections of one address; 0: any number */
  constructor(most: number, isBehindProxy: boolean) {
    this.#limit = most === 0 ? Infinity : most
    this.isBehindProxy = isBehindProxy
  }

  /** Takes a place for a connection until it closes. False: it is one too many. */
  acceptConnection(socket: Socket): boolean {
    if (this.isBehindProxy || this.#limit === Infinity) return true
    const leave = this.#acquire(networkPrefix(socket.remoteAddress ?? ''))
    if (leave !== null) socket.once('close', leave)
    return leave !== null
  }

  /**
   * Takes a place for a request of our own reader. Null: it is one too many; undefined: it is not
   * counted. @param headers name, value, …
   */
  acceptRequest(headers: readonly string[]): ReleaseSlot | null | undefined {
    if (!this.isBehindProxy || this.#limit === Infinity) return undefined
    return this.#acceptForwarded(lastValue(valuesOf(headers, 'x-forwarded-for')))
  }

  /** The same for a request of Node's server. */
  acceptIncoming({ headers }: IncomingMessage): ReleaseSlot | null | undefined {
    if (!this.isBehindProxy || this.#limit === Infinity) return undefined
    return this.#acceptForwarded(lastValue(headers['x-forwarded-for']))
  }

  /** A proxy that does not say for whom it speaks is taken at its word: it is trusted. */
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

  /** Entries that were deleted as soon as they are empty would come and go with every request. */
  #removeIdle(): void {
    for (const [address, { open }] of this.#counts) if (open === 0) this.#counts.delete(address)
    this.#removeIdleAt = Math.max(MAX_IDLE, this.#counts.size * 2)
  }
}
