// Reads chosen values out of JSON while its bytes pass, in bounded memory, without building or changing anything.
// Two parts of the proxy stand on it: the gate (which models does a request name?) and the meter (what does an answer say it used?).
import { NO_BYTES } from '../http/fields.ts'
import { hasOdd, resembled, spelled, type Node, type WantedPaths } from './json-paths.ts'
import { DELIMITER, endOfScalar, holdsScalar, isScalar, LONGEST_SCALAR } from './json-scalar.ts'

/** What a scan found wrong or ambiguous at a place where a wanted value stands. */
export type Oddity =
  /** The same wanted key twice in one object: parsers disagree on which one counts. */
  | 'duplicate'
  /** A wanted key spelled with `\u…`: parsers that compare raw bytes do not see it. */
  | 'escaped'
  /** A key that a case-folding or NUL-cutting parser would take for a wanted one. */
  | 'lookalike'
  /** Another kind of value than the path needs (an object where a list must stand). */
  | 'mismatch'
  /** The same, where that is a string. */
  | 'text'

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
  /** Longest wanted value in bytes. */
  readonly longestValue?: number
}

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA, COLON] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a]

/** What may come next, between values; and what a chunk can end in the middle of. */
const VALUE = 0
const ITEM_OR_END = 1
const KEY_OR_END = 2
const KEY = 3
const AFTER_KEY = 4
const AFTER_VALUE = 5
const DONE = 6
const IN_STRING = 7
const IN_KEY = 8
const IN_SCALAR = 9
const BROKEN = 10

/** Deepest nesting; more ends the scan as broken. */
const DEEPEST = 512
/** Raw bytes of a key that are kept; a longer key cannot be a wanted one (each letter is at most six bytes as `\u….`). */
const LONGEST_KEY = 512

/** Whether an object at this place may hold wanted values. */
const isLookedInto = (node: Node): boolean => node.props !== null || node.any !== null

/** One scan. Feed bytes in any split with `write`, then call `end`. */
export class JsonScanner {
  #state = VALUE
  /** Of each open container: whether it is an object; the wanted node, if any, that it is; and the wanted keys that it has had. */
  readonly #isObject: boolean[] = [false]
  readonly #nodes: (Node | null)[] = [null]
  readonly #seen: (Node[] | null)[] = [null]
  #depth = 0
  /** The wanted node of the value that comes next. */
  #next: Node | null
  /** The chunk before ended with a backslash. */
  #escaped = false
  /** What earlier chunks held of a key, and how long it was; or of a number or literal. */
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
  readonly #longestValue: number

  constructor(wanted: WantedPaths, sink: JsonSink, options: ScanOptions = {}) {
    this.#root = wanted.root
    this.#next = wanted.root
    this.#sink = sink
    this.#strict = options.strict ?? false
    this.#many = options.many ?? false
    this.#longestValue = options.longestValue ?? 65_536
  }

  /** Gets ready for another scan. */
  reset(): void {
    this.#state = VALUE
    this.#depth = 0
    this.#next = this.#root
    this.#escaped = false
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
    if (this.#state === IN_SCALAR && this.#depth === 0) this.#endScalar(NO_BYTES, 0, isScalar(this.#scalar))
    if (this.#state !== DONE) this.#state = BROKEN
  }

  write(chunk: Buffer): void {
    const { length } = chunk
    if (this.#capture !== null) this.#captureStart = 0
    let i = 0
    while (i < length && this.#state !== BROKEN) {
      if (this.#state === IN_STRING) i = this.#string(chunk, i)
      else if (this.#state === IN_KEY) i = this.#goOnWithKey(chunk, i)
      else if (this.#state === IN_SCALAR) i = this.#goOnWithScalar(chunk, i)
      else i = this.#between(chunk, i)
    }
    if (this.#capture !== null) this.#keep(chunk)
  }

  /** Everything from a place between values on, as far as it goes in this chunk. */
  #between(chunk: Buffer, start: number): number {
    const { length } = chunk
    for (let i = start; i < length; ) {
      const byte = chunk[i]!
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        i++
        // What is indented has runs of them.
        while (i < length && chunk[i] === 0x20) i++
      } else if (this.#state === AFTER_VALUE) {
        const isObject = this.#isObject[this.#depth]!
        if (byte === COMMA) {
          if (isObject) this.#state = KEY
          else {
            this.#state = VALUE
            this.#next = this.#nodes[this.#depth]?.items ?? null
          }
          i++
        } else if (byte === (isObject ? CLOSE_OBJECT : CLOSE_LIST)) i = this.#close(chunk, i)
        else return this.#broken(i)
      } else if (this.#state === KEY || this.#state === KEY_OR_END) {
        if (byte === QUOTE) i = this.#beginKey(chunk, i + 1)
        else if (byte === CLOSE_OBJECT && this.#state === KEY_OR_END) i = this.#close(chunk, i)
        else return this.#broken(i)
      } else if (this.#state === AFTER_KEY) {
        if (byte !== COLON) return this.#broken(i)
        this.#state = VALUE
        i++
      } else if (this.#state === ITEM_OR_END && byte === CLOSE_LIST) i = this.#close(chunk, i)
      else if (this.#state <= ITEM_OR_END) i = this.#beginValue(chunk, i, byte)
      else if (this.#state === DONE && this.#many) {
        this.#next = this.#root
        this.#state = VALUE
      } else return this.#broken(i)
    }
    return length
  }

  #beginValue(chunk: Buffer, i: number, byte: number): number {
    const next = this.#next
    if (next !== null && next.wanted && this.#capture === null && !(byte === OPEN_OBJECT && isLookedInto(next))) {
      this.#capture = next
      this.#captureDepth = this.#depth
      this.#captureStart = i
      this.#capturedLength = 0
    }
    if (byte === QUOTE) {
      if (next !== null) this.#mismatch(next, 'text')
      return this.#string(chunk, i + 1)
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (this.#depth === DEEPEST) return this.#broken(i)
      const isObject = byte === OPEN_OBJECT
      if (next !== null && !next.wanted && (isObject ? !isLookedInto(next) : !next.items)) this.#sink.oddity?.('mismatch', next.path)
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
    if (byte !== 0x6e && next !== null) this.#mismatch(next, 'mismatch')
    const end = endOfScalar(chunk, i)
    if (end < chunk.length) return this.#endScalar(chunk, end, !this.#strict || holdsScalar(chunk, i, end))
    this.#scalar = ''
    return this.#goOnWithScalar(chunk, i)
  }

  #mismatch(next: Node, kind: 'mismatch' | 'text'): void {
    if (!next.wanted && (isLookedInto(next) || next.items)) this.#sink.oddity?.(kind, next.path)
  }

  #close(chunk: Buffer, i: number): number {
    this.#depth--
    this.#endValue(chunk, i + 1)
    return i + 1
  }

  /** A string that is a value, from within. */
  #string(chunk: Buffer, i: number): number {
    const end = this.#closing(chunk, i)
    if (end > 0) this.#endValue(chunk, end)
    else this.#state = IN_STRING
    return end > 0 ? end : chunk.length
  }

  #goOnWithScalar(chunk: Buffer, i: number): number {
    const end = endOfScalar(chunk, i)
    this.#state = IN_SCALAR
    if (this.#strict) this.#scalar += chunk.toString('latin1', i, Math.min(end, i + LONGEST_SCALAR + 1))
    if (this.#scalar.length > LONGEST_SCALAR) return this.#broken(i)
    return end < chunk.length ? this.#endScalar(chunk, end, isScalar(this.#scalar)) : end
  }

  #endScalar(chunk: Buffer, i: number, valid: boolean): number {
    if (this.#strict && !valid) return this.#broken(i)
    this.#endValue(chunk, i)
    return i
  }

  /** A value ends before index `i` of the chunk. */
  #endValue(chunk: Buffer, i: number): void {
    if (this.#capture !== null && this.#captureDepth === this.#depth) this.#endCapture(this.#capture, chunk.subarray(this.#captureStart, i))
    this.#next = null
    this.#state = this.#depth === 0 ? DONE : AFTER_VALUE
  }

  #endCapture({ path }: Node, last: Buffer): void {
    this.#capture = null
    const whole = this.#capturedLength + last.length
    this.#sink.value(path, whole > this.#longestValue ? null : whole === last.length ? last : Buffer.concat([...this.#captured, last]))
    if (this.#captured.length > 0) this.#captured = []
  }

  /** Copies the captured bytes of a chunk that ends within the value. */
  #keep(chunk: Buffer): void {
    const part = chunk.subarray(this.#captureStart)
    this.#capturedLength += part.length
    if (this.#capturedLength <= this.#longestValue) this.#captured.push(Buffer.from(part))
  }

  /** A key, from behind its opening quote. Its value comes next. */
  #beginKey(chunk: Buffer, i: number): number {
    const at = this.#nodes[this.#depth]
    this.#next = this.#capture === null ? (at?.any ?? null) : null
    const end = this.#closing(chunk, i)
    if (end < 0) {
      this.#key = []
      this.#keyLength = 0
      this.#state = IN_KEY
      if (i < chunk.length) this.#collectKey(chunk.subarray(i))
      return chunk.length
    }
    this.#state = AFTER_KEY
    const firsts = at?.firsts
    if (firsts && firsts[chunk[i]!] === 1) this.#endKey(chunk, i, end - 1)
    return end
  }

  #goOnWithKey(chunk: Buffer, i: number): number {
    const end = this.#closing(chunk, i)
    this.#collectKey(chunk.subarray(i, end < 0 ? chunk.length : end - 1))
    if (end < 0) return chunk.length
    this.#state = AFTER_KEY
    const key = Buffer.concat(this.#key)
    if (this.#keyLength <= LONGEST_KEY) this.#endKey(key, 0, key.length)
    return end
  }

  #collectKey(part: Buffer): void {
    // What need not be looked up counts as too long.
    if (this.#keyLength === 0 && part.length > 0 && this.#nodes[this.#depth]?.firsts?.[part[0]!] !== 1) this.#keyLength = LONGEST_KEY
    this.#keyLength += part.length
    if (this.#keyLength <= LONGEST_KEY) this.#key.push(Buffer.from(part))
  }

  /** Looks a key up that has just been closed. */
  #endKey(chunk: Buffer, from: number, to: number): void {
    const at = this.#nodes[this.#depth]
    if (!at?.props || to - from > LONGEST_KEY) return
    const found = spelled(at, chunk, from, to)
    if (found !== null) return this.#found(found)
    if (!at.lengths.has(to - from) && !hasOdd(chunk, from, to)) return
    const alike = resembled(at, chunk.toString('utf8', from, to))
    if (alike === null) return
    if (alike.kind === 'malformed') {
      if (this.#strict) this.#state = BROKEN
      return
    }
    this.#sink.oddity?.(alike.kind, alike.node.path)
    if (alike.kind === 'escaped') this.#found(alike.node)
  }

  /** The value of a wanted key comes next. */
  #found(node: Node): void {
    const seen = this.#seen[this.#depth]
    if (!seen) this.#seen[this.#depth] = [node]
    else if (seen.includes(node)) this.#sink.oddity?.('duplicate', node.path)
    else seen.push(node)
    if (this.#capture === null) this.#next = node
  }

  /** The index behind the closing quote, or -1 where the string goes on in the next chunk. Long runs are searched natively. */
  #closing(chunk: Buffer, start: number): number {
    const { length } = chunk
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
      const near = Math.min(length, i + 64)
      while (i < near) {
        const byte = chunk[i]!
        if (byte === QUOTE) return i + 1
        i += byte === BACKSLASH ? 2 : 1
      }
      if (i >= length) break
      if (quote !== -1 && quote < i) quote = chunk.indexOf(QUOTE, i)
      if (backslash !== -1 && backslash < i) backslash = chunk.indexOf(BACKSLASH, i)
      if (backslash === -1 || (quote !== -1 && quote < backslash)) {
        if (quote !== -1) return quote + 1
        i = length
      } else i = backslash + 2
    }
    if (i > length) this.#escaped = true
    return -1
  }

  #broken(i: number): number {
    this.#state = BROKEN
    return i + 1
  }
}
