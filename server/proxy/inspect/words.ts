// What a body could name that is no plain JSON, but that a more lenient server might read: whatever in it could be the name of a stored object.
import { objectRef } from '../providers/object-ref.ts'
import type { BodyReader } from './body-reader.ts'
import { ambiguous, type Findings, type Refusal } from './findings.ts'
import { LONGEST_NAME } from './places.ts'

/** No provider's names are shorter, and none longer ones are looked at. */
const SHORTEST = 6
/** So many different ones are looked for. */
const MOST_WORDS = 50_000

/** Bytes of a tag and a length before a string, as in Protocol Buffers and MessagePack, that can be letters. */
const LONGEST_LENGTH = 4
const BACKSLASH = 0x5c
const SLASH = 0x2f
const SMALL_U = 0x75
/** 1 for each byte that a name can have. */
const NAMES = Uint8Array.from({ length: 256 }, (_, byte) => (/[\w.~-]/.test(String.fromCharCode(byte)) ? 1 : 0))
/** A name of several parts has these besides: `ft:gpt-4o:acme::abc`, `files/abc`. */
const WIDE_NAMES = Uint8Array.from(NAMES, (is, byte) => (is === 1 || /[:/%]/.test(String.fromCharCode(byte)) ? 1 : 0))

/** Tells the words of a body, and the names of several parts that they make. */
export class WordReader implements BodyReader {
  readonly #readers: readonly BodyReader[]

  /**
   * @param kinds what a bare word may name
   * @param binary whether it is no text: then a word may have the length before it that its format writes there, and only another key's objects count
   */
  constructor(kinds: readonly string[], findings: Findings, binary = false) {
    this.#readers = [new Words(NAMES, kinds, findings, binary), new Words(WIDE_NAMES, [], findings, binary)]
  }

  write(piece: Buffer): void {
    for (const reader of this.#readers) reader.write(piece)
  }

  end(): Refusal | null {
    let refusal: Refusal | null = null
    for (const reader of this.#readers) refusal = reader.end() ?? refusal
    return refusal
  }
}

/**
 * Tells every word of a body as an object of every kind that its endpoint may name. `\u…` and `\/` count as the character that they stand for, and zeros
 * are left out: without them UTF-16 reads as ASCII.
 */
class Words implements BodyReader {
  readonly #names: Uint8Array
  readonly #kinds: readonly string[]
  readonly #findings: Findings
  readonly #binary: boolean
  readonly #words = new Set<string>()
  /** The word so far; its length counts on where it is too long to be kept. */
  readonly #word = Buffer.allocUnsafe(LONGEST_NAME)
  #length = 0
  /** How many bytes of an escape (`\u` and four digits) have come; its digits are names' bytes where it turns out to be none. */
  #escape = 0
  #letter = 0
  readonly #digits = new Uint8Array(4)

  constructor(names: Uint8Array, kinds: readonly string[], findings: Findings, binary: boolean) {
    this.#names = names
    this.#kinds = kinds
    this.#findings = findings
    this.#binary = binary
  }

  write(piece: Buffer): void {
    if (this.#words.size > MOST_WORDS) return
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i]!
      if (byte === 0) continue
      if (this.#escape > 0 && this.#continueEscape(byte)) continue
      if (this.#names[byte] === 1) this.#add(byte)
      else if (byte === BACKSLASH) this.#escape = 1
      else if (this.#length > 0) this.#endWord()
    }
  }

  end(): Refusal | null {
    if (this.#escape > 0) this.#giveUpEscape()
    this.#endWord()
    return this.#words.size > MOST_WORDS ? ambiguous(`The body is no plain JSON, and holds more than ${MOST_WORDS} different words.`) : null
  }

  /** @returns false where the byte does not belong to the escape */
  #continueEscape(byte: number): boolean {
    const digits = this.#escape - 2
    if (digits < 0 && byte === SLASH) {
      this.#escape = 0
      if (this.#names[SLASH] === 1) this.#add(SLASH)
      else this.#endWord()
      return true
    }
    if (digits < 0 ? (byte | 0x20) !== SMALL_U : !isHex(byte)) {
      this.#giveUpEscape()
      return false
    }
    this.#escape++
    if (digits < 0) {
      this.#letter = byte
      return true
    }
    this.#digits[digits] = byte
    if (digits < 3) return true
    this.#escape = 0
    const code = Number.parseInt(String.fromCharCode(...this.#digits), 16)
    if (code < 256 && this.#names[code] === 1) this.#add(code)
    else this.#endWord()
    return true
  }

  /** A backslash that escapes nothing parts words; what came behind it is text. */
  #giveUpEscape(): void {
    const bytes = this.#escape - 1
    this.#escape = 0
    this.#endWord()
    if (bytes > 0) this.#add(this.#letter)
    for (let i = 0; i < bytes - 1; i++) this.#add(this.#digits[i]!)
  }

  #add(byte: number): void {
    if (this.#length < LONGEST_NAME) this.#word[this.#length] = byte
    this.#length++
  }

  #endWord(): void {
    const length = this.#length
    this.#length = 0
    if (length < SHORTEST || length > LONGEST_NAME || this.#words.size > MOST_WORDS) return
    const word = this.#word.toString('latin1', 0, length)
    if (this.#words.has(word)) return
    this.#words.add(word)
    for (const kind of this.#kinds) this.#findings.place({ ...objectRef(kind, word), mayBeUnknown: true })
    this.#findings.text(word, this.#binary)
    if (this.#binary) for (let at = 1; at <= LONGEST_LENGTH; at++) this.#findings.text(word.slice(at), true)
  }
}

const isHex = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
