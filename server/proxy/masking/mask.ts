// Finds our credential, or a long part of it, where an upstream's error repeats it, in any case,
// and replaces each character by an asterisk.
// oxlint-disable typescript/no-non-null-assertion -- bytes of the piece at hand, below the length that each loop checks
import { nameAt, type RawHeaders } from '../../http1/header-fields.ts'
import { CUT, escapesAt, isEscape, LONGEST_SPELLING } from './escapes.ts'
import {
  exact,
  firstsOf,
  isSame,
  SHORTEST_FRAGMENT,
  spellingsOf,
  type Spelling,
} from './spellings.ts'
import { withoutZeros, type WithoutZeros } from './wide-text.ts'

/** Credentials of at least this length are found anywhere, in every spelling. */
const SHORTEST_SECRET = 8
/**
 * Shorter ones, of at least this length, are masked as whole words: `sk-good`, not the same letters
 * inside a longer word.
 */
const SHORTEST_WORD = 4
/**
 * Placeholders for servers that require no credential ("none", "EMPTY", "test") are plain words.
 */
const isPlainWord = (secret: string): boolean => /^[A-Za-z]*$/.test(secret)
const STAR = 0x2a
const BACKSLASH = 0x5c

const NOTHING = Buffer.alloc(0)

/** Finds and masks one credential. Created once per credential and shared by its requests. */
export class Mask {
  /**
   * The credential, also in base64 and in hexadecimal; every character of these may be escaped.
   */
  readonly #spellings: readonly Spelling[]
  /** The same, by first byte. */
  readonly #byFirst: readonly Spelling[][] = Array.from({ length: 256 }, () => [])
  readonly #longest: number
  /** Minimum number of its characters that are masked at the end of a text. */
  readonly #least: number
  readonly #onlyWords: boolean

  constructor(secret: string) {
    this.#onlyWords = secret.length < SHORTEST_SECRET
    this.#least = Math.min(secret.length, SHORTEST_SECRET)
    const spellings = !this.#onlyWords
      ? spellingsOf(secret)
      : secret.length < SHORTEST_WORD || isPlainWord(secret)
        ? []
        : [exact(secret)]
    this.#spellings = spellings
    for (const spelling of spellings)
      for (const first of firstsOf(spelling)) this.#byFirst[first]?.push(spelling)
    this.#longest = Math.max(0, ...spellings.map(({ text }) => text.length)) * LONGEST_SPELLING
  }

  /** Removes the credential from a text of a head. */
  text(text: string): string {
    if (text.length < this.#least) return text
    const bytes = Buffer.from(text, 'latin1')
    const masked = this.whole(bytes)
    return masked === bytes ? text : masked.toString('latin1')
  }

  /**
   * A raw list without the credential in its values, and without headers that contain it in their
   * name.
   */
  headers(raw: RawHeaders): RawHeaders {
    return raw.flatMap((text, i) =>
      this.#isIn(nameAt(raw, i & ~1)) ? [] : i % 2 === 0 ? [text] : [this.text(text)],
    )
  }

  /** Whether a name contains the credential, in any case. */
  #isIn(name: string): boolean {
    if (name.length < this.#least) return false
    if (this.text(name) !== name) return true
    if (this.#onlyWords) return false
    const lower = name.toLowerCase()
    return this.#spellings.some(
      ({ text, isFragment }) =>
        !isFragment && lower.includes(text.toString('latin1').toLowerCase()),
    )
  }

  /**
   * Searches bytes that others may follow. `masked` are the bytes without the credential: the same
   * object if they do not contain it, else a copy. `begun` says how many of the last ones may be
   * the beginning of the credential.
   */
  search(bytes: Buffer): { readonly masked: Buffer; readonly begun: number } {
    const wide = withoutZeros(bytes)
    const text = wide?.bytes ?? bytes
    let masked = bytes
    let from = text.length
    for (let at = 0; at < text.length; at++) {
      const length = this.#lengthAt(text, at)
      if (length < 0) from = Math.min(from, at)
      if (length <= 0) continue
      if (masked === bytes) masked = Buffer.from(bytes)
      fill(masked, wide, at, at + length)
      at += length - 1
    }
    const start = from === text.length ? bytes.length : (wide?.places[from] ?? from)
    return { masked, begun: bytes.length - start }
  }

  /**
   * The same for the last bytes: a long beginning of the credential at their end is masked, too.
   */
  whole(bytes: Buffer): Buffer {
    const { masked } = this.search(bytes)
    const wide = withoutZeros(masked)
    const text = wide?.bytes ?? masked
    const from = this.#cutFrom(text, this.#least)
    if (from === text.length) return masked
    const copy = masked === bytes ? Buffer.from(bytes) : masked
    fill(copy, wide, from, text.length)
    return copy
  }

  /**
   * The start of a credential that continues after the end; the length if there is none. @param
   * least characters of it that must be present
   */
  #cutFrom(text: Buffer, least: number): number {
    for (let at = Math.max(0, text.length - this.#longest); at < text.length; at++) {
      if (cutAfter(this.#lengthAt(text, at, least > 0)) >= least) return at
    }
    return text.length
  }

  /**
   * The length of the credential, or of its fragment, at this position; 0 if there is none, `cut`
   * if it may continue after the end. @param isEnd whether nothing follows, so that a fragment that
   * is too short does not count
   */
  #lengthAt(bytes: Buffer, at: number, isEnd = false): number {
    const length = this.#spelledAt(bytes, at, isEnd)
    if (!this.#onlyWords || length === 0) return length
    if (isWordByte(bytes[at - 1])) return 0
    if (length < 0) return length
    const next = bytes[at + length]
    // The next character decides whether the word has ended.
    return next === undefined ? cut(this.#least) : isWordByte(next) ? 0 : length
  }

  #spelledAt(bytes: Buffer, at: number, isEnd: boolean): number {
    const byte = bytes[at]!
    const plain = this.#byFirst[byte]!
    if (isEscape(byte)) return this.#escapedLengthAt(bytes, at, plain, isEnd)
    if (plain.length === 0) return 0
    const next = bytes[at + 1]
    let longest = 0
    for (const spelling of plain) {
      if (next !== undefined && !isEscape(next) && !isSame(spelling, 1, next)) continue
      longest = longer(longest, spelledLength(spelling, bytes, at, 1, isEnd))
    }
    return longest
  }

  #escapedLengthAt(bytes: Buffer, at: number, plain: readonly Spelling[], isEnd: boolean): number {
    // Backslashes are read together, from the first one.
    if (
      this.#spellings.length === 0 ||
      (bytes[at] === BACKSLASH && bytes[at - 1] === BACKSLASH && plain.length === 0)
    )
      return 0
    let longest = 0
    for (const { code, length } of escapesAt(bytes, at)) {
      if (length === CUT) longest = longer(longest, isEnd ? 0 : cut(0))
      else
        for (const spelling of this.#byFirst[code] ?? [])
          longest = longer(longest, spelledLength(spelling, bytes, at, length, isEnd))
    }
    for (const spelling of plain)
      longest = longer(longest, spelledLength(spelling, bytes, at, 1, isEnd))
    return longest
  }
}

/** The length of a spelling that begins here; of a fragment, only if it is long enough. */
function spelledLength(
  spelling: Spelling,
  bytes: Buffer,
  at: number,
  length: number,
  isEnd: boolean,
): number {
  spelling.reached = 0
  const found = lengthOf(spelling, 1, bytes, at, length)
  const isShort = isEnd && spelling.isFragment && found < 0 && cutAfter(found) < SHORTEST_FRAGMENT
  // A match that may continue after the end is longer than the minimum.
  return found === 0 || isShort ? spelling.reached : found
}

/** Letters, digits, `-` and `_`. */
const isWordByte = (byte: number | undefined): boolean =>
  byte !== undefined && /[\w-]/.test(String.fromCharCode(byte))

/** Instead of a length: the bytes end after this many characters of the text. */
const cut = (matched: number): number => -1 - matched

/** How many characters of the text match before the bytes end; -1 if they do not end within it. */
const cutAfter = (length: number): number => (length < 0 ? -1 - length : -1)

/**
 * Replaces some bytes of a text with asterisks. @param wide their positions, if the text has zero
 * bytes
 */
function fill(bytes: Buffer, wide: WithoutZeros | null, from: number, to: number): void {
  if (wide === null) bytes.fill(STAR, from, to)
  else for (let i = from; i < to; i++) bytes[wide.places[i]!] = STAR
}

/** The longer of two lengths; one that is cut off is longer than none. */
const longer = (one: number, other: number): number =>
  one > 0 || other > 0 ? Math.max(one, other) : Math.min(one, other)

/**
 * The length of the match at `at`, if it spells a text; 0 if it does not, `cut` if the bytes end
 * too early to decide; `reached` says whether it spells enough of one. @param length bytes that
 * spell the part before `from`
 */
function lengthOf(
  spelling: Spelling,
  from: number,
  bytes: Buffer,
  at: number,
  length: number,
): number {
  const { text, enough } = spelling
  let end = at + length
  for (let i = from; i < text.length; i++) {
    const byte = bytes[end]
    if (byte === undefined) return cut(i)
    if (isEscape(byte)) return escapedLengthOf(spelling, i, bytes, at, end)
    if (!isSame(spelling, i, byte)) {
      if (i >= enough) spelling.reached = Math.max(spelling.reached, end - at)
      return 0
    }
    end++
  }
  return end - at
}

/**
 * The same where an escape comes next: `%25` is one percent sign, or the first of three characters.
 */
function escapedLengthOf(
  spelling: Spelling,
  from: number,
  bytes: Buffer,
  at: number,
  end: number,
): number {
  let longest = 0
  if (from >= spelling.enough) spelling.reached = Math.max(spelling.reached, end - at)
  for (const { code, length } of escapesAt(bytes, end)) {
    if (length === CUT) longest = longer(longest, cut(from))
    else if (isSame(spelling, from, code))
      longest = longer(longest, lengthOf(spelling, from + 1, bytes, at, end + length - at))
  }
  return isSame(spelling, from, bytes[end]!)
    ? longer(longest, lengthOf(spelling, from + 1, bytes, at, end + 1 - at))
    : longest
}

/**
 * Masks bytes that arrive in pieces; of each, only a possible beginning of the credential waits for
 * the next one.
 */
export class MaskedStream {
  readonly #mask: Mask
  #held: Buffer = NOTHING

  constructor(mask: Mask) {
    this.#mask = mask
  }

  /** The bytes that can be sent now. They may share the piece's memory. */
  write(piece: Buffer): Buffer {
    const { masked, begun } = this.#mask.search(
      this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]),
    )
    const ready = masked.length - begun
    this.#held = Buffer.from(masked.subarray(ready))
    return masked.subarray(0, ready)
  }

  /** The bytes held back: at most the beginning of a credential. */
  end(): Buffer {
    return this.#mask.whole(this.#held)
  }
}
