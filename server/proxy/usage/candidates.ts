// Events of a stream that may have usage. Most streams repeat it, so little is parsed before the
// end: the first such event is read, and the last few are kept as bytes, which is enough for every
// provider's rule.
import { parseJson, stepsOf } from '../json/paths.ts'
import type { CreatedIds } from './created-ids.ts'
import { type Finding, findUsage } from './usage.ts'

const MARKER = Buffer.from('"usage')
const NULL_USAGE = /^"usage(?:Metadata)?"\s*:\s*null/
const LAST = 3
const BEGINS_JSON = /^\s*(?:\{|\[(?!DONE\]))/

/**
 * The index of a `"usage…"` key in `bytes` between `from` and `to`, or -1. A quote after a
 * backslash belongs to text that a model wrote, and `"usage":null` (in all of OpenAI's chunks but
 * the last) means nothing.
 */
export function findMarker(bytes: Buffer, from: number, to: number): number {
  let i = bytes.indexOf(MARKER, from)
  while (i >= 0 && i < to) {
    const nothing =
      bytes[i + 6] === 0x22
        ? NULL_USAGE.test(bytes.toString('latin1', i, Math.min(i + 24, to)))
        : false
    if (!nothing && (i === 0 || bytes[i - 1] !== 0x5c)) return i
    i = bytes.indexOf(MARKER, i + 6)
  }
  return -1
}

/** The events of one stream that may have usage. */
export class Candidates {
  readonly #created: CreatedIds
  readonly #creates: boolean
  /** The keys of objects that any event of a stream may create: those in lists. */
  readonly #markers: readonly Buffer[]
  #first: readonly Finding[] = []
  readonly #last: (() => readonly Finding[])[] = []
  /** Events that are still searched for the name of a created object. */
  #searched = 0

  constructor(created: CreatedIds) {
    this.#created = created
    const places = Object.keys(created.creates)
    this.#creates = places.length > 0
    const keys = places
      .filter((place) => place.includes('[]'))
      .map((place) => stepsOf(place).findLast((step) => step !== '[]'))
    this.#markers = [...new Set(keys)].map((key) => Buffer.from(`"${key}"`))
  }

  /**
   * Whether the events up to `end` must be read although they have no usage: the first ones name
   * the created object, and some name further objects.
   */
  mayCreate(bytes: Buffer, end: number): boolean {
    if (!this.#creates) return false
    if (this.#created.objects.length === 0 && this.#searched < 4) return true
    const events = this.#markers.length === 0 ? null : bytes.subarray(0, end)
    return events !== null && this.#markers.some((marker) => events.includes(marker))
  }

  /** Searches an event's text for the names of created objects. */
  search(json: string): void {
    this.#searched++
    this.#created.search(parseJson(json))
  }

  /**
   * Keeps events with the marker unread; they are read at once while no earlier event had usage.
   */
  keep(read: () => readonly Finding[]): void {
    if (this.#first.length === 0) this.#first = read()
    else {
      this.#last.push(read)
      if (this.#last.length > LAST) this.#last.shift()
    }
  }

  /** The finding, if any, of an event's JSON text; created objects are recorded. */
  read(json: string): readonly Finding[] {
    // Non-JSON (`[DONE]`, or nothing after the last event) is recognised by its first letter:
    // throwing and catching an error costs 30 µs.
    if (!BEGINS_JSON.test(json)) return []
    const event = parseJson(json)
    if (this.#creates) this.#created.search(event)
    const found = findUsage(event)
    return found ? [found] : []
  }

  findings(): readonly Finding[] {
    return [...this.#first, ...this.#last.flatMap((read) => read())]
  }
}
