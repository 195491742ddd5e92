// Events of a stream that may hold usage. Most streams repeat it, so nothing is parsed before the end: the first and the last
// few events are kept as bytes, which is all that any provider's rule needs.
import { at, parseJson } from './reader.ts'
import { type Finding, findUsage } from './usage.ts'

const MARKER = Buffer.from('"usage')
const NULL_USAGE = /^"usage(?:Metadata)?"\s*:\s*null/
const LAST = 3

/**
 * The index of a `"usage…"` key in `bytes` between `from` and `to`, or -1. A quote behind a backslash belongs to a text that a
 * model wrote, and `"usage":null` (OpenAI's every chunk but the last) says nothing.
 */
export function findMarker(bytes: Buffer, from: number, to: number): number {
  let i = bytes.indexOf(MARKER, from)
  while (i >= 0 && i < to) {
    const nothing = bytes[i + 6] === 0x22 ? NULL_USAGE.test(bytes.toString('latin1', i, Math.min(i + 24, to))) : false
    if (!nothing && (i === 0 || bytes[i - 1] !== 0x5c)) return i
    i = bytes.indexOf(MARKER, i + 6)
  }
  return -1
}

export class Candidates {
  readonly created: string[] = []
  readonly #creates: readonly string[]
  #first: (() => readonly Finding[]) | null = null
  readonly #last: (() => readonly Finding[])[] = []
  /** Events that are still searched for the name of a created object. */
  #searched = 0

  constructor(creates: readonly string[]) {
    this.#creates = creates
  }

  /** Whether events must be looked at although they hold no usage: the first ones name the object that was created. */
  get searching(): boolean {
    return this.#creates.length > 0 && this.created.length === 0 && this.#searched < 4
  }

  /** Looks into an event, given as text, for the name of a created object. */
  search(json: string): void {
    this.#searched++
    const event = parseJson(json)
    for (const path of this.#creates) {
      const name = at(event, path)
      if (typeof name === 'string') this.created.push(name)
    }
  }

  /** Keeps events that hold the marker, unread. */
  keep(read: () => readonly Finding[]): void {
    if (this.#first === null) this.#first = read
    else {
      this.#last.push(read)
      if (this.#last.length > LAST) this.#last.shift()
    }
  }

  findings(): readonly Finding[] {
    return [...(this.#first ? [this.#first] : []), ...this.#last].flatMap((read) => read())
  }
}

/** The finding, if any, of an event's JSON text. */
export function findIn(json: string): readonly Finding[] {
  const found = findUsage(parseJson(json))
  return found ? [found] : []
}
