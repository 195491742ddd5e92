// A connection after `101 Switching Protocols` (RFC 9110, section 7.8): bytes both ways, and nothing
// of HTTP. The same for the side that listens and the side that dials.
import type { Socket } from 'node:net'
import { fieldLines, type RawHeaders } from './header-fields.ts'

/** The head of the response that switches. @param headers with `Connection` and `Upgrade` */
export const switchingHead = (headers: RawHeaders): string =>
  `HTTP/1.1 101 Switching Protocols\r\n${fieldLines(headers)}\r\n`

/** Told what comes on a raw connection. */
export interface RawReader {
  /** The next bytes. They may be kept. */
  onData(bytes: Buffer): void
  /** The other side sends no more. */
  onEnd(): void
  /** More can be written. */
  onDrain(): void
  /** The connection is gone. */
  onClose(): void
  /** The server destroys it in a moment, because it shuts down: the last chance to say something. */
  onShutdown(): void
}

/** Where the bytes of a raw connection come from. */
export interface RawSource {
  readonly socket: Socket
  /** What was read behind the head. */
  readonly unread: Buffer
  /** Calls `take` with all that comes from now on. */
  subscribe(take: (bytes: Buffer) => void): void
  /** Calls `announce` before the server destroys the connection; left out: it never does. */
  onShutdown?(announce: () => void): void
}

/** One side of a switched connection. It lives until it is closed. */
export class RawConnection {
  readonly #socket: Socket
  readonly #source: RawSource

  constructor(source: RawSource) {
    this.#source = source
    this.#socket = source.socket
    // Until somebody reads.
    this.#socket.on('error', ignore)
    this.#socket.pause()
  }

  /** Whether it takes more without waiting. */
  get isWritable(): boolean {
    return !this.#socket.writableNeedDrain
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** Gives what has come, and what comes, to a reader: once. */
  read(reader: RawReader): void {
    const { unread } = this.#source
    this.#source.subscribe((bytes) => reader.onData(bytes))
    this.#source.onShutdown?.(() => reader.onShutdown())
    this.#socket
      .on('end', () => reader.onEnd())
      .on('drain', () => reader.onDrain())
      .on('close', () => reader.onClose())
    if (this.#socket.destroyed) return queueMicrotask(() => reader.onClose())
    if (unread.length > 0) reader.onData(unread)
    this.#socket.resume()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Sends bytes, which are not copied. False: wait for `onDrain` before sending more. */
  write(bytes: Buffer): boolean {
    return this.#socket.destroyed || this.#socket.write(bytes)
  }

  /** Sends no more. */
  end(): void {
    if (!this.#socket.destroyed) this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

function ignore(): void {}
