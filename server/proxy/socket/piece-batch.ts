// Collects pieces of memory that are sent in one write.

const NO_BYTES = Buffer.alloc(0)

/** Collects pieces. Nearly always there is one, which needs no list and no copy. */
export class PieceBatch {
  /** Bytes in all pieces. */
  bytes = 0
  #first: Buffer | null = null
  /** The pieces after the first; null if there are none. */
  #others: Buffer[] | null = null

  add(piece: Buffer): void {
    this.bytes += piece.length
    if (this.#first === null) this.#first = piece
    else if (this.#others !== null) addPiece(this.#others, piece)
    else if (directlyFollows(this.#first, piece)) this.#first = joined(this.#first, piece)
    else this.#others = [piece]
  }

  /** Takes everything out; pieces that follow each other in memory are one. */
  takePieces(): Buffer[] {
    const pieces = this.#first === null ? [] : [this.#first, ...(this.#others ?? [])]
    this.clear()
    return pieces
  }

  /** Takes everything out in one piece, which is a copy if there are several. */
  take(): Buffer {
    const first = this.#first ?? NO_BYTES
    const others = this.#others
    this.clear()
    return others === null ? first : Buffer.concat([first, ...others])
  }

  clear(): void {
    this.bytes = 0
    this.#first = this.#others = null
  }
}

function addPiece(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1)
  if (last !== undefined && directlyFollows(last, piece))
    pieces[pieces.length - 1] = joined(last, piece)
  else pieces.push(piece)
}

/** Whether a piece directly follows another in memory. */
const directlyFollows = (last: Buffer, piece: Buffer): boolean =>
  last.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset

const joined = (last: Buffer, piece: Buffer): Buffer =>
  Buffer.from(piece.buffer, last.byteOffset, last.length + piece.length)
