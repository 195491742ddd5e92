// A connection after `101 Switching Protocols` (RFC 9110, section 7.8): bytes both ways, and nothing
// of HTTP. The same for the side that listens and the side that dials.
import type { Socket } from 'node:net'
import { fieldLines, type RawHeaders } from './header-fields.ts'
import { countRead } from './read-memory.ts'
import { discardSlowly } from './slow-reads.ts'
import type { Turns } from './turns.ts'

/** The head of the response that switches. @param headers with `Connection` and `Upgrade` */
export const switchingHead = (headers: RawHeaders): string =>
  `HTTP/1.1 101 Switching Protocols\r\n${fieldLines(headers)}\r\n`

/** Receives the bytes of a raw connection. */
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

/** The source of a raw connection's bytes. */
export interface RawSource {
  readonly socket: Socket
  /** Bytes read after the head. */
  readonly unread: Buffer
  /** Calls `take` with all that comes from now on. */
  subscribe(take: (bytes: Buffer) => void): void
  /** Calls `announce` before the server destroys the connection; left out: it never does. */
  onShutdown?(announce: () => void): void
  /** Large pieces are read in turns with those of others; left out: whenever they come. */
  readonly reads?: Turns
}

/** More than a piece of this size may wait in the system: see `server-connection.ts`. */
const LARGE_READ_BYTES = 32 * 1024
const READS_OWNER = { account_id: '', key_id: '' }
/** Most bytes that are discarded. */
const DISCARD_BYTES = 64 * 1_048_576

/** One side of a switched connection. It lives until it is closed. */
export class RawConnection {
  readonly #socket: Socket
  readonly #source: RawSource
  #isPaused = true
  #awaitsTurn = false
  #isDiscarded = false

  constructor(source: RawSource) {
    this.#source = source
    this.#socket = source.socket
    // Until a reader is attached.
    this.#socket.on('error', ignore)
    // Each direction ends by itself.
    this.#socket.allowHalfOpen = true
    this.#socket.pause()
  }

  /** Whether it takes more without waiting. */
  get isWritable(): boolean {
    return !this.#socket.writableNeedDrain
  }

  /** Whether bytes that were written still wait in this process. */
  get hasUnsent(): boolean {
    return !this.#socket.destroyed && this.#socket.writableLength > 0
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** Passes the bytes so far, and later ones, to a reader. Once. */
  read(reader: RawReader): void {
    const { unread } = this.#source
    this.#source.subscribe((bytes) => {
      countRead(bytes.length)
      if (this.#isDiscarded) return
      reader.onData(bytes)
      if (bytes.length >= LARGE_READ_BYTES) this.#yieldTurn()
    })
    this.#source.onShutdown?.(() => reader.onShutdown())
    this.#socket
      .on('end', () => reader.onEnd())
      .on('drain', () => reader.onDrain())
      .on('close', () => reader.onClose())
    if (this.#socket.destroyed) return queueMicrotask(() => reader.onClose())
    this.#isPaused = false
    if (unread.length > 0) reader.onData(unread)
    if (!this.#isPaused) this.#resume()
  }

  pause(): void {
    this.#isPaused = true
    if (!this.#isDiscarded) this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#resume()
  }

  /** The reader hears of no more bytes: what still comes is thrown away, slowly. */
  discard(): void {
    if (this.#isDiscarded) return
    this.#isDiscarded = true
    const socket = this.#socket
    const source = {
      on: (_event: 'data', take: (bytes: Buffer) => void) => this.#source.subscribe(take),
      once: (event: 'close', gone: () => void) => socket.once(event, gone),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    }
    const address = socket.remoteAddress ?? ''
    discardSlowly(source, address, DISCARD_BYTES, () => socket.destroy())
  }

  #resume(): void {
    if (!this.#awaitsTurn && !this.#isDiscarded) this.#socket.resume()
  }

  /** Reads on when it is its turn, which may be now. */
  #yieldTurn(): void {
    const { reads } = this.#source
    if (reads === undefined || this.#awaitsTurn || this.#isDiscarded) return
    let isNow = true
    this.#awaitsTurn = true
    reads.schedule(READS_OWNER, () => {
      this.#awaitsTurn = false
      if (!isNow && !this.#isPaused) this.#resume()
    })
    isNow = false
    if (this.#awaitsTurn) this.#socket.pause()
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
