// Reads a request body to its end where the gate has to see all of it before the upstream may see any.
import type { BodySink, CallerBody } from '../http/caller.ts'
import { NO_BYTES, type RawHeaders } from '../http/fields.ts'

export type WholeBody =
  | { ok: true; body: Buffer; trailers: RawHeaders }
  /** `begun`: what has been read, and counts as held; the rest waits. */
  | { ok: false; reason: 'too_large'; begun: Buffer }
  | { ok: false; reason: 'busy' }
  | { ok: false; reason: 'still' }
  | { ok: false; reason: 'gone' }

/** Bytes of bodies held in memory at one time, by all requests together. */
const MOST_HELD = 512 * 1024 * 1024
let held = 0

/** Pieces that are kept as they came; more are put together, because one of a single byte keeps alive all that came with it. */
const MOST_PIECES = 2_048

/**
 * Reads the body, `limit` bytes at most. What was read counts as held until `release` is called. When all of it has come already, the answer is
 * there at once.
 *
 * `busy`: so many bodies are held that another one would not fit. `still`: nothing of it came for so many milliseconds. `gone`: the caller left in the middle.
 */
export function readWhole(body: CallerBody, limit: number, still: number): WholeBody | Promise<WholeBody> {
  const announced = body.length ?? 0
  if (announced > limit) return { ok: false, reason: 'too_large', begun: NO_BYTES }
  if (held + announced > MOST_HELD) return { ok: false, reason: 'busy' }
  const reading = new Reading(body, limit)
  body.read(reading)
  return reading.result ?? reading.wait(still)
}

class Reading implements BodySink {
  result: WholeBody | null = null
  readonly #body: CallerBody
  readonly #limit: number
  #chunks: Buffer[] = []
  /** How many of them, at the beginning, are pieces put together. */
  #joined = 0
  #length = 0
  #resolve: ((result: WholeBody) => void) | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(body: CallerBody, limit: number) {
    this.#body = body
    this.#limit = limit
  }

  wait(still: number): Promise<WholeBody> {
    this.#timer = setTimeout(() => this.#end({ ok: false, reason: 'still' }), still).unref()
    return new Promise((resolve) => (this.#resolve = resolve))
  }

  onData(chunk: Buffer): void {
    this.#timer?.refresh()
    this.#length += chunk.length
    held += chunk.length
    this.#chunks.push(chunk)
    if (this.#chunks.length - this.#joined > MOST_PIECES) this.#chunks.push(Buffer.concat(this.#chunks.splice(this.#joined++)))
    if (this.#length > this.#limit) this.#end({ ok: false, reason: 'too_large', begun: Buffer.concat(this.#chunks) })
    else if (held > MOST_HELD) this.#end({ ok: false, reason: 'busy' })
  }

  onEnd(trailers: RawHeaders): void {
    this.#end({ ok: true, body: this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks), trailers })
  }

  onGone(): void {
    this.#end({ ok: false, reason: 'gone' })
  }

  #end(result: WholeBody): void {
    if (this.result !== null) return
    this.result = result
    clearTimeout(this.#timer)
    this.#chunks = []
    if (!result.ok) {
      if (result.reason === 'too_large') this.#body.pause()
      else discard(this.#body, this.#length)
    }
    this.#resolve?.(result)
  }
}

/** Gives a body up of which so many bytes are held: what still comes of it goes nowhere. */
export function discard(body: CallerBody, length: number): void {
  release(length)
  body.read(null)
  body.resume()
}

/** Bytes that were held are not any more. */
export function release(length: number): void {
  held -= length
}
