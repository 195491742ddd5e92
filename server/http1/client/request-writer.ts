// A request as it goes on the wire: head and first bytes of the body in one piece, then the rest as
// it comes.
import type { Socket } from 'node:net'
import { scheduleFlush, type BatchWriter } from '../write-batch.ts'
import type { BodySink, RequestBody } from '../exchange.ts'
import { fieldLines, NO_BYTES, type RawHeaders } from '../header-fields.ts'
import { freeRead } from '../read-memory.ts'
import type { Owner } from '../turns.ts'
import type { Destination } from './destination.ts'

/**
 * The body of a request to an upstream: bytes that were read already, then whatever the caller
 * still sends.
 */
export type OutboundBody = {
  /** The number of bytes in all, or null: then it goes up in chunks, as it came. */
  length: number | null
  /** Emptied when the pieces have been handed to the connection and will not be needed again. */
  held: readonly Buffer[]
  /**
   * Whether the memory of a held piece may be freed when it has been sent: nobody else reads it
   * then. Left out, it is not.
   */
  freesHeld?: boolean
  /** Trailers that came with a held body. */
  heldTrailers: RawHeaders
  rest: RequestBody | null
  /** Looks at the pieces of the rest. */
  observe: ((piece: Buffer) => void) | null
  /** Which of the caller's trailers go up behind a body in chunks. */
  trailers(raw: RawHeaders): RawHeaders
}

/** Whose requests without a key are, such as probes. */
export const INTERNAL_OWNER: Owner = { account_id: '', key_id: '' }

/** One request as it goes on the wire. */
export type OutboundRequest = {
  destination: Destination
  method: string
  /** Path and query exactly as they are to be sent, starting with `/`. */
  path: string
  /**
   * Without `Host`, `Connection` and `Transfer-Encoding`; `Content-Length` may stand in it, and is
   * set by the body.
   */
  headers: RawHeaders
  body: OutboundBody | null
  /**
   * Whether it asks for another protocol, with `Upgrade` among its headers: then it gets a
   * connection of its own, and the answer may be a switch.
   */
  upgrade?: true
  /** Whose request it is; left out, {@link INTERNAL_OWNER}. */
  owner?: Owner
  /** Told when the held pieces of the body have been let go; null where nobody asks. */
  onBodyReleased?: (() => void) | null
}

/** Up to this size head and body go out as one piece. */
const ONE_WRITE_BYTES = 32 * 1024

/**
 * Held bytes that are handed to a socket which does not take them yet; also those that are written
 * in one turn.
 */
const MAX_WAITING_BYTES = 256 * 1024

/** Writes one request to a connection: head, held pieces, and then the rest of the body as it comes. */
export class RequestWriter implements BodySink, BatchWriter {
  /** Body bytes handed to the connection so far. */
  bytes = 0
  writes = 0
  /** The whole request has been handed to the socket. */
  done = false
  /** Something has been sent since this was last set to false. */
  progressed = true
  readonly #socket: Socket
  readonly #schedule: (write: () => void) => void
  readonly #request: OutboundRequest
  readonly #body: OutboundBody | null
  /** The head, until it is written. */
  #pendingHead: string
  /** How many pieces of the held body have been written; null when the rest goes up. */
  #heldIndex: number | null = null
  /** It waits for its turn to write more of them. */
  #awaitingTurn = false
  #stopped = false

  /**
   * @param takeTurn calls what it is given when this request may write: a fast upstream takes all
   * of a large body at once
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

  /** The head, and what has come of the body; the rest follows as it comes. */
  writeNow(): void {
    // Aborted, or lost, since it was to start.
    if (this.#socket.destroyed) return
    const body = this.#body
    if (body === null) {
      this.#write(NO_BYTES)
      this.done = true
      return
    }
    this.#heldIndex = 0
    this.#sendHeld(body)
  }

  /**
   * Writes what is held as fast as the socket takes it, a few pieces in a turn, and then goes on
   * with the rest.
   */
  #sendHeld(body: OutboundBody): void {
    const { held } = body
    if (held.length > 1 && !isShort(held)) return this.#writeHeld(body)
    const [first] = held
    if (first !== undefined) this.#send(held.length > 1 ? Buffer.concat(held) : first)
    this.#streamRest(body)
  }

  #writeHeld(body: OutboundBody): void {
    if (this.#awaitingTurn) return
    this.#awaitingTurn = true
    this.#schedule(() => {
      this.#awaitingTurn = false
      if (!this.#stopped && !this.#socket.destroyed) this.#sendSome(body)
    })
  }

  /** What is written in one turn. */
  #sendSome(body: OutboundBody): void {
    const { held } = body
    let written = 0
    let next = this.#heldIndex ?? 0
    for (let piece = held[next]; piece !== undefined; piece = held[next]) {
      if (written >= MAX_WAITING_BYTES) return this.#writeHeld(body)
      this.#heldIndex = ++next
      written += piece.length
      const isTaken = this.#send(piece, body.freesHeld === true)
      // Goes on when it is drained.
      if (!isTaken && next < held.length && this.#socket.writableLength >= MAX_WAITING_BYTES) return
    }
    this.#streamRest(body)
  }

  #streamRest(body: OutboundBody): void {
    const { rest } = body
    this.#heldIndex = null
    // A request of which more than one write has gone out is never sent a second time.
    if (this.writes > 1) this.releaseBody()
    if (rest === null) return this.onEnd(body.heldTrailers)
    rest.read(this)
    // Nothing of the body has come yet.
    if (this.#pendingHead !== '') this.#write(NO_BYTES)
  }

  /** Lets the held pieces go: an answer to a large request may stream for many minutes. */
  releaseBody(): void {
    const body = this.#body
    if (body === null || body.held.length === 0 || this.#heldIndex !== null || this.writes === 0)
      return
    body.held = []
    this.#request.onBodyReleased?.()
  }

  /** Sends nothing more. */
  stop(): void {
    this.#stopped = true
    if (!this.done) this.#body?.rest?.read(null)
  }

  /** The socket takes more bytes again. */
  onDrain(): void {
    this.progressed = true
    if (this.#heldIndex !== null && this.#body !== null) this.#writeHeld(this.#body)
    else if (!this.done) this.#body?.rest?.resume()
  }

  onData(piece: Buffer): void {
    if (!this.#send(piece)) this.#body?.rest?.pause()
    this.#body?.observe?.(piece)
  }

  onEnd(raw: RawHeaders): void {
    const body = this.#body
    if (body === null) return
    this.progressed = true
    if (body.length === null)
      this.#write(Buffer.from(`0\r\n${fieldLines(body.trailers(raw))}\r\n`, 'latin1'))
    else if (this.#pendingHead !== '') this.#write(NO_BYTES)
    this.done = true
  }

  /** Whoever waits for the answer is told; here is nothing more to send. */
  onAborted(): void {}

  /**
   * @param isFreed whether nobody reads the piece any more once it is sent
   * @returns false: wait for `drained`
   */
  #send(piece: Buffer, isFreed = false): boolean {
    this.bytes += piece.length
    this.progressed = true
    if (this.#body?.length !== null) return this.#write(piece, isFreed)
    if (piece.length === 0) return true
    const size = Buffer.from(`${piece.length.toString(16)}\r\n`, 'latin1')
    return this.#write(Buffer.concat([size, piece, CRLF]))
  }

  #write(bytes: Buffer, isFreed = false): boolean {
    const head = this.#pendingHead
    this.writes++
    if (head === '')
      return isFreed ? this.#socket.write(bytes, freeSent(bytes)) : this.#socket.write(bytes)
    this.#pendingHead = ''
    if (bytes.length === 0) return this.#socket.write(head, 'latin1')
    if (bytes.length > ONE_WRITE_BYTES) {
      this.writes++
      this.#socket.write(head, 'latin1')
      return isFreed ? this.#socket.write(bytes, freeSent(bytes)) : this.#socket.write(bytes)
    }
    const whole = Buffer.allocUnsafe(head.length + bytes.length)
    whole.write(head, 0, 'latin1')
    bytes.copy(whole, head.length)
    return this.#socket.write(whole)
  }
}

/** Frees a piece when the system has taken it: a write that fails may still be reading it. */
const freeSent =
  (piece: Buffer) =>
  (error?: Error | null): void => {
    if (!error) freeRead(piece)
  }

/** Whether all pieces fit into one write with the head. */
function isShort(pieces: readonly Buffer[]): boolean {
  let length = 0
  for (const piece of pieces) if ((length += piece.length) > ONE_WRITE_BYTES) return false
  return true
}

const CRLF = Buffer.from('\r\n')
