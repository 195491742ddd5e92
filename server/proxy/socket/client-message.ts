// A message of a client while it comes. The mask is taken off where the bytes lie, so that they are
// held once, and put on again before they go up.
import { applyMask, frameHead, type FrameHead } from '../../http1/websocket/frames.ts'
import { PieceList } from '../inspect/piece-list.ts'
import { STEP_BYTES, type SlicedTask } from '../inspect/scheduler.ts'
import { keepPiece } from './frame-pump.ts'

/** Messages up to this size go up in one write. */
const ONE_WRITE_BYTES = 64 * 1024

/**
 * Collects one message. It holds at most twice the memory of its payload, however small its
 * fragments are. As a task, it puts the mask on again.
 */
export class ClientMessage implements SlicedTask {
  /** Monotonic milliseconds at which it began. */
  readonly since = performance.now()
  readonly opcode: number
  /** Frames so far, and their bytes with the heads. */
  frames = 0
  received = 0
  /** All of it has come. */
  isWhole = false
  readonly #payload = new PieceList()
  /** Of the only frame, as it came; null where there are several. */
  #head: Buffer | null = null
  #mask: Buffer
  #frameMask: Buffer
  /** Where the mask is put on again next: the piece, and the place in it and in the payload. */
  #piece = 0
  #at = 0
  #masked = 0

  constructor({ opcode, mask }: FrameHead) {
    this.opcode = opcode
    this.#mask = this.#frameMask = maskOf(mask)
  }

  /** Bytes of the payload so far. */
  get length(): number {
    return this.#payload.length
  }

  /** The payload so far; without the mask until the first step. */
  get pieces(): readonly Buffer[] {
    return this.#payload.all()
  }

  addFrame({ mask }: FrameHead, raw: Buffer): void {
    this.#frameMask = maskOf(mask)
    this.#head = this.frames === 0 ? raw : null
    // A view would keep alive what was read together with it.
    if (this.frames === 1) this.#mask = Buffer.from(this.#mask)
    this.frames++
    this.received += raw.length
  }

  /** @param raw as it came; it is changed @param at where it begins in the payload of its frame */
  addPayload(raw: Buffer, at: number): void {
    applyMask(raw, this.#frameMask, at)
    this.#payload.add(raw)
    this.received += raw.length
  }

  /** Puts the mask on the next bytes. */
  step(): 'more' | 'done' {
    const piece = this.pieces[this.#piece]
    if (piece === undefined) return 'done'
    const part = piece.subarray(this.#at, this.#at + STEP_BYTES)
    applyMask(part, this.#mask, this.#masked)
    this.#masked += part.length
    this.#at += part.length
    if (this.#at < piece.length) return 'more'
    this.#piece++
    this.#at = 0
    return this.#masked < this.length ? 'more' : 'done'
  }

  /** The message as one frame, once its mask is on again: what is sent, in one piece or several. */
  toFrame(): readonly Buffer[] {
    const parts = [this.#head ?? frameHead(this.opcode, this.length, this.#mask)]
    for (const piece of this.pieces) keepPiece(parts, piece)
    return parts.length > 1 && this.length <= ONE_WRITE_BYTES ? [Buffer.concat(parts)] : parts
  }
}

function maskOf(mask: Buffer | null): Buffer {
  if (mask === null) throw new TypeError('a frame of a client has a mask')
  return mask
}
