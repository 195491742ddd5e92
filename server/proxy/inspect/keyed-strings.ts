// Finds the strings of a JSON body under certain keys, at any depth: as a value, in a list, or as
// the keys of a map. Bytes may be split anywhere. Invalid JSON is read as far as it looks like
// JSON; the scanner reports whether it is valid.
import { parseJson } from '../json/paths.ts'

/** A string under a key. */
export interface KeyedSink {
  /**
   * What to look for under keys of this name; null: nothing. @param outer the result for the key of
   * the surrounding object
   */
  kindOf(key: string, outer: string | null): string | null
  onString(kind: string, text: string): void
  /** A key of an object under a key of interest. */
  onKey(kind: string, key: string): void
  /**
   * A number, as written, under any key, or in a list under a key of interest. @param kind null for
   * any other key
   */
  onNumber?(kind: string | null, text: string): void
}

/** Longest key or value in bytes, as written. */
const LONGEST = 2_048
/** Longest number in digits: longer ones are not ids. */
const LONGEST_NUMBER = 64
/** Deeper levels are not distinguished, because the scanner refuses them. */
const MOST_LEVELS = 10_000

/** Bytes that are checked one by one before a native search. */
const NEAR = 48

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [ZERO, NINE] = [0x30, 0x39]
/** Whether a byte other than a digit may occur in a number: `.`, `+`, `-`, `e`, `E`. */
const isInNumber = (byte: number): boolean =>
  byte === 0x2e || byte === 0x2b || byte === 0x2d || (byte | 0x20) === 0x65
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

interface Level {
  readonly isObject: boolean
  /** The kind of the key whose value this object is; null for none. */
  readonly outer: string | null
  /** The kind of the current key, or of the list's key; null for none. */
  kind: string | null
}

const OUTERMOST: Level = { isObject: false, outer: null, kind: null }

/** Reads one body, piece by piece. */
export class KeyedStrings {
  readonly #sink: KeyedSink
  readonly #longest: number
  readonly #levels: Level[] = []
  #level: Level = OUTERMOST
  /** Whether the next string is a key. */
  #atKey = false
  #inString = false
  #escaped = false
  /** Bytes of the string from earlier pieces; null if it is not needed, or too long. */
  #begun: Buffer | null = null
  /** The number so far; `''` for none. */
  #number = ''
  readonly #takesNumbers: boolean

  /**
   * @param longest maximum length of keys and values, in bytes as written; longer ones are not
   *   reported
   */
  constructor(sink: KeyedSink, longest = LONGEST) {
    this.#sink = sink
    this.#longest = longest
    this.#takesNumbers = sink.onNumber !== undefined
  }

  write(piece: Buffer): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#inString) at = this.#readString(piece, at)
      // oxlint-disable-next-line typescript/no-non-null-assertion -- a byte below the length, on the data path
      else this.#take(piece[at]!)
    }
  }

  #take(byte: number): void {
    if (byte >= ZERO && byte <= NINE) return this.#takeDigit(byte)
    if (this.#number !== '') {
      if (isInNumber(byte)) return this.#takeDigit(byte)
      this.#endNumber()
    }
    if (byte === QUOTE) {
      this.#inString = true
      this.#begun = this.#atKey || this.#level.kind !== null ? NOTHING : null
    } else if (byte === COLON) this.#atKey = false
    else if (byte === COMMA) this.#next()
    else if (byte === OPEN_OBJECT)
      this.#open({ isObject: true, outer: this.#level.kind, kind: null })
    else if (byte === OPEN_LIST)
      this.#open({ isObject: false, outer: null, kind: this.#level.kind })
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close()
  }

  #takeDigit(byte: number): void {
    const { isObject, kind } = this.#level
    if (!this.#takesNumbers || !(isObject || kind !== null)) return
    if (this.#number.length <= LONGEST_NUMBER) this.#number += String.fromCharCode(byte)
  }

  #endNumber(): void {
    const { kind } = this.#level
    if (this.#number.length <= LONGEST_NUMBER) this.#sink.onNumber?.(kind, this.#number)
    this.#number = ''
  }

  #open(level: Level): void {
    if (this.#levels.length < MOST_LEVELS) this.#levels.push(this.#level)
    this.#level = level
    this.#atKey = level.isObject
  }

  #close(): void {
    this.#level = this.#levels.pop() ?? OUTERMOST
    this.#atKey = false
  }

  #next(): void {
    if (!this.#level.isObject) return
    this.#level.kind = null
    this.#atKey = true
  }

  /** @returns the end of the string, or of the piece */
  #readString(piece: Buffer, from: number): number {
    const at = this.#endOfString(piece, from)
    const begun = this.#begun
    const isWanted = begun !== null && begun.length + at - from <= this.#longest
    if (at === piece.length) {
      this.#begun = isWanted ? Buffer.concat([begun, piece.subarray(from, at)]) : null
      return at
    }
    this.#inString = false
    if (isWanted)
      this.#tell(
        begun.length === 0
          ? piece.toString('utf8', from, at)
          : Buffer.concat([begun, piece.subarray(from, at)]).toString('utf8'),
      )
    return at
  }

  /**
   * The position of the closing quote, or the end of the piece. Most strings are short; in a long
   * one, a native search finds the next quote.
   */
  #endOfString(piece: Buffer, from: number): number {
    let escaped = this.#escaped
    let near = from + NEAR
    let at = from
    while (at < piece.length) {
      if (at >= near && !escaped) {
        const quote = piece.indexOf(QUOTE, at)
        const end = quote < 0 ? piece.length : quote
        at = end - slashesBefore(piece, end, at)
        near = end + NEAR
        if (at === piece.length) break
      }
      // oxlint-disable-next-line typescript/no-non-null-assertion -- a byte below the length, on the data path
      const byte = piece[at]!
      if (escaped) escaped = false
      else if (byte === BACKSLASH) escaped = true
      else if (byte === QUOTE) break
      at++
    }
    this.#escaped = escaped
    return at
  }

  #tell(raw: string): void {
    const text = raw.includes('\\') ? parseJson(`"${raw}"`) : raw
    if (typeof text !== 'string') return
    if (this.#atKey) {
      const { outer } = this.#level
      if (outer !== null) this.#sink.onKey(outer, text)
      this.#level.kind = this.#sink.kindOf(text, outer)
    } else if (this.#level.kind !== null) this.#sink.onString(this.#level.kind, text)
  }
}

const NOTHING = Buffer.alloc(0)

/** The number of backslashes directly before a position, counted back to `from`. */
function slashesBefore(bytes: Buffer, end: number, from: number): number {
  let at = end
  while (at > from && bytes[at - 1] === BACKSLASH) at--
  return end - at
}
