// A connection to an upstream, as seen by its pool and its current exchange.
import type { Socket } from 'node:net'
import type { RawHeaders } from '../header-fields.ts'
import { RawConnection, type RawSource } from '../raw-connection.ts'
import type { Turns } from '../turns.ts'
import { openSocket, type Destination, type SocketUser } from './destination.ts'
import { INTERNAL_OWNER } from './request-writer.ts'
import { ProtocolError, ResponseParser, type ResponseEvents } from './response-parser.ts'

/** Events of a connection for its current exchange. */
export type ConnectionUser = Omit<ResponseEvents, 'onSwitch'> & {
  /** See `ResponseHandler`. */
  onSwitch(headers: RawHeaders, connection: RawConnection): void
  /** Whether any part of the request has been written. */
  readonly writeStarted: boolean
  /** The connection can be written to (immediately if it was idle in the pool). */
  onReady(): void
  /** The socket takes more bytes again. */
  onDrain(): void
  /**
   * Calls `read` in a later turn of the event loop if enough was read in this one. @returns whether
   * it does; else the bytes that have arrived are read now
   */
  deferRead(read: () => void): boolean
  /** The connection is gone before the response was complete. */
  onConnectionLost(error: Error): void
  /** Ends the exchange if it has timed out. @param now monotonic milliseconds */
  checkTimeout(now: number): void
}

/**
 * One socket to one destination, carrying one request at a time. It belongs to its user from {@link
 * assign} until the response is complete, and otherwise to the pool; anything unexpected while it
 * is in the pool closes it.
 */
export class ClientConnection implements ResponseEvents {
  readonly socket: Socket
  readonly parser: ResponseParser
  /** Whether a request has completed on this connection before. */
  reused = false
  /** Monotonic milliseconds at which the connection was last released. */
  idleSince = 0
  #user: ConnectionUser | null = null
  #ready = false
  #error: Error | null = null
  /** Copies of bytes that wait to be read. */
  #unread: Buffer[] = []
  #onLost: (connection: ClientConnection) => void
  readonly #closes: Turns
  readonly #socketUser: SocketUser

  /**
   * Starts dialling. Bytes are read into one buffer that all connections share, so users must copy
   * what they keep. `onLost` is called when the connection closes or switches protocols. If the
   * upstream ends it, it is closed when `closes` gives it a turn.
   * @throws {PrivateAddressError} see {@link openSocket}
   */
  constructor(
    destination: Destination,
    closes: Turns,
    onLost: (connection: ClientConnection) => void,
  ) {
    this.#onLost = onLost
    this.#closes = closes
    this.parser = new ResponseParser(this)
    this.#socketUser = {
      ready: () => {
        this.#ready = true
        this.#user?.onReady()
      },
      read: (chunk) => this.#read(chunk),
      lost: this.#onError,
      closeInTurn: (close) => closes.schedule(INTERNAL_OWNER, close),
    }
    this.socket = openSocket(destination, this.#socketUser)
    this.socket
      .on('drain', this.#onDrain)
      .on('end', this.#onFin)
      .on('error', this.#onError)
      .on('close', this.#onClosed)
  }

  /** Whether the socket can carry a request. */
  get usable(): boolean {
    const { destroyed, readableEnded } = this.socket
    const isOpen = this.#ready && this.#error === null && !destroyed && !readableEnded
    return isOpen && this.#user === null
  }

  /** Gives the connection to a user for one request. */
  assign(user: ConnectionUser, method: string, maySwitch = false): void {
    this.#user = user
    this.parser.begin(method, maySwitch)
    if (this.#ready) user.onReady()
  }

  /** Takes the connection from its user; it may then be pooled. */
  unassign(): void {
    this.#user = null
    this.reused = true
  }

  checkTimeout(now: number): void {
    this.#user?.checkTimeout(now)
  }

  /** Closes the connection without further callbacks to its user. */
  destroy(): void {
    this.#user = null
    this.#unread = []
    this.parser.stop()
    this.socket.destroy()
  }

  /** Closes the connection because of a failure, which is reported to its user. */
  #fail(error: Error): void {
    const user = this.#user
    this.destroy()
    user?.onConnectionLost(error)
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

  onSwitch(headers: RawHeaders, unread: Buffer): void {
    const user = this.#user
    this.#user = null
    const { socket } = this
    // The socket outlives this connection, and must not keep it alive.
    socket
      .off('drain', this.#onDrain)
      .off('end', this.#onFin)
      .off('error', this.#onError)
      .off('close', this.#onClosed)
    this.#onLost(this)
    const source = rawSource(socket, unread, this.#socketUser)
    user?.onSwitch(headers, new RawConnection(source))
  }

  #read(chunk: Buffer): void {
    if (this.#user === null) return this.destroy()
    // For example, a server's 408 for an idle connection, which belongs to no request.
    if (this.reused && !this.#user.writeStarted)
      return this.#fail(new ProtocolError('the upstream sent bytes before a request'))
    if (this.#unread.length === 0 && !this.#user.deferRead(this.#readWaiting))
      return this.#parse(chunk)
    // Most have no second piece, and pausing a socket costs as much as reading it.
    if (this.#unread.push(Buffer.from(chunk)) > 1) this.socket.pause()
  }

  /** Parses the bytes that wait. Those behind a complete response close the connection. */
  readonly #readWaiting = (): void => {
    const pieces = this.#unread
    this.#unread = []
    for (const piece of pieces) {
      // A response was complete before these bytes.
      if (this.#user === null) return this.destroy()
      this.#parse(piece)
    }
  }

  #parse(chunk: Buffer): void {
    try {
      this.parser.push(chunk)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      // If the response was complete before the stray bytes, only the connection is unusable.
      if (this.#user === null) this.destroy()
      else this.#fail(error)
    }
  }

  readonly #onDrain = (): void => this.#user?.onDrain()

  readonly #onError = (error: Error): void => {
    this.#error = error
  }

  readonly #onFin = (): void =>
    this.#closes.schedule(INTERNAL_OWNER, () => {
      if (!this.socket.destroyed) this.#endInTurn()
    })

  #endInTurn(): void {
    this.#readWaiting()
    if (this.#user === null) return this.destroy()
    try {
      this.parser.finish()
      if (!this.socket.destroyed) this.destroy()
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#fail(this.#error ?? error)
    }
  }

  readonly #onClosed = (): void => {
    this.#readWaiting()
    this.#onLost(this)
    this.#fail(this.#error ?? new ProtocolError('the upstream closed the connection'))
  }
}

function ignore(): void {}

/** The source of a connection that has switched; its socket has no other user any more. */
function rawSource(socket: Socket, unread: Buffer, user: SocketUser): RawSource {
  user.ready = user.read = user.lost = ignore
  return {
    socket,
    unread,
    subscribe: (take) => {
      user.read = (chunk) => take(Buffer.from(chunk))
    },
  }
}
