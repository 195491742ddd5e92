// One direction of a socket: reads frames from one connection, a few in one turn of the event loop,
// and stops reading while it is blocked.
import type { RawConnection } from '../../http1/raw-connection.ts'
import { FrameError, FrameReader, type FrameSink } from '../../http1/websocket/frames.ts'

/** Frames that are read in one turn of the event loop: about a quarter of a millisecond. */
const FRAMES_PER_TURN = 256

/** Told about the frames of one direction. */
export interface PumpSink extends FrameSink {
  /** All bytes up to here have been read: a whole piece, or what could be for now. */
  onPause(): void
  onError(error: FrameError): void
}

/** Reads the frames of one side of a socket, some in a turn. */
export class FramePump {
  readonly frames: FrameReader
  readonly #source: RawConnection
  readonly #sink: PumpSink
  readonly #defer: (goOn: () => void) => void
  /** What has come and was not read, the oldest first. */
  #waiting: Buffer[] = []
  #at = 0
  /** How many reasons there are not to read. */
  #blocks = 0
  #isPumping = false
  #isStopped = false

  /** @param defer calls something in a later turn of the event loop */
  constructor(
    source: RawConnection,
    sink: PumpSink,
    isMasked: boolean,
    defer: (goOn: () => void) => void = setImmediate,
  ) {
    this.#source = source
    this.#defer = defer
    this.#sink = sink
    this.frames = new FrameReader(sink, isMasked)
  }

  push(bytes: Buffer): void {
    if (this.#isStopped) return
    this.#waiting.push(bytes)
    this.#pump()
  }

  /** Reads no further until {@link unblock} has been called as often. */
  block(): void {
    if (this.#blocks++ === 0 && !this.#isStopped) this.#source.pause()
  }

  unblock(): void {
    if (--this.#blocks > 0 || this.#isStopped) return
    this.#pump()
    if (this.#blocks === 0) this.#source.resume()
  }

  /** Reads nothing any more; what comes is thrown away. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#waiting = []
    this.#source.discard()
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    let left = FRAMES_PER_TURN
    try {
      while (this.#blocks === 0 && !this.#isStopped && this.#waiting.length > 0) {
        // oxlint-disable-next-line typescript/no-non-null-assertion -- the loop runs while something waits
        const bytes = this.#waiting[0]!
        this.#at = this.frames.next(bytes, this.#at)
        if (this.#at >= bytes.length) {
          this.#waiting.shift()
          this.#at = 0
        }
        if (--left === 0) {
          this.block()
          this.#defer(() => this.unblock())
        }
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.#sink.onError(error)
    } finally {
      this.#isPumping = false
    }
    this.#sink.onPause()
  }
}

/** Adds a piece of memory to others; one that lies right behind the last is joined to it. */
export function keepPiece(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1)
  if (
    last !== undefined &&
    last.buffer === piece.buffer &&
    last.byteOffset + last.length === piece.byteOffset
  )
    pieces[pieces.length - 1] = Buffer.from(
      piece.buffer,
      last.byteOffset,
      last.length + piece.length,
    )
  else pieces.push(piece)
}
