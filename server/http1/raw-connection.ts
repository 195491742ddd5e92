// A connection after `101 Switching Protocols` (RFC 9110, section 7.8): bytes in both directions,
// no longer HTTP. Used for both the caller's and the upstream's side.
import type { Socket } from 'node:net'
import { fieldLines, type RawHeaders } from './header-fields.ts'
import { countRead, writeFreed } from './read-memory.ts'
import { discardSlowly } from './drain-request.ts'
import type { Turns } from './turns.ts'

/** The head of the 101 response. @param headers including `Connection` and `Upgrade` */
export const switchingHead = (headers: RawHeaders): string =>
  `HTTP/1.1 101 Switching Protocols\r\n${fieldLines(headers)}\r\n`

/** Receives the bytes of a raw connection. */
export interface RawReader {
  /** The next bytes. They may be kept. */
  onData(bytes: Buffer): void
  /** The other side has stopped sending. */
  onEnd(): void
  /** More bytes can be written. */
  onDrain(): void
  /** The connection is closed. */
  onClose(): void
  /** The server is shutting down and about to destroy it: the last chance to send something. */
  onShutdown(): void
}

/** The source of a raw connection's bytes. */
export interface RawSource {
  readonly socket: Socket
  /** Bytes read after the head. */
  readonly unread: Buffer
  /** Calls `take` with all bytes that arrive from now on. */
  subscribe(take: (bytes: Buffer) => void): void
  /** Calls `announce` before the server destroys the connection; if missing, it never does. */
  onShutdown?(announce: () => void): void
  /**
   * Large pieces are read in turns with those of other connections; if missing, whenever they
   * arrive.
   */
  readonly reads?: Turns
}

/** After a piece of this size, more may wait in the system: see `server-connection.ts`. */
const LARGE_READ_BYTES = 32 * 1024
const READS_OWNER = { account_id: '', key_id: '' }
/** Maximum number of bytes that are discarded. */
const DISCARD_BYTES = 64 * 1_048_576

/** One side of a switched connection. It lives until it is closed. */
export class RawConnection {
  readonly #socket: Socket
  /**
   * Null once it is read, so that a long-lived connection does not keep alive the objects that it
   * came from.
   */
  #source: RawSource | null
  readonly #reads: Turns | undefined
  #isPaused = true
  #awaitsTurn = false
  #isDiscarded = false
  /** Receives the bytes that are discarded, to count them. */
  #onDiscarded: ((bytes: Buffer) => void) | null = null

  constructor(source: RawSource) {
    this.#source = source
    this.#socket = source.socket
    this.#reads = source.reads
    // Until a reader is attached.
    this.#socket.on('error', ignore)
    // Each direction ends independently.
    this.#socket.allowHalfOpen = true
    this.#socket.pause()
  }

  /** Whether it accepts more bytes without waiting. */
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

  /** Passes the bytes so far, and later ones, to a reader. Call it once. */
  read(reader: RawReader): void {
    const source = this.#source
    if (source === null) throw new TypeError('a connection has one reader')
    this.#source = null
    const { unread } = source
    source.subscribe((bytes) => {
      countRead(bytes.length)
      if (this.#isDiscarded) return this.#onDiscarded?.(bytes)
      reader.onData(bytes)
      if (bytes.length >= LARGE_READ_BYTES) this.#yieldTurn()
    })
    source.onShutdown?.(() => reader.onShutdown())
    let isClosed = false
    // A destroyed socket may still emit 'close', or have done so.
    const onClose = (): void => {
      if (isClosed) return
      isClosed = true
      reader.onClose()
    }
    this.#socket
      .on('end', () => reader.onEnd())
      .on('drain', () => reader.onDrain())
      .on('close', onClose)
    if (this.#socket.destroyed) return queueMicrotask(onClose)
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

  /** Passes no more bytes to the reader: the rest is slowly read and discarded. */
  discard(): void {
    if (this.#isDiscarded) return
    this.#isDiscarded = true
    const socket = this.#socket
    const source = {
      on: (_event: 'data', take: (bytes: Buffer) => void) => {
        this.#onDiscarded = take
      },
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

  /** Continues reading when it is this connection's turn, which may be now. */
  #yieldTurn(): void {
    const reads = this.#reads
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

  /** Sends bytes without copying them. False: wait for `onDrain` before sending more. */
  write(bytes: Buffer): boolean {
    return this.#socket.destroyed || this.#socket.write(bytes)
  }

  /** Sends a piece that nothing else needs: its memory is freed once it is sent. */
  writeLast(bytes: Buffer): boolean {
    return this.#socket.destroyed || writeFreed(this.#socket, bytes)
  }

  /** Closes the sending side. */
  end(): void {
    if (!this.#socket.destroyed) this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

function ignore(): void {}
