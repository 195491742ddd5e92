// Reads a request body to its end where the gate has to see all of it before the upstream may see any.
import type { BodySink, CallerBody } from '../http/caller.ts'
import type { RawHeaders } from '../http/fields.ts'
import { PieceList } from './pieces.ts'

export type WholeBody =
  /** `pieces` of `length` bytes together, in their order. Never joined: a body of 64 MB would be copied, and stop everything else meanwhile. */
  | { ok: true; pieces: readonly Buffer[]; length: number; trailers: RawHeaders }
  /** `pieces`: what has been read, and counts as held; the rest waits. */
  | { ok: false; reason: 'too_large'; pieces: readonly Buffer[]; length: number }
  | { ok: false; reason: 'busy' }
  | { ok: false; reason: 'still' }
  | { ok: false; reason: 'gone' }

/** Bytes of bodies held in memory at one time, by all requests together. */
const MOST_HELD = 512 * 1024 * 1024
let held = 0

/**
 * Reads the body, `limit` bytes at most. What was read counts as held until `release` is called. When all of it has come already, the answer is
 * there at once.
 *
 * `busy`: so many bodies are held that another one would not fit. `still`: nothing of it came for so many milliseconds. `gone`: the caller left in the middle.
 */
export function readWhole(body: CallerBody, limit: number, still: number): WholeBody | Promise<WholeBody> {
  const announced = body.length ?? 0
  if (announced > limit) return { ok: false, reason: 'too_large', pieces: [], length: 0 }
  if (held + announced > MOST_HELD) return { ok: false, reason: 'busy' }
  const reading = new Reading(body, limit)
  body.read(reading)
  return reading.result ?? reading.wait(still)
}

class Reading implements BodySink {
  result: WholeBody | null = null
  readonly #body: CallerBody
  readonly #limit: number
  readonly #list = new PieceList()
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
    held += chunk.length
    this.#list.add(chunk)
    if (this.#list.length > this.#limit) this.#end({ ok: false, reason: 'too_large', ...this.#read() })
    else if (held > MOST_HELD) this.#end({ ok: false, reason: 'busy' })
  }

  onEnd(trailers: RawHeaders): void {
    this.#end({ ok: true, ...this.#read(), trailers })
  }

  onGone(): void {
    this.#end({ ok: false, reason: 'gone' })
  }

  #read(): { pieces: readonly Buffer[]; length: number } {
    return { pieces: this.#list.all(), length: this.#list.length }
  }

  #end(result: WholeBody): void {
    if (this.result !== null) return
    this.result = result
    clearTimeout(this.#timer)
    if (!result.ok) {
      if (result.reason === 'too_large') this.#body.pause()
      else discard(this.#body, this.#list.length)
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
