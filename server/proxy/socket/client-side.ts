// What comes from the client: each message is held until it is whole and has been inspected, and
// goes up as it came. Control frames pass at once.
import type { RawConnection, RawReader } from '../../http1/raw-connection.ts'
import {
  CLOSE,
  FrameError,
  OPCODE,
  unmasked,
  type FrameHead,
} from '../../http1/websocket/frames.ts'
import type { RequestSlot } from '../shares/request-shares.ts'
import { FramePump, keepPiece, type PumpSink } from './frame-pump.ts'
import type { MessageInspector, StartsResponse } from './inspect-message.ts'
import type { SocketRows } from './socket-rows.ts'

/** What the client's side tells its session. */
export interface ClientListener {
  /** A message may not pass, or could not be inspected. */
  onRefused(error: unknown): void
  /** No row could be reserved for what a message may start. */
  onFull(): void
  /** What came is no WebSocket, or too much of one. */
  onBroken(error: FrameError): void
  /** The client has said that it closes; the frame has gone up. */
  onCloseFrame(): void
  onClientEnd(): void
  onClientGone(): void
  onClientDrain(): void
  onShutdown(): void
}

/** Limits of what comes from the client: sizes in bytes, times in milliseconds. */
export interface ClientLimits {
  /** Bytes of a message, with the heads of its frames. */
  readonly message: number
  /** Milliseconds that a message may take before it has to come at a certain pace. */
  readonly grace: number
}

/** Bytes a second at which a message has to come, on average, once its grace is over. */
const MIN_RATE = 16 * 1024
/** Pieces of a message up to this size go up as one. */
const ONE_WRITE_BYTES = 64 * 1024

/** Reads the frames of the client. One per socket. */
export class ClientSide implements RawReader, PumpSink {
  readonly pump: FramePump
  readonly #upstream: RawConnection
  readonly #inspector: MessageInspector
  readonly #rows: SocketRows
  readonly #slot: RequestSlot
  readonly #limits: ClientLimits
  readonly #listener: ClientListener
  #frame: FrameHead | null = null
  /** The opcode of the message that is coming, and its bytes: as they came, and without masks. */
  #opcode = 0
  #raw: Buffer[] = []
  #rawBytes = 0
  #payload: Buffer[] = []
  #payloadBytes = 0
  /** Monotonic milliseconds at which the message began; null between two. */
  #since: number | null = null
  /** The control frame that is coming, as it came. */
  #control: Buffer[] = []
  #awaitsDrain = false
  #isClosed = false

  constructor(
    client: RawConnection,
    upstream: RawConnection,
    inspector: MessageInspector,
    rows: SocketRows,
    slot: RequestSlot,
    limits: ClientLimits,
    listener: ClientListener,
  ) {
    this.#upstream = upstream
    this.#inspector = inspector
    this.#rows = rows
    this.#slot = slot
    this.#limits = limits
    this.#listener = listener
    this.pump = new FramePump(client, this, true)
  }

  /** Whether a message takes longer to come than it may. @param now monotonic milliseconds */
  isTooSlow(now: number): boolean {
    if (this.#since === null) return false
    const took = now - this.#since
    return took > this.#limits.grace && this.#rawBytes < (took / 1000) * MIN_RATE
  }

  onUpstreamDrain(): void {
    if (!this.#awaitsDrain) return
    this.#awaitsDrain = false
    this.#slot.releaseBytes()
    this.pump.unblock()
  }

  onData(bytes: Buffer): void {
    this.pump.push(bytes)
  }
  onEnd(): void {
    this.#listener.onClientEnd()
  }
  onClose(): void {
    this.#listener.onClientGone()
  }
  onDrain(): void {
    this.#listener.onClientDrain()
  }
  onShutdown(): void {
    this.#listener.onShutdown()
  }

  onFrame(frame: FrameHead, raw: Buffer): void {
    this.#frame = frame
    if (frame.opcode >= OPCODE.close) {
      this.#control = [raw]
      return
    }
    if (frame.opcode !== OPCODE.continuation) {
      this.#opcode = frame.opcode
      this.#since = performance.now()
    }
    if (this.#rawBytes + raw.length + frame.length > this.#limits.message)
      throw new FrameError(CLOSE.tooBig, `A message is longer than ${this.#limits.message} bytes.`)
    this.#hold(raw)
  }

  onPayload(raw: Buffer, at: number): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame, which has a mask
    const { opcode, mask } = this.#frame!
    if (opcode >= OPCODE.close) return void this.#control.push(raw)
    this.#hold(raw)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame, which has a mask
    this.#payload.push(unmasked(raw, mask!, at))
    this.#payloadBytes += raw.length
  }

  onFrameEnd(): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame, which has a mask
    const { opcode, isFinal } = this.#frame!
    if (opcode >= OPCODE.close) return this.#passControl(opcode)
    if (isFinal) this.#inspect()
  }

  onPause(): void {}

  onError(error: FrameError): void {
    this.#listener.onBroken(error)
  }

  /** Keeps bytes as they came: their memory is counted twice, for there is a copy without mask. */
  #hold(raw: Buffer): void {
    if (!this.#slot.holdBytes(raw.length * 2))
      throw new FrameError(CLOSE.tryAgain, 'The proxy has no room for the message at the moment.')
    keepPiece(this.#raw, raw)
    this.#rawBytes += raw.length
  }

  #passControl(opcode: number): void {
    const frame = Buffer.concat(this.#control)
    this.#control = []
    this.#send(frame)
    if (opcode !== OPCODE.close) return
    // Nothing may follow it (RFC 6455, section 5.5.1).
    this.pump.stop()
    this.#listener.onCloseFrame()
  }

  #inspect(): void {
    this.#since = null
    const isBinary = this.#opcode === OPCODE.binary
    try {
      const message = this.#inspector.inspect(isBinary, this.#payload, this.#payloadBytes)
      if (message instanceof Promise) void this.#wait(message)
      else this.#admit(message)
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** Reads nothing until it is known whether a message may pass. */
  async #wait(message: Promise<StartsResponse>): Promise<void> {
    this.pump.block()
    try {
      this.#admit(await message)
    } catch (error) {
      this.#refuse(error)
    }
    this.pump.unblock()
  }

  #admit(starts: StartsResponse): void {
    if (starts === 'no') return this.#pass()
    const ready = this.#rows.ready()
    if (ready === true) return this.#start(starts)
    if (ready === false) return this.#refuseFull()
    void this.#waitForRow(ready, starts)
  }

  /** Reads nothing until it is known whether there is a row. */
  async #waitForRow(ready: Promise<void>, starts: StartsResponse): Promise<void> {
    this.pump.block()
    await ready
    this.#admit(starts)
    this.pump.unblock()
  }

  #start(starts: StartsResponse): void {
    if (starts === 'yes') this.#rows.claim()
    else this.#rows.pace()
    this.#pass()
  }

  #pass(): void {
    const raw = this.#raw
    const length = this.#rawBytes
    this.#forget()
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame, which has a mask
    if (length <= ONE_WRITE_BYTES) this.#send(raw.length === 1 ? raw[0]! : Buffer.concat(raw))
    else for (const piece of raw) this.#send(piece)
    // What the provider does not take yet is still held.
    if (!this.#awaitsDrain) this.#slot.releaseBytes()
  }

  #refuse(error: unknown): void {
    this.#drop()
    if (!this.#isClosed) this.#listener.onRefused(error)
  }

  #refuseFull(): void {
    this.#drop()
    if (!this.#isClosed) this.#listener.onFull()
  }

  /** The session has ended: nothing more goes up. */
  close(): void {
    this.#isClosed = true
    this.pump.stop()
    this.#drop()
  }

  #drop(): void {
    this.#forget()
    this.#slot.releaseBytes()
  }

  #forget(): void {
    this.#raw = []
    this.#payload = []
    this.#rawBytes = this.#payloadBytes = 0
  }

  #send(bytes: Buffer): void {
    if (this.#isClosed) return
    this.#rows.countUp(bytes.length)
    if (this.#upstream.write(bytes) || this.#awaitsDrain) return
    this.#awaitsDrain = true
    this.pump.block()
  }
}
