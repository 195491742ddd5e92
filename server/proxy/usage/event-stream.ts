// Reads streams of events, of which few have usage. Server-sent events
// (https://html.spec.whatwg.org/#parsing-an-event-stream) are separated here, Amazon's in
// aws-event-stream.ts. An event without usage costs one search.
import { parseJson, stepsOf } from '../json/paths.ts'
import { CITATION } from '../providers/object-ref.ts'
import type { UsageKind } from '../providers/wire-format.ts'
import type { CreatedIds } from './created-ids.ts'
import { JsonReader } from './json.ts'
import { LARGEST_EVENT, type Reader } from './reader.ts'
import { type Finding, findUsage } from './usage.ts'

/** Begins the key of nearly every usage object: `usage`, `usageMetadata`. */
const USAGE_MARKER: Buffer = Buffer.from('"usage')
/** Cohere's, whose first version has `response.meta` instead, at the end of a stream. */
const COHERE_MARKER: Buffer = Buffer.from('"billed_units"')
const NULL_USAGE = /^"usage(?:Metadata)?"\s*:\s*null/
const LAST = 3
const BEGINS_JSON = /^\s*(?:\{|\[(?!DONE\]))/

/** The beginning of a key that every event with usage of this kind has; null: of any kind. */
export const usageMarker = (kind: UsageKind | null): Buffer =>
  kind === 'cohere' ? COHERE_MARKER : USAGE_MARKER

/**
 * The index of the marker in `bytes` between `from` and `to`, or -1. A quote after a backslash
 * belongs to text that a model wrote, and `"usage":null` (in all of OpenAI's chunks but the last)
 * means nothing.
 */
export function findMarker(bytes: Buffer, from: number, to: number, marker = USAGE_MARKER): number {
  let i = bytes.indexOf(marker, from)
  while (i >= 0 && i < to) {
    const nothing =
      bytes[i + 6] === 0x22
        ? NULL_USAGE.test(bytes.toString('latin1', i, Math.min(i + 24, to)))
        : false
    if (!nothing && (i === 0 || bytes[i - 1] !== 0x5c)) return i
    i = bytes.indexOf(marker, i + marker.length)
  }
  return -1
}

/**
 * The events of one stream that may have usage. Most streams repeat it, so little is parsed before
 * the end: the first such event is read, and the last few are kept as bytes, which is enough for
 * every provider's rule.
 */
export class Candidates {
  readonly #created: CreatedIds
  readonly #creates: boolean
  /** The keys of objects that any event of a stream may create: those in lists and citations. */
  readonly #markers: readonly Buffer[]
  #first: readonly Finding[] = []
  readonly #last: (() => readonly Finding[])[] = []
  /** Events that are still searched for the name of a created object. */
  #searched = 0

  constructor(created: CreatedIds) {
    this.#created = created
    const places = Object.entries(created.creates)
    this.#creates = places.length > 0
    const keys = places
      .filter(([place, kind]) => place.includes('[]') || kind === CITATION)
      .map(([place, kind]) =>
        kind === CITATION ? 'container_id' : stepsOf(place).findLast((step) => step !== '[]'),
      )
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

const [LF, CR] = [0x0a, 0x0d]

/**
 * Events that arrive together are kept together up to this many bytes: copying them is cheaper than
 * separating them. A piece of 4 KB that was decoded takes 15 µs so, and 65 µs if it is separated.
 */
const SMALL_BLOCK = 4_608

/** Reads usage from server-sent events. */
export class SseReader implements Reader {
  readonly #created: CreatedIds
  readonly #candidates: Candidates
  readonly #marker: Buffer
  /** The beginning of an incomplete event. */
  #pending: Buffer = Buffer.alloc(0)
  #length = 0
  /** An event that is too long to be kept, scanned in transit; its data is one line. */
  #long: JsonReader | null = null

  constructor(created: CreatedIds, marker = USAGE_MARKER) {
    this.#created = created
    this.#candidates = new Candidates(created)
    this.#marker = marker
  }

  write(chunk: Buffer): void {
    if (this.#long) {
      const end = lineEnd(chunk)
      this.#long.write(end < 0 ? chunk : chunk.subarray(0, end))
      if (end < 0) return
      this.#endLong()
      this.write(chunk.subarray(end))
      return
    }
    if (this.#length === 0) {
      const end = lastBoundary(chunk, 0)
      if (end > 0) this.#events(chunk, end)
      this.#append(chunk, Math.max(end, 0))
    } else {
      const from = this.#length
      this.#append(chunk, 0)
      const all = this.#pending.subarray(0, this.#length)
      const end = lastBoundary(all, from)
      if (end > 0) {
        this.#events(all, end)
        this.#pending.copyWithin(0, end, this.#length)
        this.#length -= end
      }
    }
    if (this.#length > LARGEST_EVENT) this.#beginLong()
  }

  end(): void {
    if (this.#length > 0 && this.#isCut()) this.#beginLong()
    if (this.#long) this.#endLong()
    else if (this.#length > 0) this.#events(this.#pending.subarray(0, this.#length), this.#length)
    this.#length = 0
  }

  findings(): readonly Finding[] {
    return this.#candidates.findings()
  }

  /** Reads whole events: `bytes` up to `end`. */
  #events(bytes: Buffer, end: number): void {
    if (this.#candidates.mayCreate(bytes, end)) {
      let start = 0
      while (start < end) {
        const next = Math.min(nextBoundary(bytes, start, end), end)
        const data = dataOf(bytes.toString('utf8', start, next))
        if (data.startsWith('{')) this.#candidates.search(data)
        start = next
      }
    }
    let from = 0
    for (;;) {
      const marker = findMarker(bytes, from, end, this.#marker)
      if (marker < 0) return
      if (end - from <= SMALL_BLOCK) {
        const block = Buffer.from(bytes.subarray(from, end))
        this.#candidates.keep(() =>
          block
            .toString('utf8')
            .split(/(?:\r\n|\n|\r(?!\n)){2,}/)
            .flatMap((event) => this.#candidates.read(dataOf(event))),
        )
        return
      }
      const start = Math.max(lastBoundary(bytes.subarray(0, marker), 0), 0)
      const next = nextBoundary(bytes, marker, end)
      const event = Buffer.from(bytes.subarray(start, next))
      this.#candidates.keep(() => this.#candidates.read(dataOf(event.toString('utf8'))))
      from = next
    }
  }

  /** Whether the stream ended within an event: what has arrived may name a created object. */
  #isCut(): boolean {
    const data = dataOf(this.#pending.toString('utf8', 0, this.#length))
    return data.startsWith('{') && parseJson(data) === undefined
  }

  #append(chunk: Buffer, from: number): void {
    const more = chunk.length - from
    if (more === 0) return
    if (this.#length + more > this.#pending.length) {
      const grown = Buffer.allocUnsafe(Math.max(1024, (this.#length + more) * 2))
      this.#pending.copy(grown, 0, 0, this.#length)
      this.#pending = grown
    }
    chunk.copy(this.#pending, this.#length, from)
    this.#length += more
  }

  #beginLong(): void {
    const all = this.#pending.subarray(0, this.#length)
    const data = /(?:^|[\r\n])data:/.exec(all.toString('latin1', 0, 4096))
    this.#long = new JsonReader(this.#created)
    const start = data ? data.index + data[0].length : this.#length
    const end = lineEnd(all.subarray(start))
    this.#pending = Buffer.alloc(0)
    this.#length = 0
    this.#long.write(end < 0 ? all.subarray(start) : all.subarray(start, start + end))
    if (end < 0) return
    this.#endLong()
    // Only the last of a long event's other lines is kept, because each would be copied again for
    // every line before it.
    const rest = all.subarray(start + end)
    this.write(Buffer.from(rest.subarray(lastLineEnd(rest))))
  }

  #endLong(): void {
    const found = this.#long?.findings() ?? []
    this.#long = null
    if (found.length > 0) this.#candidates.keep(() => found)
  }
}

/** The joined `data` lines of one event. */
function dataOf(event: string): string {
  const lines = event.split(/\r\n|\n|\r/)
  const data: string[] = []
  for (const line of lines)
    if (line.startsWith('data:'))
      data.push(line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5))
  return data.join('\n')
}

/** The start of the last line break; there is one. */
function lastLineEnd(bytes: Buffer): number {
  const at = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR))
  return at > 0 && bytes[at] === LF && bytes[at - 1] === CR ? at - 1 : at
}

/** The first line break, or -1. */
function lineEnd(bytes: Buffer): number {
  const lf = bytes.indexOf(LF)
  const cr = bytes.indexOf(CR)
  return lf < 0 ? cr : cr < 0 ? lf : Math.min(lf, cr)
}

/** Whether a blank line ends at index `i`: \n\n, \r\n\r\n, \r\r and their mixtures. */
function isBoundary(bytes: Buffer, i: number): boolean {
  const byte = bytes[i]
  const before = bytes[i - 1]
  if (byte === LF)
    return before === LF || (before === CR && (bytes[i - 2] === LF || bytes[i - 2] === CR))
  return byte === CR && (before === CR || before === LF)
}

/** The index after the last blank line that ends at or after `from`, or -1. */
function lastBoundary(bytes: Buffer, from: number): number {
  for (let i = bytes.length - 1; i >= from; i--) if (isBoundary(bytes, i)) return i + 1
  return -1
}

/** The index after the first blank line that ends after `from`, at most `end`. */
function nextBoundary(bytes: Buffer, from: number, end: number): number {
  for (let i = from + 1; i < end; i++) if (isBoundary(bytes, i)) return i + 1
  return end
}
