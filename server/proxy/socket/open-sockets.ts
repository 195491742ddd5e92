// All open sockets of this process: they are checked periodically and can be ended.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CachedKey } from '../../keys/cache.ts'
import type { SocketSession } from './session.ts'

/** How often each socket is checked, because its key may have been revoked (milliseconds). */
const CHECK_MS = 250
/** Sockets that are checked in one turn of the event loop; each takes about a microsecond. */
const CHECKS_PER_TURN = 256
/** Sockets that a check may end in one turn: a revoked key can have thousands. */
const ENDS_PER_TURN = 8

/** How long sockets whose connections have closed may take to end at shutdown (milliseconds). */
const LAST_ENDS_MS = 2_000

/** An open socket. */
export interface OpenSocket {
  /** The id of the request that opened it. */
  readonly id: string
  readonly key: CachedKey
  readonly provider: string
  readonly endpoint: string
  /** Milliseconds since 1970. */
  readonly openedAt: number
  readonly session: SocketSession
  /** The current key. @throws GatewayError if it may no longer be used */
  authenticate(): CachedKey
}

/** The sockets of this process. Dispose of it at shutdown. */
export class OpenSockets implements AsyncDisposable {
  /** Number of times that a socket was opened or has ended. */
  changes = 0
  readonly #all = new Map<string, OpenSocket>()
  readonly #timer: NodeJS.Timeout
  #isChecking = false

  constructor() {
    // After a stall of this process, timers run before what has arrived meanwhile is read.
    const checkRead = (): void => {
      // An integer: V8 passes it on without allocating a number for each socket.
      const now = Math.floor(performance.now())
      setImmediate(() => this.#check(now))
    }
    this.#timer = setInterval(checkRead, CHECK_MS).unref()
  }

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): Iterator<OpenSocket> {
    return this.#all.values()
  }

  get(id: string): OpenSocket | undefined {
    return this.#all.get(id)
  }

  add(socket: OpenSocket): void {
    this.changes++
    this.#all.set(socket.id, socket)
  }

  /** The socket has ended. */
  remove(id: string): void {
    this.changes++
    this.#all.delete(id)
  }

  /** Waits until sockets whose connections have closed have ended, which takes some turns. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    const until = performance.now() + LAST_ENDS_MS
    while (this.#all.size > 0 && performance.now() < until) await nextTurn()
  }

  #check(now: number): void {
    if (this.#isChecking) return
    this.#isChecking = true
    this.#checkNext([...this.#all.values()], 0, now)
  }

  #checkNext(all: readonly OpenSocket[], from: number, now: number): void {
    const last = Math.min(from + CHECKS_PER_TURN, all.length)
    let [next, ended] = [from, 0]
    while (next < last && ended < ENDS_PER_TURN) {
      const socket = all[next++]
      if (socket?.session.check(now, socket) === true) ended++
    }
    if (next < all.length) setImmediate(() => this.#checkNext(all, next, now))
    else this.#isChecking = false
  }
}
