// A connection to an upstream, as its pool and the exchange that holds it see it.
import type { Socket } from 'node:net'
import type { RawHeaders } from '../header-fields.ts'
import { openSocket, type Dial } from './dial.ts'
import { ProtocolError, ResponseReader, type ResponseSink } from './response-parser.ts'

/** What a connection tells the exchange that holds it. */
export type ConnectionUser = ResponseSink & {
  /** Something of the request has been written. */
  readonly begun: boolean
  /** The connection can be written to (at once if it was idle in the pool). */
  onReady(): void
  /** The socket takes more bytes again. */
  onDrain(): void
  /** The connection is gone before the response was complete. */
  onBroken(error: Error): void
  /** Ends what has taken too long. @param now monotonic milliseconds */
  check(now: number): void
}

/**
 * One socket to one dial, carrying one request at a time. It belongs to its user from {@link take}
 * until the response is complete, and to the pool in between; anything unexpected in between closes
 * it.
 */
export class Connection implements ResponseSink {
  readonly socket: Socket
  readonly reader: ResponseReader
  /** Whether a request has been answered on this connection before. */
  reused = false
  /** Monotonic milliseconds at which the connection was last given back. */
  idleSince = 0
  #user: ConnectionUser | null = null
  #ready = false
  #error: Error | null = null
  #onLost: (connection: Connection) => void

  /**
   * Starts dialling. What arrives is read into one buffer that all connections share: its user
   * copies what it keeps. `onLost` is told when the connection closes.
   * @throws {PrivateAddressError} see {@link openSocket}
   */
  constructor(dial: Dial, onLost: (connection: Connection) => void) {
    this.#onLost = onLost
    this.reader = new ResponseReader(this)
    this.socket = openSocket(
      dial,
      () => {
        this.#ready = true
        this.#user?.onReady()
      },
      (chunk) => this.#read(chunk),
      (error) => (this.#error = error),
    )
    this.socket.on('drain', () => this.#user?.onDrain())
    this.socket.on('end', () => this.#ended())
    this.socket.on('error', (error) => (this.#error = error))
    this.socket.on('close', () => this.#closed())
  }

  /** Whether the socket can carry a request. */
  get usable(): boolean {
    return (
      this.#ready && this.#user === null && !this.socket.destroyed && !this.socket.readableEnded
    )
  }

  /** Gives the connection to a user for one request. */
  take(user: ConnectionUser, method: string): void {
    this.#user = user
    this.reader.begin(method)
    if (this.#ready) user.onReady()
  }

  /** Takes the connection from its user; it may then be pooled. */
  release(): void {
    this.#user = null
    this.reused = true
  }

  check(now: number): void {
    this.#user?.check(now)
  }

  /** Ends the connection; its user hears nothing more. */
  destroy(): void {
    this.#user = null
    this.reader.stop()
    this.socket.destroy()
  }

  /** Ends the connection because of a failure that its user is told about. */
  fail(error: Error): void {
    const user = this.#user
    this.destroy()
    user?.onBroken(error)
  }

  onInterim(status: number, reason: string, headers: RawHeaders): void {
    this.#user?.onInterim(status, reason, headers)
  }

  onHead(status: number, reason: string, headers: RawHeaders): void {
    this.#user?.onHead(status, reason, headers)
  }

  onBody(chunk: Buffer): void {
    this.#user?.onBody(chunk)
  }

  onPause(): void {
    this.#user?.onPause()
  }

  onEnd(trailers: RawHeaders): void {
    this.#user?.onEnd(trailers)
  }

  #read(chunk: Buffer): void {
    if (this.#user === null) return this.destroy()
    // Such as the 408 of a server for which the connection has rested too long: it answers nobody.
    if (this.reused && !this.#user.begun)
      return this.fail(new ProtocolError('the upstream sent bytes before it was asked'))
    try {
      this.reader.push(chunk)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      // The answer before the stray bytes may have been complete already: then only the connection
      // is spoilt.
      if (this.#user === null) this.destroy()
      else this.fail(error)
    }
  }

  #ended(): void {
    if (this.#user === null) return this.destroy()
    try {
      this.reader.finish()
      if (!this.socket.destroyed) this.destroy()
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.fail(this.#error ?? error)
    }
  }

  #closed(): void {
    this.#onLost(this)
    this.fail(this.#error ?? new ProtocolError('the upstream closed the connection'))
  }
}
