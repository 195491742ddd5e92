// A body in memory, as pieces: large ones unchanged, small ones copied together. It is never one
// buffer. An inspection reads it in steps.
import { STEP_BYTES } from './scheduler.ts'

/**
 * From this size, a piece is kept uncopied, unless it is a small part of the memory that it keeps
 * alive.
 */
const LARGE_BYTES = 16 * 1024
/** Small pieces are copied into blocks that begin with this size, and grow with the body. */
const FIRST_BLOCK_BYTES = 1024
const MAX_BLOCK_BYTES = 64 * 1024

/**
 * Collects the pieces of one body. A body of several pieces takes at most twice the memory of its
 * bytes plus 1 KB, however small they are: a piece of one byte would keep alive everything that was
 * read from the socket with it.
 */
export class PieceList {
  /** Bytes in all pieces. */
  length = 0
  #pieces: Buffer[] = []
  /** The first piece, while it is the only one. */
  #lone: Buffer | null = null
  /**
   * The block that small pieces are copied into: `#from … #to` is not yet a piece, and the rest is
   * free.
   */
  #block: Buffer | null = null
  #from = 0
  #to = 0

  add(piece: Buffer): void {
    if (piece.length === 0) return
    // Most bodies are one piece, which is not copied unless a second one comes.
    if (this.#lone !== null) {
      this.#take(this.#lone)
      this.#lone = null
    }
    if (this.length === 0) this.#lone = piece
    else this.#take(piece)
    this.length += piece.length
  }

  /** All pieces so far, in order. */
  all(): readonly Buffer[] {
    if (this.#lone !== null) return [this.#lone]
    this.#close()
    return this.#pieces
  }

  #take(piece: Buffer): void {
    if (!isLarge(piece)) return this.#copy(piece)
    this.#close()
    this.#pieces.push(piece)
  }

  #copy(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      if (this.#block === null || this.#to === this.#block.length) {
        this.#close()
        this.#block = Buffer.allocUnsafeSlow(
          Math.min(MAX_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.length >> 1)),
        )
        this.#from = this.#to = 0
      }
      const copied = piece.copy(this.#block, this.#to, at)
      this.#to += copied
      at += copied
    }
  }

  /** Makes a piece of the copied bytes; the next small pieces use the rest of the block. */
  #close(): void {
    if (this.#block === null || this.#from === this.#to) return
    this.#pieces.push(this.#block.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}

function isLarge(piece: Buffer): boolean {
  return piece.length >= LARGE_BYTES && piece.length * 4 >= piece.buffer.byteLength * 3
}

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
