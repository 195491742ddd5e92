// The client's side: each message is held until it is complete and inspected, and forwarded in its
// original frames. Control frames are forwarded immediately.
import type { RawConnection, RawReader } from '../../http1/raw-connection.ts'
import { CLOSE, FrameError, OPCODE, type FrameHead } from '../../http1/websocket/frames.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import { ClientMessage, WholeMessage, type HeldMessage } from './client-message.ts'
import { FramePump, type PumpSink } from './frame-pump.ts'
import type { MessageInspector, StartsResponse } from './inspect-message.ts'
import { PieceBatch } from './piece-batch.ts'
import { costOf, pumpTurns } from './pump-turns.ts'
import type { SocketRows } from './socket-rows.ts'

/** Events of the client's side for its session. */
export interface ClientListener {
  /** A message may not be forwarded, or could not be inspected. */
  onRefused(error: unknown): void
  /** No row could be reserved for what a message may start. */
  onFull(): void
  /** The bytes are not WebSocket frames, or exceed a limit. */
  onBroken(error: FrameError): void
  /** The client has sent a close frame, which has been forwarded. */
  onCloseFrame(): void
  onClientEnd(): void
  onClientGone(): void
  onClientDrain(): void
  onShutdown(): void
}

/** Limits of the client's side: sizes in bytes, times in milliseconds. */
export interface ClientLimits {
  /** Maximum bytes of a request's body, and so of a message with the heads of its frames. */
  readonly body: number
  /** Milliseconds that a message may take before a minimum rate applies. */
  readonly grace: number
}

/**
 * Maximum bytes of a message if bodies may be longer: OpenAI's largest event has 15 MB of audio
 * (platform.openai.com/docs/api-reference/realtime-client-events/input_audio_buffer/append).
 */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024
/** Minimum average rate of a message after its grace period, in bytes per second. */
const MIN_RATE = 16 * 1024
/** Maximum number of fragments of a message, as in `ws`; in the longest message, 1.5 KB each. */
const MAX_FRAGMENTS = 16 * 1024
/** Payloads up to this size are masked synchronously, which takes some 50 µs. */
const MAX_SYNC_BYTES = 128 * 1024
const NO_ROOM = 'The proxy has no room for the message at the moment.'
/** More than this is sent immediately, without waiting for more. */
const MAX_UNSENT_BYTES = 64 * 1024

/**
 * How long the last messages of a client that has left may take to be forwarded (milliseconds).
 */
const LAST_MESSAGES_MS = 5_000

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
  /** The message being received; null between two. */
  #message: ClientMessage | null = null
  /** The message being inspected. */
  #inspected: HeldMessage | null = null
  /** Whether the message may be evicted to make room for others. */
  #isEvictable = false
  /** The control frame being received, unchanged. */
  #control: Buffer[] = []
  /** Bytes that may be forwarded and have not been sent. */
  readonly #unsent = new PieceBatch()
  #awaitsDrain = false
  /** The rest of a message that is being sent in turns. */
  #unsentFrames: Buffer[] = []
  /** Continues to send it when the provider accepts more. */
  #onDrained: (() => void) | null = null
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
    this.pump = new FramePump(client, this, true, () => inspector.owner)
  }

  /** Whether a message takes longer to arrive than it may. @param now monotonic milliseconds */
  isTooSlow(now: number): boolean {
    if (this.#message === null) return false
    const took = now - this.#message.since
    return took > this.#limits.grace && this.#message.received < (took / 1000) * MIN_RATE
  }

  onUpstreamDrain(): void {
    if (!this.#awaitsDrain) return
    this.#awaitsDrain = false
    this.#goOn()
    // It may have been a control frame in the middle of a message.
    if (this.#message === null && this.#inspected === null) this.#slot.releaseBytes()
    this.pump.unblock()
  }

  onData(bytes: Buffer): void {
    this.pump.push(bytes)
  }
  onEnd(): void {
    this.#whenRead(() => this.#listener.onClientEnd())
  }
  onClose(): void {
    this.#whenRead(() => this.#listener.onClientGone())
  }
  onDrain(): void {
    this.#listener.onClientDrain()
  }
  onShutdown(): void {
    this.#listener.onShutdown()
  }

  onWholeFrame(frame: FrameHead, raw: Buffer, at: number): void {
    const { opcode, isFinal, length } = frame
    if (opcode >= OPCODE.close) {
      this.#control = [raw]
      this.#passControl(opcode)
    } else if (isFinal && opcode !== OPCODE.continuation && length <= MAX_SYNC_BYTES) {
      this.#checkLength(raw.length)
      this.#hold(raw.length)
      this.#inspect(new WholeMessage(frame, raw, at))
    } else {
      this.#frame = frame
      this.#addFrame(frame, at)
      if (length > 0) this.onPayload(raw.subarray(at), 0)
      this.onFrameEnd()
    }
  }

  onFrame(frame: FrameHead, raw: Buffer): void {
    this.#frame = frame
    if (frame.opcode >= OPCODE.close) {
      this.#control = [raw]
    } else this.#addFrame(frame, raw.length)
  }

  #addFrame(frame: FrameHead, headLength: number): void {
    const message = (this.#message ??= new ClientMessage(frame))
    this.#checkLength(message.received + headLength + frame.length)
    if (message.fragments === MAX_FRAGMENTS)
      throw new FrameError(CLOSE.tooBig, `A message has more than ${MAX_FRAGMENTS} fragments.`)
    this.#hold(headLength + message.costOf(frame))
    message.addFrame(frame, headLength)
  }

  onPayload(raw: Buffer, at: number): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame, which has a mask
    if (this.#frame!.opcode >= OPCODE.close) return void this.#control.push(raw)
    this.#hold(raw.length)
    this.#message?.addPayload(raw, at)
  }

  onFrameEnd(): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame, which has a mask
    const { opcode, isFinal } = this.#frame!
    if (opcode >= OPCODE.close) return this.#passControl(opcode)
    if (!isFinal || this.#message === null) return
    const message = this.#message
    this.#message = null
    this.#forbidEviction()
    this.#inspect(message)
  }

  onPause(): void {
    this.#flush()
    if (this.#isEvictable || this.#message === null) return
    this.#isEvictable = true
    this.#slot.allowEviction(() => this.onError(new FrameError(CLOSE.tryAgain, NO_ROOM)))
  }

  onError(error: FrameError): void {
    this.#listener.onBroken(error)
  }

  #checkLength(bytes: number): void {
    const most = Math.min(MAX_MESSAGE_BYTES, this.#limits.body)
    if (bytes > most) throw new FrameError(CLOSE.tooBig, `A message is longer than ${most} bytes.`)
  }

  /** The client has left: what it sent before is still forwarded, if that does not take long. */
  #whenRead(call: () => void): void {
    if (this.pump.isRead) return this.pump.whenRead(call)
    let isCalled = false
    const once = (): void => {
      clearTimeout(late)
      if (!isCalled) call()
      isCalled = true
    }
    const late = setTimeout(once, LAST_MESSAGES_MS)
    this.pump.whenRead(once)
  }

  #hold(bytes: number): void {
    if (!this.#slot.holdBytes(bytes)) throw new FrameError(CLOSE.tryAgain, NO_ROOM)
  }

  #forbidEviction(): void {
    if (!this.#isEvictable) return
    this.#isEvictable = false
    this.#slot.forbidEviction()
  }

  #passControl(opcode: number): void {
    for (const piece of this.#control) this.#send(piece)
    this.#control = []
    if (opcode !== OPCODE.close) return
    this.#flush()
    // No frame may follow a close frame (RFC 6455, section 5.5.1).
    this.pump.stop()
    this.#listener.onCloseFrame()
  }

  #inspect(message: HeldMessage): void {
    this.#inspected = message
    const isBinary = message.opcode === OPCODE.binary
    try {
      const starts = this.#inspector.inspect(isBinary, message.pieces, message.length)
      if (starts instanceof Promise) void this.#wait(starts)
      else this.#admit(starts)
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** Reads nothing until it is known whether a message may be forwarded. */
  async #wait(starts: Promise<StartsResponse>): Promise<void> {
    this.pump.block()
    try {
      this.#admit(await starts)
    } catch (error) {
      this.#refuse(error)
    }
    this.#flush()
    this.pump.unblock()
  }

  #admit(starts: StartsResponse): void {
    if (starts === 'no') return this.#pass()
    const ready = this.#rows.ready()
    if (ready === true) return this.#start(starts)
    // While the last response that the limit allows is in progress, messages that could start
    // another are dropped: a microphone keeps sending, and must not cut the response short. The
    // socket closes when it ends.
    if (ready === false)
      return starts === 'perhaps' && this.#rows.isFinishing ? this.#drop() : this.#refuseFull()
    void this.#waitForRow(ready, starts)
  }

  /** Reads nothing until it is known whether a row is available. */
  async #waitForRow(ready: Promise<void>, starts: StartsResponse): Promise<void> {
    this.pump.block()
    await ready
    this.#admit(starts)
    this.#flush()
    this.pump.unblock()
  }

  #start(starts: StartsResponse): void {
    if (starts === 'yes') this.#rows.awaitResponse()
    else this.#rows.pace()
    this.#pass()
  }

  #pass(): void {
    const message = this.#inspected
    if (message === null) return
    if (message.effort > MAX_SYNC_BYTES) return void this.#passInSlices(message)
    while (message.step() === 'more');
    this.#sendMessage(message)
  }

  /** Reads nothing until the message is masked again and sent. */
  async #passInSlices(message: HeldMessage): Promise<void> {
    this.pump.block()
    await this.#inspector.runSliced(message)
    await this.#sendInTurns(message)
    this.#flush()
    this.pump.unblock()
  }

  /**
   * Sends the message in turns with the frames of other sockets: the system would copy all of it in
   * one call, which takes 20 ms for 24 MB.
   */
  async #sendInTurns(message: HeldMessage): Promise<void> {
    if (this.#isClosed) return
    this.#unsentFrames = [...message.toFrames()]
    while (this.#unsentFrames.length > 0) {
      if (pumpTurns.isBusy)
        await new Promise<void>((resolve) => pumpTurns.defer(this.#inspector.owner, resolve, 0))
      if (this.#awaitsDrain) await new Promise<void>((resolve) => (this.#onDrained = resolve))
      const piece = this.#unsentFrames.shift()
      if (piece === undefined) return
      pumpTurns.spend(costOf(piece.length))
      this.#send(piece)
    }
    this.#releaseSent()
  }

  #sendMessage(message: HeldMessage): void {
    for (const piece of message.toFrames()) this.#send(piece)
    this.#releaseSent()
  }

  #releaseSent(): void {
    this.#inspected = null
    // Bytes that the provider does not accept yet are still held.
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

  /** The session has ended: stops forwarding. */
  close(): void {
    // A close frame may follow.
    for (const piece of this.#unsentFrames.splice(0)) this.#send(piece)
    this.#flush()
    this.#isClosed = true
    this.pump.stop()
    this.#goOn()
    this.#drop()
  }

  #goOn(): void {
    this.#onDrained?.()
    this.#onDrained = null
  }

  #drop(): void {
    this.#message = this.#inspected = null
    this.#forbidEviction()
    this.#slot.releaseBytes()
  }

  #send(bytes: Buffer): void {
    this.#unsent.add(bytes)
    if (this.#unsent.bytes > MAX_UNSENT_BYTES) this.#flush()
  }

  /** Sends what may be forwarded; bytes that came together are sent in one write. */
  #flush(): void {
    const { bytes } = this.#unsent
    if (bytes === 0 || this.#isClosed) return
    this.#rows.countUp(bytes)
    if (bytes > MAX_UNSENT_BYTES) for (const piece of this.#unsent.takePieces()) this.#write(piece)
    else this.#write(this.#unsent.take())
  }

  #write(bytes: Buffer): void {
    if (this.#upstream.writeLast(bytes) || this.#awaitsDrain) return
    this.#awaitsDrain = true
    this.pump.block()
  }
}
