// Splits bytes into words that could be names (json/assembly/words.ts defines a word), in bounded
// memory and linear time.
// oxlint-disable typescript/no-non-null-assertion -- the scanner's memory has a fixed layout (tables.ts), read once a call on the data path
import { dropEngine, isTrap, nextSerial, wordEngine, type Engine, type Owner } from './engine.ts'
import {
  BINARY_WORDS,
  EVENT_BYTES,
  EVENT_COUNT,
  EVENTS,
  EVERY_WORD,
  FIRSTS,
  PIECE,
  QUICK,
  SERIAL,
  SHORTEST,
  WINDOW,
  WORDS,
  WORD_AT,
  WORD_NARROW,
  WORD_STATE_BYTES,
  WORD_WIDE,
} from './layout.ts'
import { FILTER_QUICK, type StringFilter } from './tables.ts'
import { wantPaths } from './paths.ts'

/** Which words are reported. */
export interface WordWatch {
  /**
   * The form of a word to report; null: none, so that only words of one part are reported, if
   * `every` says so.
   */
  readonly filter: StringFilter | null
  /** Whether every word of one part is reported, whatever its form. */
  readonly every: boolean
  /** Whether up to LONGEST_LENGTH bytes at the beginning of a word may not belong to it. */
  readonly binary: boolean
  /**
   * The same word may be reported several times, or only once.
   *
   * @param bytes valid only during the call; the word is `bytes[from] … bytes[to - 1]`, which is
   *   ASCII
   * @param hash 32 bits; the lowest is 1 if the word has several parts
   */
  each(bytes: Buffer, from: number, to: number, hash: number): void
}

const NO_PATHS = wantPaths([])
const NOTHING: StringFilter = { firsts: new Uint8Array(256), shortest: 0x7fffffff, longest: 0 }
/** Ends the last word. */
const DELIMITER = Buffer.from('\n')

/** Feed bytes in any split with `write`, then call `end`. */
export class WordScanner implements Owner {
  readonly #watch: WordWatch
  readonly #serial = nextSerial()
  #left: { readonly state: Buffer; readonly word: Buffer } | null = null
  #ok = true

  constructor(watch: WordWatch) {
    this.#watch = watch
  }

  /** False if it could not be read. */
  get ok(): boolean {
    return this.#ok
  }

  write(chunk: Buffer): void {
    if (!this.#ok || chunk.length === 0) return
    const engine = this.#enter()
    try {
      for (let from = 0; from < chunk.length; from += PIECE)
        this.#read(engine, chunk.subarray(from, from + PIECE))
    } catch (error) {
      this.#ok = false
      dropEngine(engine)
      if (!isTrap(error)) throw error
    }
  }

  end(): void {
    this.write(DELIMITER)
    const engine = wordEngine()
    if (engine.owner === this) engine.owner = null
  }

  leave({ bytes, ints }: Engine): void {
    this.#left = {
      state: Buffer.from(bytes.subarray(WORD_AT, WORD_AT + WORD_STATE_BYTES)),
      word: Buffer.from(bytes.subarray(ints[WORD_WIDE >> 2], ints[WORD_AT >> 2])),
    }
  }

  #enter(): Engine {
    const engine = wordEngine()
    if (engine.owner === this) return engine
    engine.owner?.leave(engine)
    engine.owner = this
    const { filter, every, binary } = this.#watch
    const watched = filter ?? NOTHING
    const { bytes, ints } = engine
    const [, at] = engine.place(NO_PATHS.table, watched)
    ints[SERIAL >> 2] = this.#serial
    ints[SHORTEST >> 2] = watched.shortest
    ints[FIRSTS >> 2] = at
    ints[QUICK >> 2] = watched.quick === undefined ? 0 : at + FILTER_QUICK
    if (this.#left === null) {
      bytes.fill(0, WORD_AT, WORD_AT + WORD_STATE_BYTES)
      ints[WORD_AT >> 2] = ints[WORD_WIDE >> 2] = ints[WORD_NARROW >> 2] = WORDS
    } else {
      const { state, word } = this.#left
      this.#left = null
      bytes.set(state, WORD_AT)
      bytes.set(word, ints[WORD_WIDE >> 2])
    }
    ints[EVERY_WORD >> 2] = every ? 1 : 0
    ints[BINARY_WORDS >> 2] = binary ? 1 : 0
    return engine
  }

  /** @param piece at most PIECE bytes */
  #read({ bytes, ints, words, withoutZeros }: Engine, piece: Buffer): void {
    bytes.set(piece, WINDOW)
    const end = withoutZeros(WINDOW, WINDOW + piece.length)
    for (let at = WINDOW; at < end;) {
      at = words(at, end)
      const count = ints[EVENT_COUNT >> 2]!
      ints[EVENT_COUNT >> 2] = 0
      for (let i = 0, event = EVENTS >> 2; i < count; i++, event += EVENT_BYTES >> 2)
        this.#watch.each(bytes, ints[event + 1]!, ints[event + 2]!, ints[event + 3]!)
    }
  }
}
