// A client's message while it arrives. It is unmasked in place, so that its bytes are held once,
// and masked again before it is forwarded.
import { applyMask, type FrameHead } from '../../http1/websocket/frames.ts'
import { PieceList } from '../inspect/piece-list.ts'
import { STEP_BYTES, type SlicedTask } from '../inspect/scheduler.ts'

/** The cost of one more fragment besides its bytes, in bytes: memory for it, and time. */
const FRAGMENT_BYTES = 256

/** A frame of the message: its head as it came, the mask at its end, and its payload's length. */
interface Fragment {
  readonly head: Buffer
  readonly mask: Buffer
  readonly length: number
}

/**
 * Collects one message. As a task, it masks it again; its frames are forwarded unchanged. Several
 * frames are copied together, because many are small.
 */
export class ClientMessage implements SlicedTask {
  /** Monotonic milliseconds at which it began. */
  readonly since = performance.now()
  readonly opcode: number
  /** Its bytes so far, with the heads. */
  received = 0
  /** All of it has come. */
  isWhole = false
  readonly #fragments: Fragment[] = []
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

  /** Bytes of the payload so far. */
  get length(): number {
    return this.#payload.length
  }

  /** Frames so far. */
  get fragments(): number {
    return this.#fragments.length
  }

  /** The cost of masking again, in bytes. */
  get effort(): number {
    return this.length + this.fragments * FRAGMENT_BYTES
  }

  /** The payload so far; without the masks until the first step. */
  get pieces(): readonly Buffer[] {
    return this.#payload.all()
  }

  /** Bytes for the next frame besides its own: several frames are copied. */
  costOf({ length }: FrameHead): number {
    if (this.fragments === 0) return 0
    return FRAGMENT_BYTES + length + (this.fragments === 1 ? this.received : 0)
  }

  addFrame({ mask, length }: FrameHead, raw: Buffer): void {
    if (mask === null) throw new TypeError('a frame of a client has a mask')
    // A view would keep the whole read buffer alive.
    const isFirst = this.fragments === 0
    const head = isFirst ? raw : Buffer.from(raw)
    this.#fragments.push({ head, mask: isFirst ? mask : head.subarray(-mask.length), length })
    this.received += raw.length
  }

  /** @param raw as it came; it is changed @param at where it begins in the payload of its frame */
  addPayload(raw: Buffer, at: number): void {
    const last = this.#fragments.at(-1)
    if (last !== undefined) applyMask(raw, last.mask, at)
    this.#payload.add(raw)
    this.received += raw.length
  }

  /** Puts the mask on the next bytes. */
  step(): 'more' | 'done' {
    const { pieces } = this
    for (let left = STEP_BYTES; left > 0;) {
      const fragment = this.#fragments[this.#fragment]
      if (fragment === undefined) return 'done'
      if (this.#done === 0 && this.fragments > 1) this.#frames.add(fragment.head)
      const piece = pieces[this.#piece]
      if (piece !== undefined && this.#done < fragment.length) {
        const part = piece.subarray(
          this.#at,
          this.#at + Math.min(left, fragment.length - this.#done),
        )
        applyMask(part, fragment.mask, this.#done)
        if (this.fragments > 1) this.#frames.add(part)
        this.#done += part.length
        this.#at += part.length
        left -= part.length
        if (this.#at === piece.length) {
          this.#piece++
          this.#at = 0
        }
      }
      if (piece !== undefined && this.#done < fragment.length) continue
      this.#fragment++
      this.#done = 0
      left -= FRAGMENT_BYTES
    }
    return 'more'
  }

  /** The message in its frames, masked again: the pieces to send. */
  toFrames(): readonly Buffer[] {
    const [only] = this.#fragments
    return this.fragments === 1 && only !== undefined
      ? [only.head, ...this.pieces]
      : this.#frames.all()
  }
}
