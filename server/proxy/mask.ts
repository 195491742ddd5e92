// Finds our credential where an upstream's error repeats it, and puts as many asterisks in its place.
import type { RawHeaders } from '../http/fields.ts'

/** Shorter ones are placeholders of servers that want none ("none", "EMPTY"), and words of any text. */
const SHORTEST_SECRET = 8
const STAR = 0x2a

const NOTHING = Buffer.alloc(0)

export class Mask {
  /** The longest first, so that no part of one is taken for another. */
  readonly #spellings: readonly string[]
  readonly #bytes: readonly Buffer[]

  constructor(secret: string) {
    this.#spellings = secret.length < SHORTEST_SECRET ? [] : spellingsOf(secret)
    this.#bytes = this.#spellings.map((spelling) => Buffer.from(spelling, 'latin1'))
  }

  /** A text of a head without the credential. */
  text(text: string): string {
    let masked = text
    for (const spelling of this.#spellings) if (masked.includes(spelling)) masked = masked.replaceAll(spelling, '*'.repeat(spelling.length))
    return masked
  }

  /** A raw list without the credential in its values. */
  headers(raw: RawHeaders): RawHeaders {
    return raw.map((text, i) => (i % 2 === 0 ? text : this.text(text)))
  }

  /** The bytes without the credential: themselves where it does not stand in them, else a copy. */
  bytes(bytes: Buffer): Buffer {
    let masked = bytes
    for (const spelling of this.#bytes) {
      for (let at = masked.indexOf(spelling); at >= 0; at = masked.indexOf(spelling, at + spelling.length)) {
        if (masked === bytes) masked = Buffer.from(bytes)
        masked.fill(STAR, at, at + spelling.length)
      }
    }
    return masked
  }

  /** How many of the last bytes may be the beginning of the credential. */
  begun(bytes: Buffer): number {
    let longest = 0
    for (const spelling of this.#bytes) {
      const from = Math.max(0, bytes.length - spelling.length + 1)
      for (let at = bytes.indexOf(spelling[0]!, from); at >= 0; at = bytes.indexOf(spelling[0]!, at + 1)) {
        const length = bytes.length - at
        if (length <= longest) break
        if (bytes.compare(spelling, 0, length, at) === 0) longest = length
      }
    }
    return longest
  }
}

/** Masks bytes that come in pieces; of each only what may be the beginning of the credential waits for the next one. */
export class MaskedStream {
  readonly #mask: Mask
  #held: Buffer = NOTHING

  constructor(mask: Mask) {
    this.#mask = mask
  }

  /** What can be sent on by now. The memory may be that of the piece. */
  write(piece: Buffer): Buffer {
    const masked = this.#mask.bytes(this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]))
    const ready = masked.length - this.#mask.begun(masked)
    this.#held = Buffer.from(masked.subarray(ready))
    return masked.subarray(0, ready)
  }

  /** What was held back, which was not the credential. */
  end(): Buffer {
    return this.#held
  }
}

/**
 * How a secret can stand in an error: as it is, in JSON, in an address (percent-encoded), in HTML, and in base64, where what stands before it
 * (`user:` of Basic authentication) decides which of three spellings it has.
 */
function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1)
  const inAddress = encodeURIComponent(secret)
  const inHtml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const plain = [
    secret, inJson, inJson.replaceAll('/', '\\/'), inHtml, inHtml.replaceAll("'", '&#39;'),
    // As Go and others write JSON for pages.
    inJson.replaceAll(/[&<>]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    inAddress, inAddress.replaceAll(/%../g, (code) => code.toLowerCase()),
  ]
  const encoded = [0, 1, 2].flatMap((before) => [inBase64(secret, before), inBase64(secret, before).replaceAll('+', '-').replaceAll('/', '_')])
  return [...new Set([...plain, ...encoded])].toSorted((a, b) => b.length - a.length)
}

/** The digits of base64 that a secret alone decides where `before` bytes (modulo 3) stand in front of it. */
function inBase64(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
}
