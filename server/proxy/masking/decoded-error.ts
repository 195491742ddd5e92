// Decodes a long encoded error on its way to the caller, to whom it is sent plain. Nothing is
// written before some of it is decoded, so that our own error can be sent if it cannot
// be decoded at all.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { Decoding } from '../forward/decoding.ts'

/** The sink of decoded bytes. */
export interface DecodedOutput {
  /** Enough has been decoded to write the head. */
  begin(): void
  write(bytes: Buffer): void
  end(): void
  /** Called if it cannot be decoded, or not to its end. */
  fail(): void
}

/** Bytes that are decoded before the first of them are written. */
const HELD_BYTES = 1024 * 1024
/** Maximum bytes decoded of one error, because it may be a bomb. */
const MAX_DECODED_BYTES = 16 * 1024 * 1024

/** Sends one error decoded. One per response. */
export class DecodedError {
  readonly #decoding: Decoding
  readonly #output: DecodedOutput
  #held: Buffer[] | null = []
  #length = 0
  #isOver = false

  /** @param owner the owner in whose turns it is read */
  constructor(codings: readonly string[], owner: Owner, output: DecodedOutput) {
    this.#output = output
    this.#decoding = new Decoding(
      codings,
      owner,
      (bytes) => this.#take(bytes),
      () => this.#finish(),
    )
  }

  /** Takes encoded bytes, which it keeps. */
  write(bytes: Buffer): void {
    if (!this.#isOver) this.#decoding.write(bytes)
  }

  end(): void {
    if (!this.#isOver) this.#decoding.end()
  }

  /** The result is no longer needed. */
  stop(): void {
    this.#isOver = true
    this.#decoding.stop()
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return
    this.#length += bytes.length
    if (this.#length > MAX_DECODED_BYTES) return this.#fail()
    this.#held?.push(bytes)
    if (this.#held === null) this.#output.write(bytes)
    else if (this.#length > HELD_BYTES) this.#release(this.#held)
  }

  #release(held: readonly Buffer[]): void {
    this.#held = null
    this.#output.begin()
    for (const bytes of held) this.#output.write(bytes)
  }

  #finish(): void {
    if (this.#isOver) return
    if (this.#decoding.hasFailed) return this.#fail()
    this.#isOver = true
    if (this.#held !== null) this.#release(this.#held)
    this.#output.end()
  }

  #fail(): void {
    this.stop()
    this.#output.fail()
  }
}
