// An upstream's error, for the ledger: its first bytes as text, without our credential.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import { codingsOf, Decoding } from './content-decoding.ts'
import type { Mask } from '../masking/mask.ts'

/** Maximum bytes of the text that are kept. */
export const MAX_TEXT_BYTES = 2_048
/** Bytes read beyond that, so that a credential at the cut is seen whole. */
const MARGIN_BYTES = 4_096
/** Maximum bytes of an encoded error that are decoded. */
const MAX_ENCODED = 65_536
/** Reads the beginning of one error in transit. */
export class ErrorText {
  readonly #mask: Mask
  readonly #pieces: Buffer[] = []
  readonly #decoding: Decoding | null
  readonly #decoded: Promise<void> | null
  #length = 0
  #encoded = 0

  /** @param owner the owner in whose turns a compressed error is read */
  constructor(headers: RawHeaders, mask: Mask, owner: Owner) {
    this.#mask = mask
    const codings = codingsOf(headers) ?? []
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#decoding =
      codings.length === 0
        ? null
        : new Decoding(codings, owner, (bytes) => this.#keep(bytes), resolve)
    this.#decoded = this.#decoding === null ? null : promise
  }

  /** The memory is lent for the call only. */
  write(bytes: Buffer): void {
    if (this.#length >= MAX_TEXT_BYTES + MARGIN_BYTES || this.#encoded >= MAX_ENCODED) return
    if (this.#decoding === null) return this.#keep(bytes)
    this.#encoded += bytes.length
    this.#decoding.write(Buffer.from(bytes.subarray(0, MAX_ENCODED)))
  }

  /** The text; null if there was none. Synchronous, unless it has to be decoded. */
  end(): string | null | Promise<string | null> {
    if (this.#decoded === null) return this.#text()
    this.#decoding?.end()
    return this.#decoded.then(() => this.#text())
  }

  #keep(bytes: Buffer): void {
    if (this.#length >= MAX_TEXT_BYTES + MARGIN_BYTES) return
    // The kept bytes are copied, so that they do not keep a larger buffer alive.
    const piece = Buffer.from(bytes.subarray(0, MAX_TEXT_BYTES + MARGIN_BYTES - this.#length))
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length >= MAX_TEXT_BYTES + MARGIN_BYTES) this.#decoding?.stop()
  }

  #text(): string | null {
    const { masked, begun } = this.#mask.search(Buffer.concat(this.#pieces))
    const whole = masked.subarray(0, Math.min(masked.length - begun, MAX_TEXT_BYTES))
    try {
      // A character that is cut off at the end is left out.
      return (
        new TextDecoder('utf-8', { fatal: true }).decode(whole, { stream: true }).trim() || null
      )
    } catch {
      return null
    }
  }
}
