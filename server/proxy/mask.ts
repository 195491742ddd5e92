// Finds our credential where an upstream's error repeats it, and puts as many asterisks in its place.
import type { RawHeaders } from '../http/fields.ts'
import { CUT, ESCAPES, LONGEST_SPELLING, spellingsAt } from './spelled-char.ts'

/** Shorter ones are placeholders of servers that want none ("none", "EMPTY"), and words of any text. */
const SHORTEST_SECRET = 8
const STAR = 0x2a

const NOTHING = Buffer.alloc(0)

export class Mask {
  /** The credential, and it in base64; every character of them may be escaped. */
  readonly #spellings: readonly Buffer[]
  /** 1 for each byte with which one can begin. */
  readonly #firsts = new Uint8Array(256)
  readonly #longest: number

  constructor(secret: string) {
    this.#spellings = secret.length < SHORTEST_SECRET ? [] : spellingsOf(secret).map((spelling) => Buffer.from(spelling, 'latin1'))
    for (const spelling of this.#spellings) for (const byte of [spelling[0]!, ...ESCAPES]) this.#firsts[byte] = 1
    this.#longest = Math.max(0, ...this.#spellings.map((spelling) => spelling.length)) * LONGEST_SPELLING
  }

  /** A text of a head without the credential. */
  text(text: string): string {
    if (text.length < SHORTEST_SECRET) return text
    const bytes = Buffer.from(text, 'latin1')
    const masked = this.bytes(bytes)
    return masked === bytes ? text : masked.toString('latin1')
  }

  /** A raw list without the credential in its values. */
  headers(raw: RawHeaders): RawHeaders {
    return raw.map((text, i) => (i % 2 === 0 ? text : this.text(text)))
  }

  /** The bytes without the credential: themselves where it does not stand in them, else a copy. */
  bytes(bytes: Buffer): Buffer {
    let masked = bytes
    for (let at = 0; at < bytes.length; at++) {
      if (this.#firsts[bytes[at]!] === 0) continue
      const length = this.#lengthAt(bytes, at)
      if (length <= 0) continue
      if (masked === bytes) masked = Buffer.from(bytes)
      masked.fill(STAR, at, at + length)
      at += length - 1
    }
    return masked
  }

  /** How many of the last bytes may be the beginning of the credential. */
  begun(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.#longest); at < bytes.length; at++) {
      if (this.#firsts[bytes[at]!] === 1 && this.#lengthAt(bytes, at) === CUT) return bytes.length - at
    }
    return 0
  }

  /** How long the credential is that stands here, 0 where none does, CUT where it may go on behind the end. */
  #lengthAt(bytes: Buffer, at: number): number {
    let longest = 0
    let cut = false
    for (const spelling of this.#spellings) {
      const length = lengthOf(spelling, 0, bytes, at)
      if (length === CUT) cut = true
      else longest = Math.max(longest, length)
    }
    return longest === 0 && cut ? CUT : longest
  }
}

/** How long what stands here is, if it spells a text from a character on; 0 if it does not, CUT if the bytes end too soon to tell. */
function lengthOf(text: Buffer, from: number, bytes: Buffer, at: number): number {
  let end = at
  for (let i = from; i < text.length; i++) {
    const lengths = spellingsAt(bytes, end, text[i]!)
    if (lengths.length > 1) return lengthOfEither(lengths, text, i + 1, bytes, at, end)
    const [length = 0] = lengths
    if (length <= 0) return length
    end += length
  }
  return end - at
}

/** The same where a character can be of several lengths: `%25` is one percent sign, or the first of three characters. */
function lengthOfEither(lengths: readonly number[], text: Buffer, next: number, bytes: Buffer, at: number, end: number): number {
  let cut = false
  for (const length of lengths) {
    const rest = length === CUT ? CUT : next === text.length ? 0 : lengthOf(text, next, bytes, end + length)
    if (rest > 0 || (next === text.length && length !== CUT)) return end + length + rest - at
    cut ||= rest === CUT
  }
  return cut ? CUT : 0
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

/** How a secret can stand in an error: as it is, or in base64, where what stands before it (`user:` of Basic authentication) decides which of three spellings it has. */
function spellingsOf(secret: string): string[] {
  const encoded = [0, 1, 2].flatMap((before) => [inBase64(secret, before), inBase64(secret, before).replaceAll('+', '-').replaceAll('/', '_')])
  return [...new Set([secret, ...encoded])]
}

/** The digits of base64 that a secret alone decides where `before` bytes (modulo 3) stand in front of it. */
function inBase64(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
}
