// Writes a request to the wire: the head and the first bytes of the body in one piece, then the
// rest as it arrives.
import type { Socket } from 'node:net'
import { scheduleFlush, type BatchWriter } from '../write-batch.ts'
import type { BodySink, RequestBody } from '../exchange.ts'
import { fieldLines, NO_BYTES, type RawHeaders } from '../header-fields.ts'
import { writeFreed } from '../read-memory.ts'
import type { Owner } from '../turns.ts'
import type { Destination } from './destination.ts'

/** The body of a request to an upstream: buffered bytes, then the rest from the caller. */
export type OutboundBody = {
  /** The length in bytes; null if the body is sent chunked, because it was received so. */
  length: number | null
  /** The buffered pieces; emptied when the connection has them and they are not needed again. */
  held: readonly Buffer[]
  /**
   * Whether the memory of a buffered piece may be freed once it is sent, because nothing else reads
   * it. Default: no.
   */
  freesHeld?: boolean
  /** Trailers of a buffered body. */
  heldTrailers: RawHeaders
  rest: RequestBody | null
  /** Sees each piece of the rest. */
  observe: ((piece: Buffer) => void) | null
  /** Selects the caller's trailers that are sent after a chunked body. */
  trailers(raw: RawHeaders): RawHeaders
}

/** The owner of our own requests, such as probes. */
export const INTERNAL_OWNER: Owner = { account_id: '', key_id: '' }

/** One request as sent on the wire. */
export type OutboundRequest = {
  destination: Destination
  method: string
  /** Path and query exactly as they are to be sent, starting with `/`. */
  path: string
  /**
   * Without `Host`, `Connection` and `Transfer-Encoding`. A `Content-Length` in it is replaced by
   * the body's.
   */
  headers: RawHeaders
  body: OutboundBody | null
  /**
   * Whether it asks for another protocol, with `Upgrade` among its headers. It then gets a
   * connection of its own, and the response may switch protocols.
   */
  upgrade?: true
  /** The owner of the request. Default: {@link INTERNAL_OWNER}. */
  owner?: Owner
  /** Called when the buffered pieces of the body are released; null if not needed. */
  onBodyReleased?: (() => void) | null
}

/** Up to this size, head and body are sent in one write. */
const ONE_WRITE_BYTES = 32 * 1024

/** Once a socket has this many bytes waiting, or got them in one turn, buffered pieces wait. */
const MAX_WAITING_BYTES = 256 * 1024

/**
 * Writes one request to a connection: head, buffered pieces, and then the rest of the body as it
 * arrives.
 */
export class RequestWriter implements BodySink, BatchWriter {
  /** Body bytes handed to the connection so far. */
  bytes = 0
  writes = 0
  /** Whether the whole request has been handed to the socket. */
  done = false
  /** Whether anything has been sent since this was last set to false. */
  progressed = true
  readonly #socket: Socket
  readonly #schedule: (write: () => void) => void
  readonly #request: OutboundRequest
  readonly #body: OutboundBody | null
  /** The head, until it has been written. */
  #pendingHead: string
  /** The number of buffered pieces written so far; null before it starts, and after the last. */
  #heldIndex: number | null = null
  /** Whether it waits for its turn to write more of them. */
  #awaitingTurn = false
  #stopped = false

  /**
   * @param takeTurn runs the callback when this request may write, because a fast upstream accepts
   *   a whole large body in one go
   */
  constructor(socket: Socket, request: OutboundRequest, takeTurn: (write: () => void) => void) {
    const { method, path, headers, destination, body } = request
    this.#socket = socket
    this.#schedule = takeTurn
    this.#request = request
    this.#body = body
    const framing =
      body === null
        ? ''
        : body.length === null
          ? 'Transfer-Encoding: chunked\r\n'
          : `Content-Length: ${body.length}\r\n`
    this.#pendingHead = `${method} ${destination.basePath}${path} HTTP/1.1\r\nHost: ${destination.hostHeader}\r\n${fieldLines(headers, 'content-length')}${framing}\r\n`
  }

  start(): void {
    scheduleFlush(this)
  }

  /** Writes the head and the part of the body that has arrived; the rest follows. */
  writeNow(): void {
    // The exchange was aborted, or the connection lost, before it could start.
    if (this.#socket.destroyed) return
    const body = this.#body
    if (body === null) {
      this.#writeBytes(NO_BYTES)
      this.done = true
      return
    }
    this.#heldIndex = 0
    this.#writeHeld(body)
  }

  /**
   * Writes the buffered pieces as fast as the socket accepts them, a few in a turn, and then the
   * rest.
   */
  #writeHeld(body: OutboundBody): void {
    const { held } = body
    if (held.length > 1 && !isShort(held)) return this.#scheduleHeld(body)
    const [first] = held
    if (first !== undefined) this.#writePiece(held.length > 1 ? Buffer.concat(held) : first)
    this.#streamRest(body)
  }

  #scheduleHeld(body: OutboundBody): void {
    if (this.#awaitingTurn) return
    this.#awaitingTurn = true
    this.#schedule(() => {
      this.#awaitingTurn = false
      if (this.#stopped || this.#socket.destroyed) return
      // One system call for all pieces.
      this.#socket.cork()
      this.#writeHeldPieces(body)
      this.#socket.uncork()
    })
  }

  /** Writes the pieces of one turn. */
  #writeHeldPieces(body: OutboundBody): void {
    const { held } = body
    let written = 0
    let next = this.#heldIndex ?? 0
    for (let piece = held[next]; piece !== undefined; piece = held[next]) {
      if (written >= MAX_WAITING_BYTES) return this.#scheduleHeld(body)
      this.#heldIndex = ++next
      written += piece.length
      const isTaken = this.#writePiece(piece, body.freesHeld === true)
      // Continues when the socket has drained.
      if (!isTaken && next < held.length && this.#socket.writableLength >= MAX_WAITING_BYTES) return
    }
    this.#streamRest(body)
  }

  #streamRest(body: OutboundBody): void {
    const { rest } = body
    this.#heldIndex = null
    // After a second write, the request is never sent again.
    if (this.writes > 1) this.releaseBody()
    if (rest === null) return this.onEnd(body.heldTrailers)
    rest.read(this)
    // No part of the body has arrived yet.
    if (this.#pendingHead !== '') this.#writeBytes(NO_BYTES)
  }

  /**
   * Releases the buffered pieces early, because the response to a large request may stream for many
   * minutes.
   */
  releaseBody(): void {
    const body = this.#body
    if (body === null || body.held.length === 0 || this.#heldIndex !== null || this.writes === 0)
      return
    body.held = []
    this.#request.onBodyReleased?.()
  }

  /** Stops sending. */
  stop(): void {
    this.#stopped = true
    if (!this.done) this.#body?.rest?.read(null)
  }

  /** The socket takes more bytes again. */
  onDrain(): void {
    this.progressed = true
    if (this.#heldIndex !== null && this.#body !== null) this.#scheduleHeld(this.#body)
    else if (!this.done) this.#body?.rest?.resume()
  }

  onData(piece: Buffer): void {
    if (!this.#writePiece(piece)) this.#body?.rest?.pause()
    this.#body?.observe?.(piece)
  }

  onEnd(raw: RawHeaders): void {
    const body = this.#body
    if (body === null) return
    this.progressed = true
    if (body.length === null)
      this.#writeBytes(Buffer.from(`0\r\n${fieldLines(body.trailers(raw))}\r\n`, 'latin1'))
    else if (this.#pendingHead !== '') this.#writeBytes(NO_BYTES)
    this.done = true
  }

  /** The response's side reports the failure; there is nothing more to send. */
  onAborted(): void {}

  /**
   * Writes a piece of the body, as a chunk if the body is chunked.
   *
   * @param isFreed whether the piece's memory may be freed once it is sent
   * @returns false: wait for `onDrain`
   */
  #writePiece(piece: Buffer, isFreed = false): boolean {
    this.bytes += piece.length
    this.progressed = true
    if (this.#body?.length !== null) return this.#writeBytes(piece, isFreed)
    if (piece.length === 0) return true
    const size = Buffer.from(`${piece.length.toString(16)}\r\n`, 'latin1')
    return this.#writeBytes(Buffer.concat([size, piece, CRLF]))
  }

  /** Writes bytes as they are, after the head if that is still pending. */
  #writeBytes(bytes: Buffer, isFreed = false): boolean {
    const head = this.#pendingHead
    this.writes++
    if (head === '') return isFreed ? writeFreed(this.#socket, bytes) : this.#socket.write(bytes)
    this.#pendingHead = ''
    if (bytes.length === 0) return this.#socket.write(head, 'latin1')
    if (bytes.length > ONE_WRITE_BYTES) {
      this.writes++
      this.#socket.write(head, 'latin1')
      return isFreed ? writeFreed(this.#socket, bytes) : this.#socket.write(bytes)
    }
    const whole = Buffer.allocUnsafe(head.length + bytes.length)
    whole.write(head, 0, 'latin1')
    bytes.copy(whole, head.length)
    return this.#socket.write(whole)
  }
}

/** Whether all pieces fit in one write with the head. */
function isShort(pieces: readonly Buffer[]): boolean {
  let length = 0
  for (const piece of pieces) if ((length += piece.length) > ONE_WRITE_BYTES) return false
  return true
}

const CRLF = Buffer.from('\r\n')
