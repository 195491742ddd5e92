// Removes transport padding from a form: spaces and tabs that a program may write after a boundary
// (RFC 2046, section 5.1.1). The parser takes them for a part's first header, and then finds none.
import { PassThrough, Transform, type TransformCallback } from 'node:stream'

const SPACE = 0x20
const TAB = 0x09
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"\\]+)"|([^\s;"]+))/i

/**
 * A form without its padding.
 *
 * @param type the form's Content-Type
 */
export function withoutPadding(type: string): Transform {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  const boundary = quoted ?? plain
  return boundary === undefined ? new PassThrough() : new PaddingRemover(boundary)
}

/** Passes pieces on as they are; where one has padding, in two parts around it. */
class PaddingRemover extends Transform {
  readonly #delimiter: Buffer
  /** The last bytes, with which a delimiter may begin. A form begins as if after a line end. */
  #tail: Buffer = Buffer.from('\r\n')
  #isAfterDelimiter = false

  constructor(boundary: string) {
    super()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = this.#isAfterDelimiter ? endOfPadding(piece, 0) : 0
    this.#isAfterDelimiter = this.#isAfterDelimiter && from === piece.length
    for (let end = this.#across(piece); end >= 0; end = this.#next(piece, end)) {
      const padded = endOfPadding(piece, end)
      if (padded > end) {
        this.push(piece.subarray(from, end))
        from = padded
      }
      this.#isAfterDelimiter = padded === piece.length
    }
    const last = Buffer.concat([this.#tail, piece.subarray(-this.#delimiter.length)])
    this.#tail = last.subarray(1 - this.#delimiter.length)
    done(null, piece.subarray(from))
  }

  /** The end of a delimiter that began in an earlier piece, or of the first one in this piece. */
  #across(piece: Buffer): number {
    const { length } = this.#delimiter
    const seam = Buffer.concat([this.#tail, piece.subarray(0, length - 1)])
    const at = seam.indexOf(this.#delimiter)
    return at < 0 ? this.#next(piece, 0) : at + length - this.#tail.length
  }

  /** The end of the next delimiter in a piece, −1 if there is none. */
  #next(piece: Buffer, from: number): number {
    const at = piece.indexOf(this.#delimiter, from)
    return at < 0 ? -1 : at + this.#delimiter.length
  }
}

function endOfPadding(piece: Buffer, from: number): number {
  let end = from
  while (piece[end] === SPACE || piece[end] === TAB) end++
  return end
}
