// Distinguishes JSON from server-sent events by the beginning of a response, because not every
// server names the type.
import { NO_BYTES } from '../../http1/header-fields.ts'
import type { CreatedIds } from './created-ids.ts'
import { JsonReader } from './json.ts'
import type { Reader } from './reader.ts'
import { SseReader } from './sse.ts'
import type { Finding } from './usage.ts'

/**
 * The beginning of a response: blank lines, then an object, a list, or a line of an event (a
 * comment has no name).
 */
const BEGINNING =
  /^[ \t\r\n]*(?:(?<json>[{[])|(?<sse>(?:data|event|id|retry)?:)|(?<neither>[^ \t\r\n]))/
/** An incomplete name of such a line. */
const UNDECIDED = /^[ \t\r\n]*(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)?$/
/** Maximum bytes that are examined. */
const MOST = 256

const [OBJECT, LIST, SPACE] = [0x7b, 0x5b, 0x20]

type Kind = 'json' | 'sse'

/** Reads a response as the type that its first bytes indicate. */
export class SniffingReader implements Reader {
  readonly #created: CreatedIds
  readonly #otherwise: Kind | null
  /** The bytes before the type was clear; null afterwards. */
  #beginning: Buffer | null = NO_BYTES
  /** Null: this response is not readable. */
  #reader: Reader | null = null

  /** @param otherwise the reader for any other beginning; null: not readable */
  constructor(created: CreatedIds, otherwise: Kind | null) {
    this.#created = created
    this.#otherwise = otherwise
  }

  write(chunk: Buffer): void {
    if (this.#beginning === null) return this.#reader?.write(chunk)
    // For nearly all responses, the first byte decides.
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a chunk has a byte, and the beginning is there until the kind is known
    const first = this.#beginning.length > 0 ? 0 : chunk[0]!
    if (first === OBJECT || first === LIST) return this.#begin('json').write(chunk)
    if (first > SPACE && this.#otherwise === 'sse') return this.#begin('sse').write(chunk)
    this.#beginning =
      this.#beginning.length === 0
        ? Buffer.from(chunk.subarray(0, MOST))
        : Buffer.concat([this.#beginning, chunk.subarray(0, MOST)])
    const text = this.#beginning.toString('latin1', 0, MOST)
    if (UNDECIDED.test(text) && text.length < MOST) return
    this.#decide(text, chunk)
  }

  end(): void {
    if (this.#beginning !== null) this.#decide(this.#beginning.toString('latin1', 0, MOST), null)
    this.#reader?.end()
  }

  findings(): readonly Finding[] {
    return this.#reader?.findings() ?? []
  }

  /** @param last the piece in which the beginning ends */
  #decide(text: string, last: Buffer | null): void {
    const found = BEGINNING.exec(text)?.groups
    const blank = found === undefined
    const kind =
      blank || found['json'] !== undefined
        ? 'json'
        : found['sse'] !== undefined
          ? 'sse'
          : this.#otherwise
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a chunk has a byte, and the beginning is there until the kind is known
    const begun = this.#beginning!
    this.#beginning = null
    if (kind === null) return
    const reader = this.#begin(kind)
    reader.write(begun)
    if (last !== null && last.length > MOST) reader.write(last.subarray(MOST))
  }

  #begin(kind: Kind): Reader {
    this.#beginning = null
    return (this.#reader =
      kind === 'json' ? new JsonReader(this.#created) : new SseReader(this.#created))
  }
}
