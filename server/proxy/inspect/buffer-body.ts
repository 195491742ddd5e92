// Reads a request body to its end if all of it must be inspected before any of it may be forwarded.
import type { BodySink, RequestBody } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import { PieceList } from './pieces.ts'
import type { RequestSlot } from '../admission/request-shares.ts'

/** A complete body, or why it was not read completely. */
export type BufferedBody =
  /**
   * `pieces` in order, with `length` bytes together. They are never joined, because copying a body
   * of 64 MB would block everything else.
   */
  | { ok: true; pieces: readonly Buffer[]; length: number; trailers: RawHeaders }
  /** `pieces`: read so far, and counted as buffered; the rest waits. */
  | { ok: false; reason: 'too_large'; pieces: readonly Buffer[]; length: number }
  /** As much as the reader needed before the rest may be streamed. */
  | { ok: false; reason: 'begun'; pieces: readonly Buffer[]; length: number }
  /**
   * `busy`: no room for it, or it had to make room for others. `slow`: it did not arrive fast
   * enough. `gone`: the caller left before its end.
   */
  | { ok: false; reason: 'busy' | 'slow' | 'gone' }

/** How slowly a buffered body may arrive. */
export interface BodyTimeouts {
  /** Milliseconds for which no bytes may arrive. */
  readonly still: number
  /** Milliseconds after which it must have reached {@link MIN_RATE} on average. */
  readonly grace: number
}

/** Bytes per millisecond: 16 KB/s, slower than any network on which people upload files. */
const MIN_RATE = 16.384

/** Receives each piece of a body; returns true if the rest need not be buffered. */
export type BodyProbe = (piece: Buffer) => boolean

/**
 * Reads the body, `limit` bytes at most. The bytes count as buffered by `slot` until it releases
 * them. If the whole body has already arrived, the result is synchronous. Until the body is
 * complete, the request may be evicted.
 */
export function bufferBody(
  body: RequestBody,
  limit: number,
  pace: BodyTimeouts,
  slot: RequestSlot,
  probe: BodyProbe | null = null,
): BufferedBody | Promise<BufferedBody> {
  if (probe === null && (body.length ?? 0) > limit)
    return { ok: false, reason: 'too_large', pieces: [], length: 0 }
  const reading = new BodyBuffer(body, limit, slot, probe)
  body.read(reading)
  return reading.result ?? reading.wait(pace)
}

class BodyBuffer implements BodySink {
  result: BufferedBody | null = null
  readonly #body: RequestBody
  readonly #limit: number
  readonly #slot: RequestSlot
  readonly #probe: BodyProbe | null
  readonly #list = new PieceList()
  #resolve: ((result: BufferedBody) => void) | null = null
  #timer: NodeJS.Timeout | undefined
  /** When it began, and when the last piece came. */
  readonly #startedAt = performance.now()
  #lastDataAt = this.#startedAt

  constructor(body: RequestBody, limit: number, slot: RequestSlot, probe: BodyProbe | null) {
    this.#body = body
    this.#limit = limit
    this.#slot = slot
    this.#probe = probe
  }

  wait(pace: BodyTimeouts): Promise<BufferedBody> {
    this.#slot.allowEviction(() => this.#end({ ok: false, reason: 'busy' }))
    this.#checkPace(pace, performance.now())
    return new Promise((resolve) => (this.#resolve = resolve))
  }

  onData(chunk: Buffer): void {
    if (!this.#slot.holdBytes(chunk.length)) return this.#end({ ok: false, reason: 'busy' })
    if (this.#resolve !== null) this.#lastDataAt = performance.now()
    this.#list.add(chunk)
    if (this.#list.length > this.#limit)
      this.#end({ ok: false, reason: 'too_large', ...this.#read() })
    else if (this.#probe?.(chunk) === true)
      this.#end({ ok: false, reason: 'begun', ...this.#read() })
  }

  onEnd(trailers: RawHeaders): void {
    this.#end({ ok: true, ...this.#read(), trailers })
  }

  onAborted(): void {
    this.#end({ ok: false, reason: 'gone' })
  }

  #read(): { pieces: readonly Buffer[]; length: number } {
    return { pieces: this.#list.all(), length: this.#list.length }
  }

  /**
   * Ends the body if it is too slow; otherwise checks again when it would be if no more bytes came.
   */
  #checkPace(pace: BodyTimeouts, now: number): void {
    if (this.result !== null) return
    const slowAt = this.#startedAt + Math.max(pace.grace, this.#list.length / MIN_RATE)
    const stillAt = this.#lastDataAt + pace.still
    const left = Math.min(slowAt, stillAt) - now
    if (left <= 0) return this.#end({ ok: false, reason: 'slow' })
    // After a stall of this process, timers run before what has arrived meanwhile is read.
    const checkRead = (): void => {
      setImmediate((at: number) => this.#checkPace(pace, at), performance.now())
    }
    this.#timer = setTimeout(checkRead, Math.ceil(left)).unref()
  }

  #end(result: BufferedBody): void {
    if (this.result !== null) return
    this.result = result
    clearTimeout(this.#timer)
    this.#slot.forbidEviction()
    if (!result.ok) {
      if (result.reason === 'too_large' || result.reason === 'begun') this.#body.pause()
      else {
        this.#slot.releaseBytes()
        discardBody(this.#body)
      }
    }
    this.#resolve?.(result)
  }
}

/** Abandons a body: further bytes are discarded. */
export function discardBody(body: RequestBody): void {
  body.read(null)
  body.resume()
}
