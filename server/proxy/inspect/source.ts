// Supplies an inspection's bytes: a buffered body, raw or decoded, in pieces of one step.
import { STEP_BYTES } from './scheduler.ts'

/** Supplies the bytes of one body, in order. */
export interface Source {
  /** Whether the body has ended. */
  readonly ended: boolean
  /**
   * The next bytes, at most STEP_BYTES. `waiting`: there are none yet, and `resume` is called when
   * there are; `broken`: the body will never be complete.
   */
  next(resume: () => void): Buffer | 'waiting' | 'end' | 'broken'
  /** Stops reading. */
  close(): void
}

/** The pieces of a body, unchanged. */
export class PieceSource implements Source {
  readonly #pieces: readonly Buffer[]
  #at = 0
  #offset = 0

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces
  }

  get ended(): boolean {
    return this.#at === this.#pieces.length
  }

  next(): Buffer | 'end' {
    const piece = this.#pieces[this.#at]
    if (piece === undefined) return 'end'
    const from = this.#offset
    if (piece.length - from <= STEP_BYTES) {
      this.#at++
      this.#offset = 0
      return from === 0 ? piece : piece.subarray(from)
    }
    this.#offset = from + STEP_BYTES
    return piece.subarray(from, this.#offset)
  }

  close(): void {}
}
