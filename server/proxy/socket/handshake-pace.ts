// Paces the handshakes of a key whose sockets were closed for what their clients sent: opening a
// socket costs hundreds of times as much as sending the message that closes it.

import { setTimeout as sleep } from 'node:timers/promises'
import { serviceUnavailable } from '../gateway-error.ts'

/** Faults of a key that delay no handshake. */
const FREE_FAULTS = 100
/** Faults that are remembered. */
const MAX_FAULTS = 2 * FREE_FAULTS
/** How long a fault is remembered, and the time between two handshakes that are delayed (ms). */
const PACE_MS = 50
/** The longest delay of a handshake (milliseconds). */
const MAX_DELAY_MS = 5_000
/** Keys without faults are removed when there are this many. */
const MAX_KEYS = 1_024

const delay = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false })

interface KeyPace {
  /** Monotonic milliseconds at which all its faults are forgotten, one each PACE_MS. */
  forgottenAt: number
  /** Monotonic milliseconds of the next handshake that is delayed. */
  nextAt: number
}

/** The handshakes of all keys. One per process. */
export class HandshakePace {
  readonly #now: () => number
  readonly #sleep: (ms: number) => Promise<unknown>
  readonly #keys = new Map<string, KeyPace>()

  /**
   * @param now monotonic milliseconds
   * @param sleep waits this many milliseconds
   */
  constructor(now: () => number, sleep: (ms: number) => Promise<unknown> = delay) {
    this.#now = now
    this.#sleep = sleep
  }

  /** A socket of the key was closed for what its client sent. */
  countFault(keyId: string): void {
    const now = this.#now()
    let pace = this.#keys.get(keyId)
    if (pace === undefined) {
      if (this.#keys.size >= MAX_KEYS) this.#tidy(now)
      this.#keys.set(keyId, (pace = { forgottenAt: now, nextAt: now }))
    }
    const forgottenAt = Math.max(pace.forgottenAt, now) + PACE_MS
    pace.forgottenAt = Math.min(forgottenAt, now + MAX_FAULTS * PACE_MS)
  }

  /**
   * Resolves when a handshake of the key may continue, usually at once.
   * @throws GatewayError `service_unavailable` if too many wait already
   */
  async waitFor(keyId: string): Promise<void> {
    const pace = this.#keys.get(keyId)
    if (pace === undefined) return
    const now = this.#now()
    if (pace.forgottenAt - now <= FREE_FAULTS * PACE_MS) return
    const at = Math.max(pace.nextAt, now)
    if (at - now > MAX_DELAY_MS)
      throw serviceUnavailable(
        'Too many WebSockets of this key were closed for what their clients sent.',
      )
    pace.nextAt = at + PACE_MS
    await this.#sleep(at - now)
  }

  #tidy(now: number): void {
    for (const [id, { forgottenAt }] of this.#keys) if (forgottenAt <= now) this.#keys.delete(id)
  }
}
