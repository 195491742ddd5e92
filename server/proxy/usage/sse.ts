// Reads server-sent events (https://html.spec.whatwg.org/#parsing-an-event-stream). An event
// without usage costs one search.
import { Candidates, findMarker } from './candidates.ts'
import type { CreatedIds } from './created-ids.ts'
import { JsonReader } from './json.ts'
import { LARGEST_EVENT, type Reader } from './reader.ts'
import type { Finding } from './usage.ts'

const [LF, CR] = [0x0a, 0x0d]

/**
 * Events that arrive together are kept together up to this many bytes: copying them is cheaper than
 * separating them.
 */
const SMALL_BLOCK = 2_048

/** Reads usage from server-sent events. */
export class SseReader implements Reader {
  readonly #created: CreatedIds
  readonly #candidates: Candidates
  /** The beginning of an incomplete event. */
  #pending: Buffer = Buffer.alloc(0)
  #length = 0
  /** An event that is too long to be kept, scanned in transit; its data is one line. */
  #long: JsonReader | null = null

  constructor(created: CreatedIds) {
    this.#created = created
    this.#candidates = new Candidates(created)
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
      const marker = findMarker(bytes, from, end)
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
