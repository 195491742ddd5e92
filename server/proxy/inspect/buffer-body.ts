// Reads a request body to its end if all of it must be inspected before any of it may be forwarded.
// A body in memory stays pieces: large ones unchanged, small ones copied together. It is never one
// buffer.
import type { BodySink, RequestBody } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { Match } from '../providers/match.ts'
import type { Provider } from '../providers/provider.ts'
import { outboundTrailers } from './outside-body.ts'

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

/** A completely buffered body. */
export type CompleteBody = Extract<BufferedBody, { ok: true }>

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

/**
 * From this size, a piece is kept uncopied, unless it is a small part of the memory that it keeps
 * alive.
 */
const LARGE_BYTES = 16 * 1024
/** Small pieces are copied into blocks that begin with this size, and grow with the body. */
const FIRST_BLOCK_BYTES = 1024
const MAX_BLOCK_BYTES = 64 * 1024

/**
 * Collects the pieces of one body. A body of several pieces takes at most twice the memory of its
 * bytes plus 1 KB, however small they are: a piece of one byte would keep alive everything that was
 * read from the socket with it.
 */
export class PieceList {
  /** Bytes in all pieces. */
  length = 0
  #pieces: Buffer[] = []
  /** The first piece, while it is the only one. */
  #lone: Buffer | null = null
  /**
   * The block that small pieces are copied into: `#from … #to` is not yet a piece, and the rest is
   * free.
   */
  #block: Buffer | null = null
  #from = 0
  #to = 0

  add(piece: Buffer): void {
    if (piece.length === 0) return
    // Most bodies are one piece, which is not copied unless a second one comes.
    if (this.#lone !== null) {
      this.#take(this.#lone)
      this.#lone = null
    }
    if (this.length === 0) this.#lone = piece
    else this.#take(piece)
    this.length += piece.length
  }

  /** All pieces so far, in order. */
  all(): readonly Buffer[] {
    if (this.#lone !== null) return [this.#lone]
    this.#close()
    return this.#pieces
  }

  #take(piece: Buffer): void {
    if (!isLarge(piece)) return this.#copy(piece)
    this.#close()
    this.#pieces.push(piece)
  }

  #copy(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      if (this.#block === null || this.#to === this.#block.length) {
        this.#close()
        this.#block = Buffer.allocUnsafeSlow(
          Math.min(MAX_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.length >> 1)),
        )
        this.#from = this.#to = 0
      }
      const copied = piece.copy(this.#block, this.#to, at)
      this.#to += copied
      at += copied
    }
  }

  /** Makes a piece of the copied bytes; the next small pieces use the rest of the block. */
  #close(): void {
    if (this.#block === null || this.#from === this.#to) return
    this.#pieces.push(this.#block.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}

function isLarge(piece: Buffer): boolean {
  return piece.length >= LARGE_BYTES && piece.length * 4 >= piece.buffer.byteLength * 3
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

/** The outbound body of a request whose body is buffered completely; null if it has none. */
export function heldBody(
  body: RequestBody | null,
  { pieces, trailers }: CompleteBody,
  target: { readonly provider: Provider; readonly match: Match },
): OutboundRequest['body'] {
  if (body === null) return null
  return {
    length: body.length,
    held: pieces,
    freesHeld: true,
    heldTrailers: trailers,
    rest: null,
    observe: null,
    trailers: (raw) => outboundTrailers(raw, target),
  }
}

/** Abandons a body: further bytes are discarded. */
export function discardBody(body: RequestBody): void {
  body.read(null)
  body.resume()
}
