// An upstream's error, for the ledger: its first bytes as text.

/** Maximum bytes of the text that are kept. */
const MAX_TEXT_BYTES = 2_048

/** Keeps the beginning of one error in transit. */
export class ErrorText {
  readonly #pieces: Buffer[] = []
  #length = 0

  /** @param bytes decoded, and without our credential; the memory is lent for the call only */
  write(bytes: Buffer): void {
    if (this.#length === MAX_TEXT_BYTES) return
    // The kept bytes are copied, so that they do not keep a larger buffer alive.
    const piece = Buffer.from(bytes.subarray(0, MAX_TEXT_BYTES - this.#length))
    this.#pieces.push(piece)
    this.#length += piece.length
  }

  /** The text; null if there was none. */
  text(): string | null {
    try {
      // A character that is cut off at the end is left out.
      return (
        new TextDecoder('utf-8', { fatal: true })
          .decode(Buffer.concat(this.#pieces), { stream: true })
          .trim() || null
      )
    } catch {
      return null
    }
  }
}
