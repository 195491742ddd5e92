// A client's message while it is held. It is unmasked in place, so that its bytes are stored only
// once, and masked again before it is forwarded.
import { applyMask, headBytes, OPCODE, type FrameHead } from '../../http1/websocket/frames.ts'
import { PieceList } from '../inspect/buffer-body.ts'
import { STEP_BYTES, type SlicedTask } from '../inspect/scheduler.ts'

/** The cost of a fragment in addition to its bytes, in bytes: memory and time. */
const FRAGMENT_BYTES = 256

/** A held message. As a task, it masks itself again. */
export interface HeldMessage extends SlicedTask {
  readonly opcode: number
  /** Bytes of the payload so far. */
  readonly length: number
  /** The cost of masking again, in bytes. */
  readonly effort: number
  /** The payload so far; unmasked until the first step. */
  readonly pieces: readonly Buffer[]
  step(): 'more' | 'done'
  /** The message in its frames, masked again: the pieces to send. */
  toFrames(): readonly Buffer[]
}

/** A message of one frame that arrived whole, as most do. */
export class WholeMessage implements HeldMessage {
  readonly opcode: number
  readonly length: number
  readonly pieces: readonly Buffer[]
  readonly #raw: Buffer
  readonly #mask: number

  /** @param raw the frame with its head; it is modified @param at where its payload begins */
  constructor({ opcode, mask, length }: FrameHead, raw: Buffer, at: number) {
    this.opcode = opcode
    this.length = length
    this.#raw = raw
    this.#mask = wantMask(mask)
    this.pieces = length === 0 ? [] : [raw.subarray(at)]
    this.step()
  }

  get effort(): number {
    return this.length
  }

  /** Removes the mask, or applies it. */
  step(): 'done' {
    for (const payload of this.pieces) applyMask(payload, this.#mask, 0)
    return 'done'
  }

  toFrames(): readonly Buffer[] {
    return [this.#raw]
  }
}

function wantMask(mask: number | null): number {
  if (mask === null) throw new TypeError('a frame of a client has a mask')
  return mask
}

/**
 * Collects one message. As a task, it masks it again; its frames are forwarded unchanged. Several
 * frames are copied together, because many are small, and only numbers are kept of each: thousands
 * of objects would survive many collections of garbage.
 */
export class ClientMessage implements HeldMessage {
  /** Monotonic milliseconds at which it began. */
  readonly since = performance.now()
  readonly opcode: number
  /** Its bytes so far, with the heads. */
  received = 0
  /** The mask and the payload's length of each frame. */
  readonly #masks: number[] = []
  readonly #lengths: number[] = []
  readonly #payload = new PieceList()
  /** The outbound bytes, if there are several fragments. */
  readonly #frames = new PieceList()
  /**
   * The next position to mask: the fragment and the offset in it, the piece and the offset in it.
   */
  #fragment = 0
  #done = 0
  #piece = 0
  #at = 0

  constructor({ opcode }: FrameHead) {
    this.opcode = opcode
  }

  get length(): number {
    return this.#payload.length
  }

  /** Frames so far. */
  get fragments(): number {
    return this.#masks.length
  }

  get effort(): number {
    return this.length + this.fragments * FRAGMENT_BYTES
  }

  get pieces(): readonly Buffer[] {
    return this.#payload.all()
  }

  /** Extra bytes for the next frame, because several frames are copied. */
  costOf({ length }: FrameHead): number {
    if (this.fragments === 0) return 0
    return FRAGMENT_BYTES + length + (this.fragments === 1 ? this.received : 0)
  }

  /** @param headLength the bytes of its head */
  addFrame({ mask, length }: FrameHead, headLength: number): void {
    this.#masks.push(wantMask(mask))
    this.#lengths.push(length)
    this.received += headLength
  }

  /**
   * @param raw as received; it is modified @param at where it begins in the payload of its frame
   */
  addPayload(raw: Buffer, at: number): void {
    const mask = this.#masks.at(-1)
    if (mask !== undefined) applyMask(raw, mask, at)
    this.#payload.add(raw)
    this.received += raw.length
  }

  /** Applies the mask to the next bytes. */
  step(_resume?: () => void, bytes = STEP_BYTES): 'more' | 'done' {
    const { pieces } = this
    for (let left = bytes; left > 0;) {
      const mask = this.#masks[this.#fragment]
      const length = this.#lengths[this.#fragment]
      if (mask === undefined || length === undefined) return 'done'
      if (this.#done === 0 && this.fragments > 1) this.#frames.add(this.#head(mask, length))
      const piece = pieces[this.#piece]
      if (piece !== undefined && this.#done < length) {
        const part = piece.subarray(this.#at, this.#at + Math.min(left, length - this.#done))
        applyMask(part, mask, this.#done)
        if (this.fragments > 1) this.#frames.add(part)
        this.#done += part.length
        this.#at += part.length
        left -= part.length
        if (this.#at === piece.length) {
          this.#piece++
          this.#at = 0
        }
      }
      if (piece !== undefined && this.#done < length) continue
      this.#fragment++
      this.#done = 0
      left -= FRAGMENT_BYTES
    }
    return 'more'
  }

  toFrames(): readonly Buffer[] {
    const [mask] = this.#masks
    if (this.fragments > 1 || mask === undefined) return this.#frames.all()
    const { opcode, length } = this
    return [headBytes({ opcode, isFinal: true, length, mask }), ...this.pieces]
  }

  /** The head of the current fragment. */
  #head(mask: number, length: number): Buffer {
    const opcode = this.#fragment === 0 ? this.opcode : OPCODE.continuation
    const isFinal = this.#fragment === this.fragments - 1
    return headBytes({ opcode, isFinal, length, mask })
  }
}
