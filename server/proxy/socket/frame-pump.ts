// One direction of a socket: reads frames from one connection, in turns with other sockets, and
// stops reading while it is blocked.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { RawConnection } from '../../http1/raw-connection.ts'
import { FrameError, FrameReader, type FrameSink } from '../../http1/websocket/frames.ts'
import { costOf, endTurns, PUMP_COST, pumpTurns } from './pump-turns.ts'

/**
 * One frame of a piece up to this size is read without waiting for a turn: most pieces are one
 * frame of audio or text, and a turn would cost as much as the frame.
 */
const SMALL_BYTES = 4 * 1024

/** Receives the frames of one direction. */
export interface PumpSink extends FrameSink {
  /** All bytes so far have been read: a whole piece, or as much as possible now. */
  onPause(): void
  onError(error: FrameError): void
}

/** The source of the bytes. */
type Source = Pick<RawConnection, 'pause' | 'resume' | 'discard'>

/** Reads the frames of one side of a socket, a few per turn. */
export class FramePump {
  readonly frames: FrameReader
  readonly #source: Source
  readonly #sink: PumpSink
  readonly #owner: () => Owner
  /** The piece being read, and the position in it; null between two pieces. */
  #bytes: Buffer | null = null
  #at = 0
  /** The pieces after it. */
  #waiting: Buffer[] = []
  /** Number of reasons not to read. */
  #blocks = 0
  #isPumping = false
  #isStopped = false
  /** Called when everything has been read. */
  #onRead: (() => void)[] = []

  /** @param owner the owner in whose turns it reads */
  constructor(source: Source, sink: PumpSink, isMasked: boolean, owner: () => Owner) {
    this.#source = source
    this.#owner = owner
    this.#sink = sink
    this.frames = new FrameReader(sink, isMasked)
  }

  push(bytes: Buffer): void {
    if (this.#isStopped) return
    if (this.#bytes === null) this.#bytes = bytes
    else this.#waiting.push(bytes)
    this.#pump(pumpTurns.isBusy)
  }

  /** Stops reading until {@link unblock} has been called as often. */
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
    this.#bytes = null
    this.#waiting = []
    this.#source.discard()
    this.#tellIfRead()
  }

  /** Whether all received bytes have been read, or reading has stopped. */
  get isRead(): boolean {
    return this.#isStopped || (this.#bytes === null && this.#blocks === 0 && !this.#isPumping)
  }

  /** Calls `then` in turn when all received bytes have been read, or reading has stopped. */
  whenRead(then: () => void): void {
    this.#onRead.push(then)
    this.#tellIfRead()
  }

  #tellIfRead(): void {
    if (!this.isRead) return
    for (const call of this.#onRead.splice(0)) endTurns.defer(this.#owner(), call)
  }

  #unblock(isBusy: boolean): void {
    if (--this.#blocks > 0 || this.#isStopped) return
    this.#pump(isBusy)
    this.#tellIfRead()
    if (this.#blocks === 0) this.#source.resume()
  }

  /** @param isBusy whether it has to wait for its turn, except for a small piece */
  #pump(isBusy: boolean): void {
    const bytes = this.#bytes
    if (this.#isPumping || this.#blocks > 0 || bytes === null) return
    const isSmall = this.#waiting.length === 0 && this.#at === 0 && bytes.length <= SMALL_BYTES
    if (isBusy && !isSmall) return this.#waitForTurn()
    this.#isPumping = true
    try {
      this.#read(isBusy ? 0 : PUMP_COST)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.#sink.onError(error)
    } finally {
      this.#isPumping = false
      this.#sink.onPause()
    }
  }

  /** Reads at least one frame. @param most the cost after which the rest has to wait */
  #read(most: number): void {
    let left = most
    while (this.#blocks === 0 && this.#bytes !== null) {
      const from = this.#at
      const to = (this.#at = this.frames.next(this.#bytes, from))
      const cost = costOf(to - from)
      left -= cost
      pumpTurns.spend(cost)
      // The frames that were read may have stopped it.
      if (to >= (this.#bytes?.length ?? 0)) {
        this.#bytes = this.#waiting.shift() ?? null
        this.#at = 0
        if (this.#bytes === null) return
      }
      if (left <= 0) return this.#waitForTurn()
    }
  }

  #waitForTurn(): void {
    this.block()
    pumpTurns.defer(this.#owner(), () => this.#unblock(false), 0)
  }
}
