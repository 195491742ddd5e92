// The address of a database that can move between servers, like a virtual IP.
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'

/** Forwards connections to one server. */
export class MovingAddress implements AsyncDisposable {
  readonly #server = createServer((socket) => this.#accept(socket))
  readonly #sockets = new Set<Socket>()
  #target: number
  #isSilent = false

  private constructor(target: number) {
    this.#target = target
  }

  static async open(target: number): Promise<MovingAddress> {
    const address = new MovingAddress(target)
    await once(address.#server.listen(0, '127.0.0.1'), 'listening')
    return address
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Sends new connections to another server; connections to a silent one stay silent. */
  moveTo(target: number): void {
    this.#target = target
    this.#isSilent = false
  }

  /** Simulates a dead machine: drops everything without closing connections. */
  fallSilent(): void {
    this.#isSilent = true
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(socket: Socket): void {
    this.#keep(socket)
    if (this.#isSilent) return
    const behind = createConnection({ port: this.#target, host: '127.0.0.1' })
    this.#keep(behind)
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      one.setNoDelay(true).pipe(other)
      one.once('close', () => void (this.#isSilent || other.destroy()))
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
