// Reads chosen values from JSON in transit, in bounded memory, without building or changing
// anything. Two parts of the proxy use it: request inspection (which models and objects does a
// request name?) and the meter (what does a response say it used?). It takes linear time, whatever
// the input and however it is split: `npm run bench -- inspect`.
//
// The bytes are read in WebAssembly (json/assembly/). This file has the inputs of a scan, its
// events, and the state kept between two pieces.
// oxlint-disable typescript/no-non-null-assertion -- the scanner's memory has a fixed layout (tables.ts), read once a call on the data path
import { dropEngine, freeEngine, isTrap, nextSerial, type Engine, type Owner } from './engine.ts'
import {
  BROKEN,
  CAPTURE_DEPTH,
  CAPTURE_START,
  CLOSED_TOLD,
  DEPTH,
  DONE,
  DONE_OF_MANY,
  EVENT_BYTES,
  EVENT_COUNT,
  EVENTS,
  FIRSTS,
  IN_SCALAR,
  LONGEST,
  NEXT,
  NODE_BYTES,
  ODDITY_TOLD,
  PIECE,
  PROSE,
  QUICK,
  REPEATS,
  ROOT,
  SERIAL,
  SHORTEST,
  STACK,
  STACK_ENTRY,
  STATE,
  STRICT,
  STRING_TOLD,
  TABLE,
  TOKEN_START,
  VALUE,
  VALUE_AGAIN,
  VALUE_TOLD,
  WINDOW,
  WINDOW_END,
} from './layout.ts'
import { FILTER_QUICK, type StringFilter } from './tables.ts'
import type { WantedPaths } from './paths.ts'

/** What is wrong or ambiguous at the place of a wanted value. */
export type Oddity =
  /** The same wanted key twice in one object: parsers disagree on which one counts. */
  | 'duplicate'
  /** A wanted key spelled with `\u…`: parsers that compare raw bytes do not see it. */
  | 'escaped'
  /** A key that a parser that folds case, or cuts at NUL, would read as a wanted one. */
  | 'lookalike'
  /** Another kind of value than the path needs (an object instead of a list). */
  | 'mismatch'
  /** A mismatch whose value is a string. */
  | 'text'

/** By their numbers in json/layout.ts. */
const ODDITIES: readonly Oddity[] = ['duplicate', 'escaped', 'lookalike', 'mismatch', 'text']

/** The events of a scan, in the order of the text. Called only during `write`. */
export interface JsonSink {
  /**
   * A value at a wanted path: its exact bytes, valid only during the call, or null if it is longer
   * than `longestValue`.
   */
  value(path: string, raw: Buffer | null): void
  /**
   * The bytes last reported at this path, repeated. An immediate repetition is not reported at all:
   * a value, or a value and the end of its container. Without this handler, everything is reported
   * each time.
   */
  again?(path: string): void
  /** A repeated oddity, as in a list of numbers, is reported once. */
  oddity?(kind: Oddity, path: string): void
  /**
   * A list or object has ended at one of the `ends` of `wantPaths`, after all events inside it.
   * `''` is the root.
   */
  closed?(path: string): void
}

/** Strings of a certain form, anywhere: values and keys at any depth. */
export interface StringWatch {
  readonly filter: StringFilter
  /**
   * The same string may be reported several times, or only once.
   *
   * @param bytes valid only during the call; the string is `bytes[from] … bytes[to - 1]`, without
   *   the quotes
   * @param escaped whether it contains a backslash, so that it has to be decoded; it may then be
   *   malformed
   * @param hash 32 bits, of the bytes and of `escaped`
   */
  each(bytes: Buffer, from: number, to: number, escaped: boolean, hash: number): void
}

/** Options of a scan. */
export interface ScanOptions {
  /**
   * Refuse everything that is not RFC 8259 (unquoted keys, NaN, comments, trailing commas). The
   * inside of unwanted strings is not checked.
   */
  readonly strict?: boolean
  /** Several values one after another (JSON lines). */
  readonly many?: boolean
  /** Longest wanted value in bytes. */
  readonly longestValue?: number
  readonly strings?: StringWatch
}

const NO_STRINGS: StringWatch = {
  filter: { firsts: new Uint8Array(256), shortest: 0x7fffffff, longest: 0 },
  each() {},
}
/** Ends a number that ends the input. */
const DELIMITER = Buffer.from(' ')
/** Loads of the module reach beyond the bytes that it reads. */
const SLACK_BYTES = 128

/**
 * What is kept of a scan while another one runs: its state, and the beginning of an incomplete
 * token.
 */
interface Left {
  readonly state: Int32Array
  readonly token: Buffer | null
}

/** One scan. Feed bytes in any split with `write`, then call `end`. */
export class JsonScanner implements Owner {
  readonly #paths: WantedPaths
  readonly #sink: JsonSink
  readonly #strict: boolean
  readonly #behind: number
  readonly #longestValue: number
  readonly #strings: StringWatch
  /** The instance that it last ran in, and its number in the caches there. */
  #engine: Engine | null = null
  #serial = 0
  /** The state after the last piece. */
  #state = VALUE
  #depth = 0
  #left: Left | null = null
  /**
   * The part of the captured value in earlier pieces, and its length; copying stops when it is too
   * long.
   */
  #captured: Buffer[] = []
  #capturedLength = 0
  #capturing = false

  constructor(wanted: WantedPaths, sink: JsonSink, options: ScanOptions = {}) {
    this.#paths = wanted
    this.#sink = sink
    this.#strict = options.strict ?? false
    this.#behind = options.many === true ? DONE_OF_MANY : DONE
    this.#longestValue = options.longestValue ?? 65_536
    this.#strings = options.strings ?? NO_STRINGS
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
    if (this.#state === IN_SCALAR && this.#depth === 0) this.write(DELIMITER)
    if (!this.complete) this.#state = BROKEN
    if (this.#engine?.owner === this) this.#engine.owner = null
  }

  write(chunk: Buffer): void {
    if (this.#state === BROKEN || chunk.length === 0) return
    const engine = this.#enter()
    engine.busy = true
    try {
      if (chunk.length <= PIECE) this.#read(engine, chunk)
      else
        for (let from = 0; from < chunk.length; from += PIECE)
          this.#read(engine, chunk.subarray(from, from + PIECE))
    } catch (error) {
      this.#state = BROKEN
      dropEngine(engine)
      if (!isTrap(error)) throw error
    } finally {
      engine.busy = false
    }
  }

  /** Copies the state of the scan out. */
  leave({ ints, bytes, end }: Engine): void {
    const token = ints[TOKEN_START >> 2]!
    this.#left = {
      state: ints.slice(STATE >> 2, (STACK + (this.#depth + 1) * STACK_ENTRY) >> 2),
      token: token === 0 ? null : Buffer.from(bytes.subarray(token, end)),
    }
  }

  /** The instance in which the scan continues. */
  #enter(): Engine {
    const engine = freeEngine()
    if (engine.owner === this) return engine
    engine.owner?.leave(engine)
    engine.owner = this
    if (this.#engine !== engine) {
      this.#engine = engine
      this.#serial = nextSerial()
    }
    const { ints } = engine
    const { filter } = this.#strings
    const { table } = this.#paths
    const [paths, strings] = engine.place(table, filter)
    ints[TABLE >> 2] = paths
    ints[ROOT >> 2] = table.root
    ints[STRICT >> 2] = this.#strict ? 1 : 0
    ints[SERIAL >> 2] = this.#serial
    ints[SHORTEST >> 2] = filter.shortest
    ints[LONGEST >> 2] = filter.longest
    ints[FIRSTS >> 2] = strings
    ints[PROSE >> 2] = filter.prose === true ? 1 : 0
    ints[QUICK >> 2] = filter.quick === undefined ? 0 : strings + FILTER_QUICK
    ints[REPEATS >> 2] = this.#sink.again === undefined ? 0 : 1
    if (this.#left === null) this.#begin(engine)
    else this.#goOn(engine, this.#left)
    return engine
  }

  #begin({ ints }: Engine): void {
    ints.fill(0, STATE >> 2, (STACK + STACK_ENTRY) >> 2)
    ints[NEXT >> 2] = ints[ROOT >> 2]!
    ints[CAPTURE_DEPTH >> 2] = -1
    ints[(STACK >> 2) + 1] = this.#behind
  }

  #goOn(engine: Engine, { state, token }: Left): void {
    engine.ints.set(state, STATE >> 2)
    this.#left = null
    if (token === null) return
    engine.bytes.set(token, WINDOW)
    engine.ints[TOKEN_START >> 2] = WINDOW
    engine.end = WINDOW + token.length
  }

  /** @param piece at most PIECE bytes */
  #read(engine: Engine, piece: Buffer): void {
    const { ints, bytes } = engine
    const start = placeFor(engine, piece.length)
    const end = start + piece.length
    bytes.set(piece, start)
    bytes[end] = 0
    engine.end = end
    ints[CAPTURE_START >> 2] = 0
    for (let at = start; at < end;) {
      at = engine.scan(at, end)
      if (ints[EVENT_COUNT >> 2] !== 0) this.#tell(engine, start)
    }
    this.#state = ints[STATE >> 2]!
    this.#depth = ints[DEPTH >> 2]!
    this.#capturing = ints[CAPTURE_DEPTH >> 2]! >= 0
    if (this.#capturing) this.#keep(piece, Math.max(ints[CAPTURE_START >> 2]! - start, 0))
  }

  #tell({ ints, bytes }: Engine, start: number): void {
    const count = ints[EVENT_COUNT >> 2]!
    const { paths } = this.#paths.table
    const sink = this.#sink
    ints[EVENT_COUNT >> 2] = 0
    for (let i = 0, at = EVENTS >> 2; i < count; i++, at += EVENT_BYTES >> 2) {
      const first = ints[at + 1]!
      const second = ints[at + 2]!
      const third = ints[at + 3]!
      switch (ints[at]) {
        case STRING_TOLD:
          this.#strings.each(bytes, first, second, (third & 1) === 1, third)
          break
        case VALUE_TOLD:
          this.#tellValue(paths[first / NODE_BYTES]!, bytes, second, third, start)
          break
        case VALUE_AGAIN:
          sink.again?.(paths[first / NODE_BYTES]!)
          break
        case CLOSED_TOLD:
          sink.closed?.(paths[first / NODE_BYTES]!)
          break
        case ODDITY_TOLD:
          sink.oddity?.(ODDITIES[second]!, paths[first / NODE_BYTES]!)
          break
      }
    }
  }

  /** @param from 0 if it began in an earlier piece than the one at `start` */
  #tellValue(path: string, bytes: Buffer, from: number, to: number, start: number): void {
    const last = bytes.subarray(from === 0 ? start : from, to)
    const length = from === 0 ? this.#capturedLength + last.length : last.length
    this.#sink.value(
      path,
      length > this.#longestValue
        ? null
        : length === last.length
          ? last
          : Buffer.concat([...this.#captured, last]),
    )
    if (this.#captured.length > 0) this.#captured = []
    this.#capturedLength = 0
  }

  /** Copies the captured bytes of a piece that ends within the value. */
  #keep(piece: Buffer, from: number): void {
    const part = piece.subarray(from)
    this.#capturedLength += part.length
    if (this.#capturedLength <= this.#longestValue) this.#captured.push(Buffer.from(part))
  }
}

/** The address for the next piece: after the kept beginning of a token that it continues. */
function placeFor(engine: Engine, length: number): number {
  const { ints, bytes } = engine
  const token = ints[TOKEN_START >> 2]!
  if (token === 0) return WINDOW
  if (engine.end + length + SLACK_BYTES <= WINDOW_END) return engine.end
  bytes.copyWithin(WINDOW, token, engine.end)
  ints[TOKEN_START >> 2] = WINDOW
  return WINDOW + engine.end - token
}
