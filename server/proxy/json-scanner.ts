// Reads chosen values out of JSON while its bytes pass, in bounded memory, without building or changing anything.
// Two parts of the proxy stand on it: the gate (which models does a request name?) and the meter (what does an answer say it used?).
import { fold, isOdd, type Node, type WantedPaths } from './json-paths.ts'

/** What a scan found wrong or ambiguous at a place where a wanted value stands. */
export type Oddity =
  /** The same wanted key twice in one object: parsers disagree on which one counts. */
  | 'duplicate'
  /** A wanted key spelled with `\u…`: parsers that compare raw bytes do not see it. */
  | 'escaped'
  /** A key that a case-folding or NUL-cutting parser would take for a wanted one. */
  | 'lookalike'
  /** Another kind of value than the path needs (a string where a list must stand). */
  | 'mismatch'

export interface JsonSink {
  /** A value at a wanted path: its exact bytes, valid during the call only, or null when it is longer than `longestValue`. */
  value(path: string, raw: Buffer | null): void
  oddity?(kind: Oddity, path: string): void
}

export interface ScanOptions {
  /** Refuse everything that is not RFC 8259 (unquoted keys, NaN, comments, trailing commas). The inside of unwanted strings is not looked at. */
  readonly strict?: boolean
  /** Several values one after another (JSON lines). */
  readonly many?: boolean
  /** Deepest nesting; more ends the scan as broken. */
  readonly deepest?: number
  /** Longest wanted value in bytes. */
  readonly longestValue?: number
}

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA, COLON] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a]

/** What may come next. */
const VALUE = 0
const ITEM_OR_END = 1
const KEY_OR_END = 2
const KEY = 3
const AFTER_KEY = 4
const AFTER_VALUE = 5
const IN_STRING = 6
const IN_KEY = 7
const IN_SCALAR = 8
const DONE = 9
const BROKEN = 10

/** Raw bytes of a key that are kept; a longer key cannot be a wanted one (each letter is at most six bytes as `\u….`). */
const LONGEST_KEY = 512
const LONGEST_SCALAR = 1024
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

/** One scan. Feed bytes in any split with `write`, then call `end`. */
export class JsonScanner {
  #state = VALUE
  /** Kind of each open container: 1 object, 0 list; and the wanted node, if any, that it is. */
  readonly #isObject: boolean[] = []
  readonly #nodes: (Node | null)[] = []
  readonly #seen: (Node[] | null)[] = []
  #depth = 0
  /** The wanted node of the value that comes next. */
  #next: Node | null
  #escaped = false
  #key: Buffer[] = []
  #keyLength = 0
  #scalar = ''
  #capture: Node | null = null
  #captureDepth = 0
  #captureStart = 0
  /** What earlier chunks held of the captured value, and how long it was; copies stop when it is too long. */
  #captured: Buffer[] = []
  #capturedLength = 0
  readonly #root: Node
  readonly #sink: JsonSink
  readonly #strict: boolean
  readonly #many: boolean
  readonly #deepest: number
  readonly #longestValue: number

  constructor(wanted: WantedPaths, sink: JsonSink, options: ScanOptions = {}) {
    this.#root = wanted.root
    this.#next = wanted.root
    this.#sink = sink
    this.#strict = options.strict ?? false
    this.#many = options.many ?? false
    this.#deepest = options.deepest ?? 512
    this.#longestValue = options.longestValue ?? 65_536
  }

  /** Gets ready for another scan. */
  reset(): void {
    this.#state = VALUE
    this.#depth = 0
    this.#next = this.#root
    this.#escaped = false
    this.#key = []
    this.#keyLength = 0
    this.#scalar = ''
    this.#capture = null
    this.#captured = []
  }

  /** False once the input cannot be JSON; further bytes are ignored. */
  get ok(): boolean {
    return this.#state !== BROKEN
  }

  /** True when one whole value has been read. */
  get complete(): boolean {
    return this.#state === DONE
  }

  /** Ends the input (a number at the root ends with it). */
  end(): void {
    if (this.#state === IN_SCALAR && this.#depth === 0) this.#endScalar(Buffer.alloc(0), 0)
    if (this.#state !== DONE) this.#state = BROKEN
  }

  write(chunk: Buffer): void {
    const length = chunk.length
    if (this.#capture) this.#captureStart = 0
    let i = 0
    while (i < length) {
      switch (this.#state) {
        case IN_STRING:
          i = this.#skipString(chunk, i)
          if (this.#state !== IN_STRING) this.#endValue(chunk, i)
          break
        case IN_KEY: {
          const from = i
          i = this.#skipString(chunk, i)
          const closed = this.#state !== IN_KEY
          const at = this.#nodes[this.#depth]
          if (at?.firsts && (this.#keyLength > 0 || at.firsts[chunk[from]!] === 1)) {
            if (closed && this.#keyLength === 0) this.#endKey(at, chunk.subarray(from, i - 1))
            else {
              this.#collectKey(chunk.subarray(from, closed ? i - 1 : i))
              if (closed) this.#endKey(at, Buffer.concat(this.#key))
            }
          } else if (at?.firsts && !closed) this.#keyLength = LONGEST_KEY + 1
          break
        }
        case IN_SCALAR: {
          const from = i
          while (i < length && DELIMITER[chunk[i]!] === 0) i++
          if (this.#strict) this.#scalar += chunk.toString('latin1', from, Math.min(i, from + LONGEST_SCALAR + 1))
          if (this.#scalar.length > LONGEST_SCALAR) this.#state = BROKEN
          else if (i < length) this.#endScalar(chunk, i)
          break
        }
        case BROKEN:
          return
        default:
          i = this.#structure(chunk, i)
      }
    }
    if (this.#capture) this.#keep(chunk)
  }

  /** One byte between values. */
  #structure(chunk: Buffer, i: number): number {
    const byte = chunk[i]!
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return i + 1
    switch (this.#state) {
      case DONE:
        if (!this.#many) return this.#broken(i)
        this.#next = this.#root
        this.#state = VALUE
        return i
      case ITEM_OR_END:
        if (byte === CLOSE_LIST) return this.#close(chunk, i)
        this.#state = VALUE
        return i
      case KEY_OR_END:
        if (byte === CLOSE_OBJECT) return this.#close(chunk, i)
        this.#state = KEY
        return i
      case KEY:
        if (byte !== QUOTE) return this.#broken(i)
        this.#key = []
        this.#keyLength = 0
        this.#next = null
        this.#state = IN_KEY
        return i + 1
      case AFTER_KEY:
        if (byte !== COLON) return this.#broken(i)
        this.#state = VALUE
        return i + 1
      case AFTER_VALUE:
        if (byte === COMMA) {
          const inObject = this.#isObject[this.#depth] === true
          this.#state = inObject ? KEY : VALUE
          if (!inObject) this.#next = this.#nodes[this.#depth]?.items ?? null
          return i + 1
        }
        if (byte === (this.#isObject[this.#depth] ? CLOSE_OBJECT : CLOSE_LIST)) return this.#close(chunk, i)
        return this.#broken(i)
      default:
        return this.#beginValue(byte, i)
    }
  }

  #beginValue(byte: number, i: number): number {
    const next = this.#next
    if (next?.wanted && !this.#capture) {
      this.#capture = next
      this.#captureDepth = this.#depth
      this.#captureStart = i
      this.#capturedLength = 0
    }
    if (byte === QUOTE) {
      this.#mismatch(next)
      this.#state = IN_STRING
      return i + 1
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (this.#depth === this.#deepest) return this.#broken(i)
      const isObject = byte === OPEN_OBJECT
      if (next && !next.wanted && (isObject ? !next.props : !next.items)) this.#sink.oddity?.('mismatch', next.path)
      this.#depth++
      this.#isObject[this.#depth] = isObject
      this.#nodes[this.#depth] = next
      this.#seen[this.#depth] = null
      this.#next = isObject ? null : (next?.items ?? null)
      this.#state = isObject ? KEY_OR_END : ITEM_OR_END
      return i + 1
    }
    if (DELIMITER[byte] === 1) return this.#broken(i)
    // `null` is the one scalar that may stand anywhere: it says that nothing is there.
    if (byte !== 0x6e) this.#mismatch(next)
    this.#scalar = ''
    this.#state = IN_SCALAR
    return i
  }

  #mismatch(next: Node | null): void {
    if (next && !next.wanted && (next.props || next.items)) this.#sink.oddity?.('mismatch', next.path)
  }

  #close(chunk: Buffer, i: number): number {
    this.#nodes[this.#depth] = null
    this.#depth--
    this.#endValue(chunk, i + 1)
    return i + 1
  }

  #endScalar(chunk: Buffer, i: number): void {
    if (this.#strict && !SCALAR.test(this.#scalar)) this.#state = BROKEN
    else this.#endValue(chunk, i)
  }

  /** A value ends before index `i` of the chunk. */
  #endValue(chunk: Buffer, i: number): void {
    const capture = this.#capture
    if (capture && this.#captureDepth === this.#depth) {
      this.#capture = null
      const last = chunk.subarray(this.#captureStart, i)
      const whole = this.#capturedLength + last.length
      this.#sink.value(capture.path, whole > this.#longestValue ? null : whole === last.length ? last : Buffer.concat([...this.#captured, last]))
      this.#captured = []
    }
    this.#next = null
    this.#state = this.#depth === 0 ? DONE : AFTER_VALUE
  }

  /** Copies the captured bytes of a chunk that ends within the value. */
  #keep(chunk: Buffer): void {
    const part = chunk.subarray(this.#captureStart)
    this.#capturedLength += part.length
    if (this.#capturedLength <= this.#longestValue) this.#captured.push(Buffer.from(part))
  }

  #collectKey(part: Buffer): void {
    this.#keyLength += part.length
    if (this.#keyLength <= LONGEST_KEY) this.#key.push(Buffer.from(part))
  }

  /** Looks a key up that has just been closed; its value comes next. */
  #endKey(at: Node, raw: Buffer): void {
    if (!at.props || raw.length > LONGEST_KEY || this.#keyLength > LONGEST_KEY) return
    if (!at.lengths.has(raw.length) && !raw.some(isOdd)) return
    let key = raw.toString('utf8')
    const escaped = key.includes('\\')
    if (escaped) {
      try {
        key = String(JSON.parse(`"${key}"`))
      } catch {
        if (this.#strict) this.#state = BROKEN
        return
      }
    }
    const found = at.props.get(key)
    if (!found) {
      // oxlint-disable-next-line no-control-regex -- RFC 8259, section 7: these must be escaped
      if (this.#strict && !escaped && /[\u0000-\u001f]/.test(key)) this.#state = BROKEN
      const nul = key.indexOf('\0')
      const alike = at.folded?.get(fold(nul < 0 ? key : key.slice(0, nul)))
      if (alike) this.#sink.oddity?.('lookalike', alike.path)
      return
    }
    if (escaped) this.#sink.oddity?.('escaped', found.path)
    const seen = this.#seen[this.#depth]
    if (!seen) this.#seen[this.#depth] = [found]
    else if (seen.includes(found)) this.#sink.oddity?.('duplicate', found.path)
    else seen.push(found)
    this.#next = this.#capture ? null : found
  }

  /** Skips to behind the closing quote (leaving the string's state) or to the chunk's end. Long runs are searched natively. */
  #skipString(chunk: Buffer, start: number): number {
    const length = chunk.length
    let i = start
    if (this.#escaped) {
      this.#escaped = false
      i++
    }
    // Positions of the next quote and backslash as far as they are known; -1 when there is none in this chunk.
    let quote = -2
    let backslash = -2
    while (i < length) {
      // A loop is faster than a search where escapes are dense, a search is faster where there is nothing to find.
      const near = Math.min(length, i + 192)
      while (i < near) {
        const byte = chunk[i]!
        if (byte === QUOTE) return this.#closeString(i + 1)
        i += byte === BACKSLASH ? 2 : 1
      }
      if (i >= length) break
      if (quote !== -1 && quote < i) quote = chunk.indexOf(QUOTE, i)
      if (backslash !== -1 && backslash < i) backslash = chunk.indexOf(BACKSLASH, i)
      if (backslash === -1 || (quote !== -1 && quote < backslash)) {
        if (quote !== -1) return this.#closeString(quote + 1)
        i = length
      } else i = backslash + 2
    }
    if (i > length) this.#escaped = true
    return length
  }

  #closeString(i: number): number {
    this.#state = this.#state === IN_KEY ? AFTER_KEY : AFTER_VALUE
    return i
  }

  #broken(i: number): number {
    this.#state = BROKEN
    return i + 1
  }
}

/** 1 for each byte that ends a number or a literal. */
const DELIMITER = Uint8Array.from({ length: 256 }, (_, byte) => (byte <= 0x20 || [QUOTE, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA, COLON].includes(byte) ? 1 : 0))
