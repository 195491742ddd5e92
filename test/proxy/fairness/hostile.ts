// Connections of somebody who means no good: raw bytes, sent and read as slowly as wanted.
import { connect, type Socket } from 'node:net'

export interface Sent {
  /** What is sent at once. */
  readonly first: string | Buffer
  /** What follows, a piece every so many milliseconds, for ever. */
  readonly trickle?: { readonly piece: string | Buffer; readonly every: number }
  /** Whether responses are read; by default they are. */
  readonly reads?: boolean
  /** The address it comes from. */
  readonly from?: string
  /** What is sent over and over once a socket is open, as fast as it is taken. */
  readonly flood?: Buffer
  /** Whether it leaves as soon as a response has come. */
  readonly leaves?: boolean
  /**
   * Sends the first bytes again as soon as a response has come, on a new connection where that one
   * was closed; or only there.
   */
  readonly again?: boolean | 'when closed'
}

/** All connections of one attack. */
export class Hostile {
  /** How often each status was received. */
  readonly responses: Record<string, number> = {}
  readonly #port: number
  readonly #sockets = new Set<Socket>()
  #over = false

  constructor(port: number) {
    this.#port = port
  }

  /**
   * Opens a connection; resolves when the system has taken the first bytes, or the connection has
   * failed.
   */
  async open(sent: Sent): Promise<void> {
    const socket = connect({
      port: this.#port,
      host: '127.0.0.1',
      ...(sent.from === undefined ? {} : { localAddress: sent.from }),
    })
    this.#sockets.add(socket)
    socket.setNoDelay(true).on('error', () => {})
    let timer: NodeJS.Timeout | undefined
    socket.on('close', () => {
      clearInterval(timer)
      this.#sockets.delete(socket)
      if (sent.again && !this.#over) setImmediate(() => void this.open(sent))
    })
    if (sent.reads ?? true) socket.on('data', (bytes: Buffer) => this.#read(socket, bytes, sent))
    else socket.once('data', (bytes: Buffer) => (this.#count(bytes), socket.pause()))
    // A write's callback comes with an error too, where the connection ends first.
    const taken = new Promise<void>((resolve) => socket.write(sent.first, () => resolve()))
    if (sent.trickle !== undefined) {
      const { piece, every } = sent.trickle
      timer = setInterval(() => socket.write(piece), every)
    }
    await taken
  }

  /** Ends all of them. */
  close(): void {
    this.#over = true
    for (const socket of this.#sockets) socket.destroy()
  }

  #read(socket: Socket, bytes: Buffer, { first, again, flood, leaves }: Sent): void {
    const status = this.#count(bytes)
    if (status === undefined || this.#over) return
    if (again === true) socket.write(first)
    else if (leaves || (again === 'when closed' && status !== '101')) socket.destroy()
    else if (flood !== undefined) this.#flood(socket, flood)
  }

  #flood(socket: Socket, bytes: Buffer): void {
    if (socket.destroyed) return
    if (socket.write(bytes)) setImmediate(() => this.#flood(socket, bytes))
    else socket.once('drain', () => this.#flood(socket, bytes))
  }

  #count(bytes: Buffer): string | undefined {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 16))?.[1]
    if (status !== undefined) this.responses[status] = (this.responses[status] ?? 0) + 1
    return status
  }
}
