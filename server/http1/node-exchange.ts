// A request of Node's own server as an exchange, for connections that began with other requests.
import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { lingeringClose } from './lingering-close.ts'
import type { ResponseListener, BodySink, HttpExchange, RequestBody } from './exchange.ts'
import { fieldLines, NO_BYTES, type RawHeaders, nameAt, valueAt } from './header-fields.ts'
import { CONTINUE, keepProbing } from './probes.ts'
import { RawConnection, switchingHead } from './raw-connection.ts'
import { asksForWebSocket } from './websocket/handshake.ts'

/** Emitted on a caller's socket that is about to be destroyed. */
export const SHUTDOWN_EVENT = 'tollmark.shutdown'

/**
 * Requests that ask for another protocol, whose connections Node's server has released, and the
 * bytes read after each.
 */
const switchable = new WeakMap<IncomingMessage, Buffer>()

/**
 * Creates the response object for a request that asks for another protocol, which Node's server
 * does for all other requests. The connection ends after the response, unless it is switched.
 *
 * @param unread the bytes read after the request
 */
export function upgradeResponse(
  incoming: IncomingMessage,
  socket: Socket,
  unread: Buffer,
): ServerResponse {
  const outgoing = new ServerResponse(incoming)
  switchable.set(incoming, unread)
  outgoing.shouldKeepAlive = false
  outgoing.assignSocket(socket)
  outgoing.once('finish', () => {
    outgoing.detachSocket(socket)
    // Node's server, too, lets a response that has finished emit 'close'.
    outgoing.destroy()
    socket.end()
  })
  socket.on('error', () => {})
  return outgoing
}

/**
 * Sends `100 Continue` when it is the turn of a response, unless that has begun by then: Node puts
 * the head of a response that waits behind another one before all that was written until then.
 */
export function writeContinue(outgoing: ServerResponse): void {
  const write = (): void => {
    if (!outgoing.headersSent) outgoing.writeContinue()
  }
  if (outgoing.socket === null) outgoing.once('socket', write)
  else write()
}

/** A request of Node's server as an exchange. It lives as long as the request. */
export class NodeExchange implements HttpExchange, RequestBody {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: RequestBody | null
  readonly length: number | null
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #expecting: boolean
  #sink: BodySink | null = null
  #readStarted = false
  #complete = false
  #linger = (): void => {}
  /** Removes its listener. */
  #unwatch = (): void => {}

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.method = incoming.method ?? ''
    this.target = incoming.url ?? ''
    this.headers = incoming.rawHeaders
    const length = incoming.headers['content-length']
    this.length = length === undefined ? null : Number(length)
    const hasNone =
      length === undefined
        ? incoming.headers['transfer-encoding'] === undefined
        : length === '0' && asksForWebSocket(incoming.rawHeaders)
    this.body = hasNone ? null : this
    this.#expecting = incoming.headers.expect !== undefined
  }

  get closed(): boolean {
    return this.#outgoing.destroyed
  }

  get headersSent(): boolean {
    return this.#outgoing.headersSent
  }

  read(sink: BodySink | null): void {
    this.#sink = sink
    if (sink === null) return
    if (!this.#readStarted) {
      this.#readStarted = true
      this.#incoming.on('data', (bytes: Buffer) => this.#sink?.onData(bytes))
      this.#incoming.on('end', () => {
        this.#complete = true
        this.#sink?.onEnd(this.#incoming.rawTrailers)
      })
      this.#incoming.on('close', () => {
        if (!this.#complete) this.#sink?.onAborted()
      })
      if (this.#incoming.destroyed) sink.onAborted()
    } else if (this.#complete) sink.onEnd(this.#incoming.rawTrailers)
    this.#incoming.resume()
  }

  pause(): void {
    this.#incoming.pause()
  }

  resume(): void {
    this.#incoming.resume()
  }

  watch(watcher: ResponseListener): void {
    this.#unwatch()
    const outgoing = this.#outgoing
    const onDrain = (): void => watcher.onDrain()
    const onFinish = (): void => watcher.onFinish()
    const { socket } = this.#incoming
    const announce = (): void => {
      if (!outgoing.writableEnded) watcher.onShutdown?.()
    }
    const unwatchEnd = this.#watchEnd()
    const onClose = (): void => {
      socket.off(SHUTDOWN_EVENT, announce)
      unwatchEnd()
      if (!outgoing.writableFinished) watcher.onClose()
    }
    socket.once(SHUTDOWN_EVENT, announce)
    outgoing.on('drain', onDrain).on('finish', onFinish).on('close', onClose)
    this.#unwatch = () => {
      socket.off(SHUTDOWN_EVENT, announce)
      unwatchEnd()
      outgoing.off('drain', onDrain).off('finish', onFinish).off('close', onClose)
    }
  }

  /**
   * Treats a caller that stops sending as `ServerConnection` does: Node's server would keep the
   * response open, also for one that is gone. @returns stops watching
   */
  #watchEnd(): () => void {
    const [outgoing, { socket }] = [this.#outgoing, this.#incoming]
    let stop: (() => void) | undefined
    const probe = (): void => {
      // Only if it is this response's turn.
      if (!outgoing.headersSent) outgoing.socket?.write(CONTINUE, 'latin1')
    }
    const startProbes = (): void => {
      if (!outgoing.headersSent) stop = keepProbing(probe)
    }
    const onEnd = (): void => {
      if (outgoing.writableEnded) return
      const canBeProbed = !outgoing.headersSent && this.#incoming.httpVersionMinor > 0
      if (canBeProbed || outgoing.socket === null) startProbes()
      else socket.destroy()
    }
    if (socket.readableEnded) startProbes()
    else socket.once('end', onEnd)
    return () => {
      socket.off('end', onEnd)
      stop?.()
    }
  }

  writeContinue(): void {
    if (this.#expecting) writeContinue(this.#outgoing)
  }

  writeInterim(status: number, reason: string, headers: RawHeaders): void {
    // Written directly to the socket, because the response object supports only certain interim
    // responses; only if it is this response's turn.
    if (
      !this.headersSent &&
      this.#outgoing.socket !== null &&
      this.#incoming.httpVersionMinor > 0
    ) {
      this.#outgoing.socket.write(
        `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(headers)}\r\n`,
        'latin1',
      )
    }
  }

  writeHead(status: number, reason: string, headers: RawHeaders): void {
    // The upstream's Date is passed on; none is added.
    this.#outgoing.sendDate = false
    this.#linger = lingeringClose(this.#incoming, this.#outgoing)
    this.#outgoing.writeHead(status, reason, headers)
  }

  write(bytes: Buffer): void {
    this.#outgoing.write(Buffer.from(bytes))
  }

  end(trailers: RawHeaders = []): void {
    const pairs: [string, string][] = []
    for (let i = 0; i < trailers.length; i += 2)
      pairs.push([nameAt(trailers, i), valueAt(trailers, i)])
    if (pairs.length > 0) this.#outgoing.addTrailers(pairs)
    this.#outgoing.end()
    this.#linger()
  }

  flush(): boolean {
    // If written as text, as by `flushHeaders`, the head would be sent in UTF-8.
    if (this.headersSent && !this.#outgoing.writableEnded) this.#outgoing.write(NO_BYTES)
    return !this.#outgoing.writableNeedDrain
  }

  reset(): void {
    const outgoing = this.#outgoing
    // A reset, because a normal close would look like the end of a response without a length or
    // chunks (HTTP/1.0).
    const reset = (): void => void outgoing.socket?.resetAndDestroy()
    // Bytes written before the failure are still sent, once it is this response's turn.
    if (outgoing.socket === null) outgoing.write(NO_BYTES, reset)
    else setImmediate(reset)
  }

  get canSwitch(): boolean {
    const isOpen = !this.closed && !this.headersSent && this.body === null
    return isOpen && this.#incoming.httpVersionMinor > 0 && switchable.has(this.#incoming)
  }

  switchProtocols(headers: RawHeaders): RawConnection | null {
    const unread = switchable.get(this.#incoming)
    const { socket } = this.#incoming
    if (unread === undefined || !this.canSwitch) return null
    const outgoing = this.#outgoing
    this.#unwatch()
    outgoing.detachSocket(socket)
    // Whatever was taken for the request is released with the connection.
    socket.once('close', () => outgoing.destroy())
    socket.write(switchingHead(headers), 'latin1')
    return new RawConnection({
      socket,
      unread,
      subscribe: (take) => void socket.on('data', take),
      onShutdown: (announce) => void socket.once(SHUTDOWN_EVENT, announce),
    })
  }
}

/**
 * Why to reject a request that Node's server wrongly accepts (RFC 9112, section 3.2; RFC 9110,
 * section 10.1.1); null if it is valid.
 */
export function requestFault({
  headersDistinct: { host = [], expect = [] },
  httpVersionMinor,
}: IncomingMessage): string | null {
  if (host.length > 1 || (host.length === 0 && httpVersionMinor > 0))
    return 'The request must have one Host header.'
  return expect.every((value) => /^100-continue$/i.test(value))
    ? null
    : 'The request expects something other than 100-continue.'
}
