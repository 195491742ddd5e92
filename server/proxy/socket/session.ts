// One open socket: its two directions, and everything that ends it.
import type { RawConnection } from '../../http1/raw-connection.ts'
import {
  CLOSE,
  closeFrame,
  frameOf,
  OPCODE,
  type FrameError,
} from '../../http1/websocket/frames.ts'
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { Log } from '../../common/log.ts'
import { counted } from '../../common/counted.ts'
import { errorMessage, type GatewayErrorCode } from '../error-response.ts'
import { nextPasses } from '../admission/key-limits.ts'
import { GatewayError } from '../gateway-error.ts'
import type { Provider } from '../providers/provider.ts'
import type { SocketRow } from '../providers/socket-row.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { Usage } from '../usage/usage.ts'
import { ClientSide, type ClientLimits, type ClientListener } from './client-side.ts'
import type { MessageInspector } from './inspect-message.ts'
import { endTurns } from './pump-turns.ts'
import type { RowRefusal, SocketRows } from './socket-rows.ts'
import { UpstreamSide, type UpstreamListener } from './upstream-side.ts'

/** How a socket ended. */
export interface SocketEnd {
  /** `complete`: either side sent a close frame. */
  readonly outcome: 'complete' | 'aborted' | 'broken' | 'shutdown'
  /** Why we closed it; null if we did not. */
  readonly code: GatewayErrorCode | null
  /** The error sent to the client for a refused message; null if there was none. */
  readonly refusal: string | null
}

/** The parts of a session. */
export interface SessionParts {
  readonly client: RawConnection
  readonly upstream: RawConnection
  readonly provider: Provider
  readonly row: SocketRow
  readonly rows: SocketRows
  readonly inspector: MessageInspector
  readonly slot: RequestSlot
  readonly log: Log
  /** It is closed for what its client sent. */
  onFault(): void
  /** Called once, when both connections are closed. */
  onEnd(end: SocketEnd): void
  /** The key's requests per minute, for an error message. */
  readonly rpm: number | null
  readonly limits: ClientLimits & {
    /** Milliseconds without a byte in either direction. */
    readonly idle: number
  }
}

/** How long the other side may be silent after one side has closed, as in `ws` (milliseconds). */
const CLOSING_MS = 30_000
/** How long the client may take to close after we have (milliseconds). */
const CLOSED_MS = 5_000
/** How long our error waits for the end of the provider's message (milliseconds). */
const BOUNDARY_MS = 1_000
/** The maximum life of a socket, however busy; every provider's limit is shorter. */
const MAX_AGE_MS = 24 * 3_600_000

/** TABLE of close codes by error; 1008 for all others. */
const CLOSE_CODES: Partial<Readonly<Record<GatewayErrorCode, number>>> = {
  rate_limit_exceeded: CLOSE.tryAgain,
  service_unavailable: CLOSE.tryAgain,
  internal_error: CLOSE.internal,
  server_shutdown: CLOSE.goingAway,
  upstream_unreachable: CLOSE.badGateway,
}

const NO_RESPONSES =
  'This socket is only for transcription or translation, but a response has begun. Open a socket for a conversation.'

/** One socket, from its handshake to its end. */
export class SocketSession implements ClientListener, UpstreamListener {
  readonly #parts: SessionParts
  readonly #clientSide: ClientSide
  readonly #upstreamSide: UpstreamSide
  readonly #since = Math.floor(performance.now())
  /** Monotonic milliseconds of the last byte, and the number of bytes, as of the last check. */
  #movedAt = this.#since
  #moved = 0
  #end: SocketEnd | null = null
  #isOver = false
  /** Whether a close frame has been forwarded: from the client, from the provider. */
  #isClientClosing = false
  #isUpstreamClosing = false
  #isClosedByClient = false
  #timer: NodeJS.Timeout | null = null
  /** Monotonic milliseconds of the first close; null before that. */
  #closingAt: number | null = null

  constructor(parts: SessionParts) {
    const { client, upstream, row, rows, inspector, slot, limits, provider } = parts
    this.#parts = parts
    this.#clientSide = new ClientSide(client, upstream, inspector, rows, slot, limits, this)
    const owner = (): Owner => inspector.owner
    this.#upstreamSide = new UpstreamSide(upstream, client, row, provider.usage, rows, owner, this)
  }

  /** The model that it named last, as in the ledger. */
  get model(): string | null {
    return this.#parts.inspector.model
  }

  /** Its settled rows and their usage. */
  get requests(): number {
    return this.#parts.rows.settled
  }
  get usage(): Usage {
    return this.#parts.rows.total
  }

  /** Bytes of messages, in both directions. */
  get bytes(): SocketRows['bytes'] {
    return this.#parts.rows.bytes
  }

  start(): void {
    this.#parts.upstream.read(this.#upstreamSide)
    this.#parts.client.read(this.#clientSide)
  }

  /**
   * Ends the socket if something takes too long, or its key may no longer use it.
   * @param now monotonic milliseconds
   * @returns whether it has ended the socket
   */
  check(now: number, socket: { authenticate(): CachedKey }): boolean {
    if (this.#end !== null) return false
    this.#check(now, socket)
    return this.#end !== null
  }

  #check(now: number, socket: { authenticate(): CachedKey }): void {
    const { rows, limits, inspector } = this.#parts
    try {
      if (!inspector.isWithin(socket.authenticate()))
        return this.#refuse('model_not_allowed', 'The proxy key may no longer use this model.')
    } catch (error) {
      return this.#refuseError(error)
    }
    if (this.#clientSide.isTooSlow(now)) {
      this.#parts.onFault()
      return this.#refuse('body_too_slow', 'A message arrived too slowly.')
    }
    const { up, down } = rows.bytes
    if (up + down !== this.#moved) {
      this.#moved = up + down
      this.#movedAt = now
    } else if (now - this.#movedAt > limits.idle) this.#close(CLOSE.goingAway, 'Nothing was sent.')
    if (now - this.#since > MAX_AGE_MS) this.#close(CLOSE.goingAway, 'The socket is a day old.')
  }

  /** Ends it on behalf of an operator. */
  stop(reason: string): void {
    if (this.#end === null) this.#close(CLOSE.goingAway, reason)
  }

  /**
   * @param isUnpaid whether a response has begun without a row, so that the provider must stop it
   */
  refuseRow(refusal: RowRefusal, isUnpaid: boolean): void {
    if (isUnpaid) this.#parts.upstream.destroy()
    if (refusal.code === 'service_unavailable')
      return this.#refuse(refusal.code, 'The ledger cannot be written at the moment.')
    this.#refuse(
      refusal.code,
      `The proxy key allows ${counted(this.#parts.rpm ?? 0, 'request')} a minute, counting each response of a socket. ${nextPasses(refusal.wait)}`,
    )
  }

  onRefused(error: unknown): void {
    if (this.#end === null) this.#parts.onFault()
    this.#refuseError(error)
  }

  #refuseError(error: unknown): void {
    if (error instanceof GatewayError) return this.#refuse(error.code, error.message)
    this.#parts.log.error('A message of a socket could not be inspected.', error)
    this.#refuse('internal_error', 'The proxy failed. Tell the operator the time.')
  }

  onFull(): void {
    this.refuseRow(this.#parts.rows.refusal ?? { code: 'service_unavailable' }, false)
  }

  onUnpaid(): void {
    if (this.#parts.row.counts === 'minutes') {
      this.#parts.upstream.destroy()
      return this.#refuse('malformed_request', NO_RESPONSES)
    }
    this.refuseRow(this.#parts.rows.refusal ?? { code: 'service_unavailable' }, true)
  }

  onBroken({ code, message }: FrameError): void {
    if (this.#end === null) this.#parts.onFault()
    this.#close(code, message)
  }

  onUpstreamBroken(): void {
    this.#refuse('upstream_unreachable', 'The provider sent something other than WebSocket frames.')
  }

  onCloseFrame(): void {
    this.#isClientClosing = true
    this.#isClosedByClient = !this.#isUpstreamClosing
    this.#awaitClose(CLOSING_MS)
  }

  onUpstreamCloseFrame(): void {
    this.#isUpstreamClosing = true
    this.#awaitClose(CLOSING_MS)
  }

  onClientEnd(): void {
    // Without a close frame, it counts as disconnected.
    if (!this.#isClientClosing && this.#end === null) return this.#leave()
    this.#parts.upstream.end()
    if (this.#parts.upstream.isClosed) this.#parts.client.end()
  }

  onUpstreamEnd(): void {
    if (!this.#isUpstreamClosing && !this.#isClientClosing && this.#end === null)
      return this.#break()
    this.#parts.client.end()
    // The client's close frame, and what it sent before, are still forwarded.
    if (this.#isClientClosing || this.#end !== null) this.#parts.upstream.end()
  }

  onClientGone(): void {
    if (!this.#isClientClosing && !this.#isUpstreamClosing && this.#end === null) this.#leave()
    else this.#destroy()
  }

  onUpstreamGone(): void {
    if (!this.#isUpstreamClosing && !this.#isClientClosing && this.#end === null) this.#break()
    else if (this.#end === null) this.#parts.client.end()
    this.#settleIfGone()
  }

  onClientDrain(): void {
    this.#upstreamSide.onClientDrain()
  }

  onUpstreamDrain(): void {
    this.#clientSide.onUpstreamDrain()
  }

  onShutdown(): void {
    if (this.#end !== null) return
    this.#finish({ outcome: 'shutdown', code: 'server_shutdown', refusal: null })
    this.#say(CLOSE.goingAway, 'The proxy was stopped.', null)
  }

  /**
   * One side has closed; the other one has some time, which is extended while bytes still move.
   */
  #awaitClose(ms: number): void {
    const { bytes } = this
    const moved = bytes.up + bytes.down
    this.#closingAt ??= performance.now()
    const closeInTurn = (): void =>
      endTurns.defer(this.#parts.inspector.owner, () => this.#closeLate(ms, moved))
    this.#timer ??= setTimeout(closeInTurn, ms).unref()
  }

  #closeLate(ms: number, moved: number): void {
    if (this.#isOver) return
    const { client, upstream, limits } = this.#parts
    const { up, down } = this.bytes
    const isMoving = this.#end === null && up + down !== moved
    // Unsent bytes wait for a client that reads slowly.
    const isSlow = client.hasUnsent && performance.now() - (this.#closingAt ?? 0) < limits.idle
    if (!isMoving && !isSlow) return this.#destroy()
    if (this.#end !== null) upstream.destroy()
    this.#timer = null
    this.#awaitClose(ms)
  }

  /**
   * The client has left without a close frame: the provider sees the same, after what was sent
   * before.
   */
  #leave(): void {
    const { client, upstream } = this.#parts
    this.#finish({ outcome: 'aborted', code: null, refusal: null })
    if (!upstream.hasUnsent) return this.#destroy()
    client.destroy()
    this.#upstreamSide.close()
    upstream.end()
    this.#awaitClose(CLOSED_MS)
  }

  /**
   * The provider has left without a close frame: the client sees the same, after what was sent
   * before.
   */
  #break(): void {
    const { client, upstream } = this.#parts
    this.#finish({ outcome: 'broken', code: 'upstream_unreachable', refusal: null })
    upstream.destroy()
    this.#clientSide.close()
    client.end()
    this.#awaitClose(CLOSED_MS)
  }

  /** Closes with an error in the provider's format, if a message can be sent. */
  #refuse(code: GatewayErrorCode, message: string): void {
    if (this.#end !== null) return
    const { error } = this.#parts.row
    const isRefusal = code !== 'upstream_unreachable'
    this.#finish({ outcome: 'complete', code, refusal: isRefusal ? message : null })
    this.#sayInTurn(
      CLOSE_CODES[code] ?? CLOSE.policy,
      message,
      error === undefined ? null : errorMessage(code, message, error),
    )
  }

  #close(code: number, reason: string): void {
    if (this.#end !== null) return
    this.#finish({ outcome: 'complete', code: null, refusal: null })
    this.#sayInTurn(code, reason, null)
  }

  /** Nothing more is forwarded; if many sockets are closed at once, the others learn it later. */
  #sayInTurn(code: number, reason: string, event: string | null): void {
    this.#clientSide.close()
    endTurns.schedule(this.#parts.inspector.owner, () => this.#say(code, reason, event))
  }

  /** Closes both sides: the provider immediately, the client after its last message. */
  #say(code: number, reason: string, event: string | null): void {
    const { client, upstream } = this.#parts
    this.#clientSide.close()
    upstream.write(closeFrame(CLOSE.goingAway, '', true))
    upstream.end()
    const say = (): void => {
      this.#upstreamSide.close()
      if (event !== null) client.write(frameOf(OPCODE.text, Buffer.from(event), false))
      client.write(closeFrame(code, reason, false))
      client.end()
      clearTimeout(late)
      this.#awaitClose(CLOSED_MS)
    }
    const late = setTimeout(() => {
      if (client.hasUnsent) this.#awaitClose(CLOSED_MS)
      else this.#destroy()
    }, BOUNDARY_MS).unref()
    this.#upstreamSide.atBoundary(say)
  }

  /** Stops counting, and settles the rows. */
  #finish(end: SocketEnd): void {
    this.#end = end
    const isAborted =
      end.outcome === 'aborted' || end.outcome === 'shutdown' || this.#isClosedByClient
    this.#parts.rows.close(isAborted ? 'aborted' : 'settled', end.code)
  }

  #destroy(): void {
    if (this.#end === null) this.#finish({ outcome: 'complete', code: null, refusal: null })
    this.#parts.client.destroy()
    this.#parts.upstream.destroy()
    this.#settleIfGone()
  }

  #settleIfGone(): void {
    const { client, upstream } = this.#parts
    if (!client.isClosed || !upstream.isClosed || this.#isOver) return
    this.#isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#clientSide.close()
    this.#upstreamSide.close()
    this.#parts.onEnd(this.#end ?? { outcome: 'complete', code: null, refusal: null })
  }
}
