// A caller's connection: one request after another until the caller or we have enough. Each is a
// Call, and is over when its answer has been taken and its body has been read.
import type { Socket } from 'node:net'
import { AT_ONCE_BYTES, drain, throwAway, type Drained } from './slow-reads.ts'
import { Call, type Line } from './server-exchange.ts'
import type { Addresses, Leave } from './address-limits.ts'
import type { Caller } from './exchange.ts'
import type { LoopTurns } from './loop-turns.ts'
import { countRead } from './read-memory.ts'
import { beginsProxied, RequestError, RequestReader, type RequestHead } from './request-parser.ts'

/** What all connections of a server share. */
export interface House {
  /** Takes a request. */
  handle(caller: Caller): void
  /** Takes a connection whose next request is not for the proxy, with what has been read of it. */
  handOver(socket: Socket, unread: Buffer): void
  /** The bytes that answer what is no request. */
  refusal(code: RefusalCode, message: string): Buffer
  /** A connection is gone, or is somebody else's now. */
  left(connection: Connection): void
  /** No connection gets another request. */
  readonly closing: boolean
  readonly limits: CallerLimits
  readonly addresses: Addresses
  /** Large pieces of bodies, as many as may be read in one turn of the event loop. */
  readonly reads: LoopTurns
  /** The last lines of a head that lets its connection live. */
  readonly keep: string
}

/** In milliseconds. */
export interface CallerLimits {
  /** How long a caller may take to send the head of a request. */
  readonly head: number
  /** How long a connection may wait for its next request. */
  readonly keepAlive: number
}

/** What is refused on a connection before it is a request for anybody. */
export type RefusalCode = RequestError['code'] | 'request_timeout' | 'too_many_connections'

export const TOO_MANY = [
  'too_many_connections',
  'Too many requests from this address are under way. Try again in a moment.',
] as const

/** How long the last bytes of an answer may wait for a caller that does not read. */
const LAST_BYTES_MS = 300_000
/**
 * After an early answer (401, 413, 429, …) the rest of the request is read into nothing, slowly, so
 * that the caller gets to read the answer: closing at once would make its system throw the answer
 * away. More than the largest body, but not for ever.
 */
const LINGER_MS = 5_000
const LINGER_BYTES = 64 * 1_048_576
/**
 * A head that comes in more pieces is read slowly: each costs about as much as a whole request, and
 * thousands of callers can send theirs byte by byte.
 */
const HEAD_PIECES = 4
/** Bytes that may wait for somebody to take them before the socket is paused. */
const MOST_WAITING = 64 * 1024

/**
 * Where so many bytes have come at once, more wait in the system: of a fast upload Node reads up to
 * two megabytes in a turn of the loop.
 */
const LARGE_BYTES = 32 * 1024
/** Whose turn it is to be read: bodies take theirs one after the other. */
const BODIES = { account_id: '', key_id: '' }

/** What the connection waits for. */
type Wait = 'head' | 'next' | 'call' | 'linger' | 'taking' | 'close'

export class Connection implements Line, Drained {
  readonly socket: Socket
  readonly address: string
  readonly reader = new RequestReader()
  readonly #house: House
  #call: Call | null = null
  #advancing = false
  #paused = false
  /** It waits for its turn to be read. */
  #resting = false
  #handedOver = false
  #lingered = 0
  /** Pieces of the head that have come without its end. */
  #headPieces = 0
  /** How many pieces of a refused body are read before it waits for its next turn. */
  #pieces = 0
  /** Ends the count of the call where it is counted by its address. */
  #leave: Leave | undefined
  #wait: Wait = 'head'
  /** How long it may wait, in milliseconds; when that is over, which is set at the first look. */
  #limit: number
  #deadline = 0

  constructor(socket: Socket, house: House) {
    this.socket = socket
    this.address = socket.remoteAddress ?? ''
    this.#house = house
    this.#limit = house.limits.head
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('close', this.#onClose)
      .on('drain', this.#onDrain)
      .on('error', ignore)
  }

  get keep(): string {
    return this.#house.keep
  }

  get retiring(): boolean {
    return this.#house.closing
  }

  /** Looks whether it has waited too long. @param now monotonic milliseconds */
  check(now: number): void {
    if (this.#deadline === 0) this.#deadline = now + this.#limit
    else if (now >= this.#deadline) {
      if (this.#wait === 'head' && this.reader.unread.length > 0)
        this.#refuse('request_timeout', 'The head of the request took too long.')
      else this.socket.destroy()
    }
  }

  /** No more requests: an unused connection is closed, another one after its answer. */
  retire(): void {
    if (this.#call === null) this.#close()
  }

  /**
   * Ends it now. An answer that has not been said to its end is reset: to a caller of HTTP/1.0 an
   * ordinary close would be its end.
   */
  cut(): void {
    if (this.#call === null) this.socket.destroy()
    else this.socket.resetAndDestroy()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (!this.#resting) this.socket.resume()
  }

  fail(error: unknown): void {
    if (!(error instanceof RequestError)) throw error
    this.#refuse(error.code, error.message)
  }

  linger(bytes: number): void {
    if (this.#wait !== 'linger') {
      this.#lingered = 0
      this.#pieces = 0
      this.#waitFor('linger', LINGER_MS)
    }
    this.#lingered += bytes
    if (this.#lingered > LINGER_BYTES) this.socket.destroy()
  }

  waitForTaking(): void {
    this.#waitFor('taking', LAST_BYTES_MS)
  }

  next(keepAlive: boolean): void {
    this.#call = null
    this.#leave?.()
    if (!keepAlive || this.#house.closing) return this.#close()
    this.#waitFor('next', this.#house.limits.keepAlive)
    this.resume()
    this.#advance()
  }

  readonly #onData = (bytes: Buffer): void => {
    countRead(bytes.length)
    this.reader.push(bytes)
    if (this.#call === null) this.#advance()
    else this.#call.more()
    if (this.#wait === 'linger' && this.#lingered >= AT_ONCE_BYTES && --this.#pieces <= 0)
      this.#slow()
    else if (bytes.length >= LARGE_BYTES && this.#call !== null && !this.#resting) this.#rest()
    // Nobody takes them at the moment: the caller's system keeps the rest.
    if (this.#paused || this.reader.unread.length < MOST_WAITING) return
    this.#paused = true
    this.socket.pause()
  }

  /** Reads on what nobody wants, or what comes in too many pieces, when it is its turn. */
  #slow(): void {
    this.#resting = true
    this.socket.pause()
    drain.wait(this)
  }

  readOn(pieces: number): void {
    this.#pieces = pieces
    this.#goOn()
  }

  #goOn(): void {
    this.#resting = false
    if (!this.#paused && !this.#handedOver) this.socket.resume()
  }

  /** Reads on when it is its turn, which may be now. */
  #rest(): void {
    let isNow = true
    this.#resting = true
    this.#house.reads.take(BODIES, () => {
      if (isNow) this.#resting = false
      else this.#goOn()
    })
    isNow = false
    if (this.#resting) this.socket.pause()
  }

  /**
   * The caller sends no more. That is how a caller leaves: one that only closes its sending side
   * cannot be told from it.
   */
  readonly #onEnd = (): void => {
    if (this.#call?.ended === false) return void this.socket.destroy()
    this.#call?.writeNow()
    this.#close()
  }

  readonly #onClose = (): void => {
    drain.leave(this)
    this.#house.left(this)
    this.#leave?.()
    this.#call?.lose()
  }

  readonly #onDrain = (): void => this.#call?.drained()

  /** Serves what has come, one request at a time. */
  #advance(): void {
    if (this.#advancing) return
    this.#advancing = true
    while (this.#call === null && this.reader.unread.length > 0 && this.#wait !== 'close') {
      const ours = beginsProxied(this.reader.unread)
      if (ours === false) {
        this.#handOver()
        break
      }
      let head: RequestHead | null = null
      try {
        if (ours) head = this.reader.head()
      } catch (error) {
        this.fail(error)
        break
      }
      if (head === null) {
        if (this.#wait === 'next') this.#waitFor('head', this.#house.limits.head)
        if (++this.#headPieces > HEAD_PIECES && !this.#resting) this.#slow()
        break
      }
      this.#headPieces = 0
      const leave = this.#house.addresses.acceptRequest(head.headers)
      if (leave === null) {
        this.#refuse(...TOO_MANY)
        break
      }
      this.#leave = leave
      this.#waitFor('call', Infinity)
      this.#call = new Call(this, head)
      this.#house.handle(this.#call)
    }
    this.#advancing = false
  }

  #handOver(): void {
    const { socket } = this
    this.#handedOver = true
    socket
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('close', this.#onClose)
      .off('drain', this.#onDrain)
      .off('error', ignore)
    this.#house.left(this)
    this.#house.handOver(socket, this.reader.unread)
  }

  #refuse(code: RefusalCode, message: string): void {
    const call = this.#call
    this.#call = null
    call?.handToSocket()
    call?.lose()
    if (call?.answered) return void this.socket.destroy()
    this.socket.write(this.#house.refusal(code, message))
    this.#close()
  }

  /**
   * Closes our side, and waits a moment for the other to do likewise; what still comes is thrown
   * away.
   */
  #close(): void {
    if (this.#wait === 'close') return
    this.#waitFor('close', LINGER_MS)
    this.socket.off('data', this.#onData)
    this.#paused = false
    throwAway(this.socket, this.address, LINGER_BYTES, () => this.socket.destroy())
    this.socket.end()
  }

  #waitFor(what: Wait, limit: number): void {
    this.#wait = what
    this.#limit = limit
    this.#deadline = 0
  }
}

function ignore(): void {}
