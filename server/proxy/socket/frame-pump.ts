// One direction of a socket: reads frames from one connection, in turns with other sockets, and stops
// reading while it is blocked.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { RawConnection } from '../../http1/raw-connection.ts'
import { FrameError, FrameReader, type FrameSink } from '../../http1/websocket/frames.ts'
import { PUMP_MS, pumpTurns } from './pump-turns.ts'

/** Frames between two looks at the clock: of empty ones, 10 µs. */
const FRAMES_PER_LOOK = 16

/** Told about the frames of one direction. */
export interface PumpSink extends FrameSink {
  /** All bytes up to here have been read: a whole piece, or what could be for now. */
  onPause(): void
  onError(error: FrameError): void
}

/** Where the bytes come from. */
type Source = Pick<RawConnection, 'pause' | 'resume' | 'discard'>

/** Reads the frames of one side of a socket, some in a turn. */
export class FramePump {
  readonly frames: FrameReader
  readonly #source: Source
  readonly #sink: PumpSink
  readonly #owner: () => Owner
  /** The unread bytes, oldest first. */
  #waiting: Buffer[] = []
  #at = 0
  /** How many reasons there are not to read. */
  #blocks = 0
  #isPumping = false
  #isStopped = false

  /** @param owner whose turns it takes */
  constructor(source: Source, sink: PumpSink, isMasked: boolean, owner: () => Owner) {
    this.#source = source
    this.#owner = owner
    this.#sink = sink
    this.frames = new FrameReader(sink, isMasked)
  }

  push(bytes: Buffer): void {
    if (this.#isStopped) return
    this.#waiting.push(bytes)
    this.#pump(pumpTurns.isBusy)
  }

  /** Reads no further until {@link unblock} has been called as often. */
  block(): void {
    if (this.#blocks++ === 0 && !this.#isStopped) this.#source.pause()
  }

  unblock(): void {
    this.#unblock(pumpTurns.isBusy)
  }

  /** Stops reading; later bytes are discarded. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#waiting = []
    this.#source.discard()
  }

  #unblock(isBusy: boolean): void {
    if (--this.#blocks > 0 || this.#isStopped) return
    this.#pump(isBusy)
    if (this.#blocks === 0) this.#source.resume()
  }

  /** @param isBusy it has to wait for its turn */
  #pump(isBusy: boolean): void {
    if (this.#isPumping || this.#blocks > 0 || this.#waiting.length === 0) return
    if (isBusy) return this.#waitForTurn()
    this.#isPumping = true
    const began = performance.now()
    try {
      this.#read(began)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.#sink.onError(error)
    } finally {
      this.#isPumping = false
      this.#sink.onPause()
      pumpTurns.spend(performance.now() - began)
    }
  }

  #read(began: number): void {
    for (let frames = 1; this.#blocks === 0 && !this.#isStopped; frames++) {
      const bytes = this.#waiting[0]
      if (bytes === undefined) return
      this.#at = this.frames.next(bytes, this.#at)
      if (this.#at >= bytes.length) {
        this.#waiting.shift()
        this.#at = 0
      }
      if (frames % FRAMES_PER_LOOK === 0 && performance.now() - began > PUMP_MS)
        return this.#waitForTurn()
    }
  }

  #waitForTurn(): void {
    this.block()
    pumpTurns.wait(this.#owner(), () => this.#unblock(false))
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
