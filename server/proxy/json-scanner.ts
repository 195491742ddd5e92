// Reads chosen values out of JSON while its bytes pass, in bounded memory, without building or changing anything.
// Two parts of the proxy use it: request inspection (which models and objects does a request name?) and the meter (what does an answer
// say it used?). The time is linear in the input, whatever it holds and however it is split: `npm run bench -- inspect`.
import { NO_BYTES } from '../http/fields.ts'
import { keyAt, type Node, type WantedPaths } from './json-paths.ts'
import { endOfJsonScalar, endOfScalar, INCOMPLETE, INVALID, isScalar, LONGEST_SCALAR, skipIntegers } from './json-scalar.ts'
import { BYTE, endOfString, endsEscaped } from './json-string.ts'

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
  /** A mismatch that repeats itself, as in a list of numbers, is told once. */
  oddity?(kind: Oddity, path: string): void
  /** A list or object has ended at one of the `ends` of `wantPaths`; all that it holds has been told. `''` is the root. */
  closed?(path: string): void
}

/** Strings of a certain form, wherever they are: values and keys at any depth. Which ones are worth a look is decided without a call. */
export interface StringWatch {
  /** 1 for each first byte that such a string can have. Strings that begin with an escape are handed over as well. */
  readonly firsts: Uint8Array
  /** Lengths in bytes without escapes, both inclusive. An escaped string is handed over when it could decode to one of these. */
  readonly shortest: number
  readonly longest: number
  /** Whether a string with a space between other characters is handed over too. Most texts have one among their first bytes. */
  readonly prose?: boolean
  /**
   * @param bytes valid during the call only; the string is `bytes[from] … bytes[to - 1]`, what is inside of the quotes
   * @param escaped whether it holds a backslash, so that it has to be decoded; it may be malformed then
   */
  each(bytes: Buffer, from: number, to: number, escaped: boolean): void
}

export interface ScanOptions {
  /** Refuse everything that is not RFC 8259 (unquoted keys, NaN, comments, trailing commas). The inside of unwanted strings is not looked at. */
  readonly strict?: boolean
  /** Several values one after another (JSON lines). */
  readonly many?: boolean
  /** Longest wanted value in bytes. */
  readonly longestValue?: number
  readonly strings?: StringWatch
}

/** What may come next between values: the first index of ACTIONS. */
const VALUE = 0
const ITEM_OR_END = 1
const KEY_OR_END = 2
const KEY = 3
const AFTER_KEY = 4
const AFTER_ITEM = 5
const AFTER_MEMBER = 6
const DONE = 7
const DONE_OF_MANY = 8
/** What a chunk can end in the middle of. */
const IN_STRING = 9
const IN_KEY = 10
const IN_SCALAR = 11
const BROKEN = 12

/** What a byte between values means; 0: it cannot stand there. */
const SKIP = 1
const BEGIN_STRING = 2
const BEGIN_KEY = 3
const BEGIN_SCALAR = 4
const OPEN = 5
const CLOSE = 6
const NEXT_ITEM = 7
const NEXT_KEY = 8
const EXPECT_VALUE = 9
const BEGIN_AGAIN = 10

/** RFC 8259, section 2. */
const SPACES = [0x20, 0x0a, 0x0d, 0x09]

/** TABLE: `ACTIONS[state << 8 | byte]`. */
const ACTIONS = actions()

function actions(): Uint8Array {
  const table = new Uint8Array((DONE_OF_MANY + 1) << 8)
  const set = (states: readonly number[], bytes: Iterable<number>, action: number): void => {
    for (const state of states) for (const byte of bytes) table[(state << 8) | byte] = action
  }
  const all = Array.from({ length: 256 }, (_, byte) => byte)
  set([VALUE, ITEM_OR_END], all.filter((byte) => byte > 0x20 && !'{}[],:"'.includes(String.fromCharCode(byte))), BEGIN_SCALAR)
  set([VALUE, ITEM_OR_END], [BYTE.quote], BEGIN_STRING)
  set([VALUE, ITEM_OR_END], [BYTE.openObject, BYTE.openList], OPEN)
  set([ITEM_OR_END, AFTER_ITEM], [BYTE.closeList], CLOSE)
  set([KEY_OR_END, AFTER_MEMBER], [BYTE.closeObject], CLOSE)
  set([KEY_OR_END, KEY], [BYTE.quote], BEGIN_KEY)
  set([AFTER_KEY], [BYTE.colon], EXPECT_VALUE)
  set([AFTER_ITEM], [BYTE.comma], NEXT_ITEM)
  set([AFTER_MEMBER], [BYTE.comma], NEXT_KEY)
  set([DONE_OF_MANY], all, BEGIN_AGAIN)
  set([VALUE, ITEM_OR_END, KEY_OR_END, KEY, AFTER_KEY, AFTER_ITEM, AFTER_MEMBER, DONE, DONE_OF_MANY], SPACES, SKIP)
  return table
}

const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => (SPACES.includes(byte) ? 1 : 0))

/** Deepest nesting; more ends the scan as broken. */
const DEEPEST = 512
/** Raw bytes of a key that are kept; a longer key cannot be a wanted one (each letter is at most six bytes as `\u….`). */
const LONGEST_KEY = 512
const LONGEST_ESCAPE = 6

/** Whether an object at this place may hold wanted values. */
const isLookedInto = (node: Node): boolean => node.props !== null || node.any !== null

const NO_STRINGS: StringWatch = { firsts: new Uint8Array(256), shortest: Infinity, longest: 0, each() {} }

/** Whether there is a space between other characters. */
function isProse(bytes: Buffer, from: number, to: number): boolean {
  let at = from
  while (at < to && bytes[at] === SPACE) at++
  while (at < to && bytes[at] !== SPACE) at++
  while (at < to && bytes[at] === SPACE) at++
  return at < to
}

const SPACE = 0x20

/** One scan. Feed bytes in any split with `write`, then call `end`. */
export class JsonScanner {
  #state = VALUE
  /** Of each open container: what may come behind one of its values; the wanted node, if any, that it is; and the wanted keys it has had. */
  readonly #after: number[]
  readonly #nodes: (Node | null)[] = [null]
  readonly #seen: (Node[] | null)[] = [null]
  #depth = 0
  /** The wanted node of the value that comes next. */
  #next: Node | null
  /** The chunk before ended with a backslash that escapes. */
  #escaped = false
  /** What earlier chunks held of a key or string, and how long it was: Infinity where nobody wants it. */
  #parts: Buffer[] = []
  #partsLength = 0
  /** What earlier chunks held of a number or literal. */
  #scalar = ''
  #capture: Node | null = null
  #captureDepth = 0
  #captureStart = 0
  /** What earlier chunks held of the captured value, and how long it was; copies stop when it is too long. */
  #captured: Buffer[] = []
  #capturedLength = 0
  /** The nodes whose mismatches were told last, so that a list of numbers costs one call. */
  #mismatched: Node | null = null
  #mismatchedText: Node | null = null
  readonly #root: Node
  readonly #sink: JsonSink
  readonly #strict: boolean
  readonly #longestValue: number
  readonly #strings: StringWatch

  constructor(wanted: WantedPaths, sink: JsonSink, options: ScanOptions = {}) {
    this.#root = wanted.root
    this.#next = wanted.root
    this.#sink = sink
    this.#strict = options.strict ?? false
    this.#after = [options.many === true ? DONE_OF_MANY : DONE]
    this.#longestValue = options.longestValue ?? 65_536
    this.#strings = options.strings ?? NO_STRINGS
  }

  /** Gets ready for another scan. */
  reset(): void {
    this.#state = VALUE
    this.#depth = 0
    this.#next = this.#root
    this.#escaped = false
    this.#capture = null
    this.#captured = []
    this.#mismatched = this.#mismatchedText = null
  }

  /** False once the input cannot be JSON; further bytes are ignored. */
  get ok(): boolean {
    return this.#state !== BROKEN
  }

  /** True when one whole value has been read. */
  get complete(): boolean {
    return this.#state === DONE || this.#state === DONE_OF_MANY
  }

  /** Ends the input (a number at the root ends with it). */
  end(): void {
    if (this.#state === IN_SCALAR && this.#depth === 0) this.#endScalar(NO_BYTES, 0)
    if (!this.complete) this.#state = BROKEN
  }

  write(chunk: Buffer): void {
    if (chunk.length === 0) return
    if (this.#capture !== null) this.#captureStart = 0
    let i = 0
    if (this.#state === IN_STRING) i = this.#continueString(chunk)
    else if (this.#state === IN_KEY) i = this.#continueKey(chunk)
    else if (this.#state === IN_SCALAR) i = this.#continueScalar(chunk, 0)
    if (i < chunk.length && this.#state !== BROKEN) this.#scan(chunk, i)
    if (this.#capture !== null) this.#keep(chunk)
  }

  /**
   * Everything from a place between values on, to the end of the chunk. What is not wanted is handled here, in local variables: this loop is
   * what the scan of ordinary bodies costs.
   */
  #scan(chunk: Buffer, start: number): void {
    const { length } = chunk
    const nodes = this.#nodes
    const after = this.#after
    const strict = this.#strict
    const { firsts, shortest, longest } = this.#strings
    const longestRaw = longest * LONGEST_ESCAPE
    let state = this.#state
    let depth = this.#depth
    let next = this.#next
    // Of the innermost container: its node, and what may come behind a value of it.
    let at: Node | null = nodes[depth]!
    let behind = after[depth]!
    // The depth at which a captured value ends, or -1.
    let captureDepth = this.#capture === null ? -1 : this.#captureDepth
    let i = start
    while (i < length) {
      const byte = chunk[i]!
      const action = ACTIONS[(state << 8) | byte]
      if (action === BEGIN_SCALAR) {
        if (next !== null && (next.wanted || next !== this.#mismatched)) captureDepth = this.#meet(next, byte, i, depth, captureDepth)
        else if (behind === AFTER_ITEM && captureDepth !== depth) {
          const item = skipIntegers(chunk, i)
          if (item > i) {
            i = item
            state = VALUE
            continue
          }
        }
        const end = strict ? endOfJsonScalar(chunk, i) : endOfScalar(chunk, i)
        if (end === INVALID) return this.#break()
        if (end === INCOMPLETE) {
          this.#scalar = ''
          this.#depth = depth
          this.#continueScalar(chunk, i)
          return
        }
        i = end
      } else if (action === BEGIN_STRING) {
        if (next !== null) captureDepth = this.#meet(next, byte, i, depth, captureDepth)
        const from = i + 1
        i = endOfString(chunk, from)
        if (i < 0) {
          this.#state = IN_STRING
          this.#depth = depth
          this.#next = null
          return this.#suspend(chunk, from, null)
        }
        const size = i - 1 - from
        if (size >= shortest && size <= longestRaw && firsts[chunk[from]!] === 1) this.#hand(chunk, from, i - 1)
      } else if (action === BEGIN_KEY) {
        const from = i + 1
        i = endOfString(chunk, from)
        if (at !== null) next = captureDepth < 0 ? at.any : null
        if (i < 0) {
          this.#state = IN_KEY
          this.#depth = depth
          this.#next = next
          return this.#suspend(chunk, from, at)
        }
        if (at !== null && at.firsts !== null && at.firsts[chunk[from]!] === 1) {
          next = this.#lookUp(at, chunk, from, i - 1, depth, next)
          if (this.#state === BROKEN) return
        }
        const size = i - 1 - from
        if (size >= shortest && size <= longestRaw && firsts[chunk[from]!] === 1) this.#hand(chunk, from, i - 1)
        state = AFTER_KEY
        if (i < length && chunk[i] === BYTE.colon) {
          i++
          state = VALUE
        }
        continue
      } else if (action === OPEN) {
        if (depth === DEEPEST) return this.#break()
        if (next !== null) captureDepth = this.#meet(next, byte, i, depth, captureDepth)
        i++
        at = next
        depth++
        // Most are null already, and a write costs more than a look.
        if (nodes[depth] !== next) nodes[depth] = next
        if (next !== null) this.#seen[depth] = null
        if (byte === BYTE.openObject) {
          behind = AFTER_MEMBER
          state = KEY_OR_END
          next = null
        } else {
          behind = AFTER_ITEM
          state = ITEM_OR_END
          if (next !== null) next = next.items
        }
        after[depth] = behind
        continue
      } else if (action === CLOSE) {
        if (at !== null && at.ends && captureDepth < 0) this.#sink.closed?.(at.path)
        i++
        at = nodes[--depth]!
        behind = after[depth]!
      } else {
        i++
        if (action === NEXT_ITEM) {
          if (at !== null) next = at.items
          state = VALUE
        } else if (action === NEXT_KEY) state = KEY
        else if (action === EXPECT_VALUE) state = VALUE
        else if (action === SKIP) {
          // Indented text has runs of them.
          while (i < length && IS_SPACE[chunk[i]!] === 1) i++
        } else if (action === BEGIN_AGAIN) {
          i--
          next = this.#root
          state = VALUE
        } else return this.#break()
        continue
      }
      // A value has ended before `i`.
      if (captureDepth === depth) {
        this.#endCapture(this.#capture!, chunk.subarray(this.#captureStart, i))
        captureDepth = -1
      }
      next = null
      state = behind
      // Most often a comma follows.
      if (i < length && chunk[i] === BYTE.comma) {
        if (behind === AFTER_ITEM) {
          i++
          if (at !== null) next = at.items
          state = VALUE
        } else if (behind === AFTER_MEMBER) {
          i++
          state = KEY
        }
      }
    }
    this.#state = state
    this.#depth = depth
    this.#next = next
  }

  /** A value begins where one was wanted, or something that holds some. @returns the depth at which a captured value ends, or -1 */
  #meet(next: Node, byte: number, i: number, depth: number, captureDepth: number): number {
    const isObject = byte === BYTE.openObject
    if (next.wanted) {
      if (captureDepth >= 0 || (isObject && isLookedInto(next))) return captureDepth
      this.#capture = next
      this.#captureStart = i
      this.#capturedLength = 0
      return (this.#captureDepth = depth)
    }
    if (byte === BYTE.quote) {
      if (next === this.#mismatchedText || !(isLookedInto(next) || next.items)) return captureDepth
      this.#mismatchedText = next
      this.#sink.oddity?.('text', next.path)
      return captureDepth
    }
    // `null` is the one scalar that may stand anywhere: it says that nothing is there.
    if (byte === 0x6e || next === this.#mismatched) return captureDepth
    if (isObject ? isLookedInto(next) : byte === BYTE.openList ? next.items : !(isLookedInto(next) || next.items)) return captureDepth
    this.#mismatched = next
    this.#sink.oddity?.('mismatch', next.path)
    return captureDepth
  }

  /** Hands a string over whose length and first byte fit. */
  #hand(bytes: Buffer, from: number, to: number): void {
    if (this.#strings.prose !== true && isProse(bytes, from, to)) return
    let escape = from
    while (escape < to && bytes[escape] !== BYTE.backslash) escape++
    if (escape < to || to - from <= this.#strings.longest) this.#strings.each(bytes, from, to, escape < to)
  }

  /** The chunk ends within a string or key that began at `from`. @param at the object whose key it is */
  #suspend(chunk: Buffer, from: number, at: Node | null): void {
    this.#parts = []
    this.#partsLength = 0
    this.#escaped = endsEscaped(chunk, from)
    this.#gather(chunk, from, chunk.length, at)
  }

  /** Where the string that the chunks before began ends, or -1. */
  #endOfSuspended(chunk: Buffer): number {
    const from = this.#escaped ? 1 : 0
    const end = endOfString(chunk, from)
    if (end < 0) this.#escaped = endsEscaped(chunk, from)
    else this.#escaped = false
    return end
  }

  #continueString(chunk: Buffer): number {
    const end = this.#endOfSuspended(chunk)
    this.#gather(chunk, 0, end < 0 ? chunk.length : end - 1, null)
    if (end < 0) return chunk.length
    this.#handSuspended()
    this.#endValue(chunk, end)
    return end
  }

  #continueKey(chunk: Buffer): number {
    const at = this.#nodes[this.#depth]!
    const end = this.#endOfSuspended(chunk)
    this.#gather(chunk, 0, end < 0 ? chunk.length : end - 1, at)
    if (end < 0) return chunk.length
    this.#state = AFTER_KEY
    const key = this.#handSuspended()
    if (key !== null && at !== null && at.firsts !== null && at.firsts[key[0]!] === 1) this.#next = this.#lookUp(at, key, 0, key.length, this.#depth, this.#next)
    return end
  }

  /** Keeps a copy of a part of a string as long as somebody may want the whole. */
  #gather(chunk: Buffer, from: number, to: number, at: Node | null): void {
    if (from === to) return
    const first = chunk[from]!
    if (this.#partsLength === 0 && this.#strings.firsts[first] !== 1 && at?.firsts?.[first] !== 1) this.#partsLength = Infinity
    this.#partsLength += to - from
    if (this.#partsLength <= Math.max(LONGEST_KEY, this.#strings.longest * LONGEST_ESCAPE)) this.#parts.push(Buffer.from(chunk.subarray(from, to)))
    else this.#parts = []
  }

  /** A string that came in several chunks has ended. @returns the whole, or null where nobody may want it */
  #handSuspended(): Buffer | null {
    if (this.#parts.length === 0) return null
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    const { firsts, shortest, longest } = this.#strings
    if (whole.length >= shortest && whole.length <= longest * LONGEST_ESCAPE && firsts[whole[0]!] === 1) this.#hand(whole, 0, whole.length)
    return whole
  }

  /** A number or literal that began here, or in an earlier chunk. */
  #continueScalar(chunk: Buffer, i: number): number {
    let end = endOfScalar(chunk, i)
    if (end === INCOMPLETE) end = chunk.length
    this.#state = IN_SCALAR
    if (this.#strict) this.#scalar += chunk.toString('latin1', i, Math.min(end, i + LONGEST_SCALAR + 1))
    if (this.#scalar.length > LONGEST_SCALAR) this.#break()
    else if (end < chunk.length) this.#endScalar(chunk, end)
    return end
  }

  #endScalar(chunk: Buffer, i: number): void {
    if (this.#strict && !isScalar(this.#scalar)) this.#break()
    else this.#endValue(chunk, i)
  }

  /** A value ends before index `i` of the chunk. */
  #endValue(chunk: Buffer, i: number): void {
    if (this.#capture !== null && this.#captureDepth === this.#depth) this.#endCapture(this.#capture, chunk.subarray(this.#captureStart, i))
    this.#next = null
    this.#state = this.#after[this.#depth]!
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

  /** Looks up a key that has just been closed. @returns the wanted node of its value */
  #lookUp(at: Node, chunk: Buffer, from: number, to: number, depth: number, next: Node | null): Node | null {
    if (to - from > LONGEST_KEY) return next
    const found = keyAt(at, chunk, from, to)
    if (found === null) return next
    if (found.kind === 'malformed') {
      if (this.#strict) this.#state = BROKEN
      return next
    }
    if (found.kind !== 'exact') this.#sink.oddity?.(found.kind, found.node.path)
    if (found.kind === 'lookalike') return next
    const seen = this.#seen[depth]
    if (!seen) this.#seen[depth] = [found.node]
    else if (seen.includes(found.node)) this.#sink.oddity?.('duplicate', found.node.path)
    else seen.push(found.node)
    return this.#capture === null ? found.node : next
  }

  #break(): void {
    this.#state = BROKEN
  }
}
