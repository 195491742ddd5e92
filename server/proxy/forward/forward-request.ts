// Steps 7 and 8: attaches the credential, sends the request, and relays its response to the caller,
// piece by piece, each side at the other's pace. Every request is sent once, whatever the provider
// answers.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import {
  UpstreamError,
  type HttpClient,
  type OutboundRequest,
  type PendingRequest,
  type ResponseHandler,
} from '../../http1/client/client.ts'
import type { HttpExchange, ResponseListener } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { RawConnection } from '../../http1/raw-connection.ts'
import type { Mask } from '../masking/mask.ts'
import { MaskedResponse, type ResponseOutput } from '../masking/masked-response.ts'
import { upgradeHeaders } from '../socket/open-socket.ts'
import type { RouteCache } from '../find-route.ts'
import { authOf, requestHeaders, withCredential } from './apply-header-rules.ts'
import type { Forwardable, RelayResult } from './forwarded-request.ts'
import type { ResponseGuards } from './response-guards.ts'

/** Step 7: the outbound request, with our credential. */
export function outboundRequest(
  routes: RouteCache,
  { headers, method }: HttpExchange,
  { route, upstream, slot, request, inspected, admitted, socket }: Forwardable,
  guards: ResponseGuards | null,
): OutboundRequest {
  const { provider, match, pathAndQuery } = request
  const { body } = inspected
  const { credential, owner } = admitted
  const forwarded = requestHeaders(headers, provider, match.endpoint)
  const readable = guards === null ? forwarded : guards.requestHeaders(forwarded)
  const outbound = {
    destination: (route.destination ??= routes.destinationFor(upstream)),
    method,
    path: pathAndQuery,
    headers:
      provider.anonymous === true
        ? readable
        : withCredential(readable, authOf(provider, match.endpoint), credential.secret),
    body,
    owner,
    onBodyReleased: body !== null && body.held.length > 0 ? () => slot.releaseBytes() : null,
  }
  return socket === null
    ? outbound
    : { ...outbound, headers: [...outbound.headers, ...upgradeHeaders(socket)], upgrade: true }
}

/** Observers of a response in transit. None of them can delay it. */
export type ResponseFilter = {
  /** Masks secrets in redirects and errors; null: nothing to mask. */
  readonly mask: Mask | null
  /** The owner in whose turns an error is decoded and searched. */
  readonly owner: Owner
  /** The upstream's head; returns the headers that the caller gets. */
  head(status: number, headers: RawHeaders): RawHeaders
  /** The fields of an interim response, or the trailers; returns those that the caller gets. */
  fields(raw: RawHeaders): RawHeaders
  /** Body bytes on their way to the caller. The memory is only lent for the call. */
  body(chunk: Buffer): void
  /** The same of a redirect or an error, decoded and without secrets. */
  maskedText(bytes: Buffer): void
}

/**
 * Responses from this status on are written by a server, not by a model: redirects and errors. They
 * are short, and may repeat the request.
 */
const FIRST_MASKED_STATUS = 300

/** Step 8: streams both ways. */
export function forwardRequest(
  client: HttpClient,
  outbound: OutboundRequest,
  exchange: HttpExchange,
  guards: ResponseGuards | null,
  filter: ResponseFilter,
): Promise<RelayResult> {
  if (guards === null) return relay(client, outbound, exchange, filter)
  return guards.relay((guarded, path = outbound.path) =>
    relay(client, { ...outbound, path }, guarded, filter),
  )
}

/**
 * Relays one request. If the caller disconnects, the upstream request is aborted immediately. If
 * the upstream fails midway, the caller's connection is reset, because a clean end would look like
 * a complete response.
 */
export function relay(
  sender: HttpClient,
  request: OutboundRequest,
  exchange: HttpExchange,
  filter: ResponseFilter,
): Promise<RelayResult> {
  // If the caller has left while its request was inspected, the upstream gets nothing.
  if (exchange.closed)
    return Promise.resolve({
      outcome: 'aborted',
      status: null,
      error: null,
      bytesIn: 0,
      bytesOut: 0,
    })
  return new Promise((resolve) => new Relay(exchange, filter, resolve).start(sender, request))
}

class Relay implements ResponseHandler, ResponseListener {
  readonly #exchange: HttpExchange
  readonly #filter: ResponseFilter
  /** The sink for the response. */
  #output: ResponseOutput
  readonly #resolve: (relayed: RelayResult) => void
  #request: PendingRequest | null = null
  #status: number | null = null
  #bytesOut = 0
  #done = false

  constructor(
    exchange: HttpExchange,
    filter: ResponseFilter,
    resolve: (relayed: RelayResult) => void,
  ) {
    this.#exchange = exchange
    this.#output = exchange
    this.#filter = filter
    this.#resolve = resolve
  }

  start(sender: HttpClient, request: OutboundRequest): void {
    this.#exchange.watch(this)
    this.#request = sender.send(request, this)
    // The request's body may have ended the relay.
    if (this.#done) this.#request.abort()
  }

  onInterim(status: number, reason: string, headers: RawHeaders): void {
    this.#exchange.writeInterim(
      status,
      this.#filter.mask?.text(reason) ?? reason,
      this.#filter.fields(headers),
    )
  }

  onHead(status: number, reason: string, headers: RawHeaders): void {
    this.#status = status
    const mask = status >= FIRST_MASKED_STATUS ? this.#filter.mask : null
    if (mask !== null)
      this.#output = new MaskedResponse(this.#exchange, this.#filter.owner, mask, {
        onText: (bytes) => this.#filter.maskedText(bytes),
        onSearched: () => this.#request?.resume(),
        onUnmaskable: () => this.#abandon(),
      })
    this.#output.writeHead(status, reason, this.#filter.head(status, headers))
  }

  onBody(chunk: Buffer): void {
    this.#bytesOut += chunk.length
    this.#output.write(chunk)
    this.#filter.body(chunk)
  }

  onSwitch(headers: RawHeaders, connection: RawConnection): void {
    if (this.#exchange.closed) {
      connection.destroy()
      return this.#end('aborted')
    }
    this.#end('switched', null, { headers, connection })
  }

  /** Pieces that arrive together are sent together in one write. */
  onPause(): void {
    if (!this.#output.flush()) this.#request?.pause()
  }

  onEnd(trailers: RawHeaders): void {
    this.#output.end(trailers.length === 0 ? trailers : this.#filter.fields(trailers))
    this.#output.flush()
  }

  onError(error: UpstreamError): void {
    if (!this.#exchange.headersSent) return this.#end('failed', error)
    this.#end('broken', error)
    this.#exchange.reset()
  }

  onDrain(): void {
    if (this.#output.flush()) this.#request?.resume()
  }

  /**
   * The response is complete only when the system has accepted it; until then, the caller may still
   * disconnect.
   */
  onFinish(): void {
    this.#end('complete')
  }

  onClose(): void {
    this.#request?.abort()
    this.#end('aborted')
  }

  /** A response that has begun is reset; otherwise, the caller gets a 503. */
  onShutdown(): void {
    this.#request?.abort()
    this.#end('shutdown')
    if (this.#exchange.headersSent) this.#exchange.reset()
  }

  /** Ends an error that cannot be searched, or not to its end. */
  #abandon(): void {
    this.#request?.abort()
    this.onError(new UpstreamError('unreachable', 'the error of the upstream cannot be searched'))
  }

  #end(
    outcome: RelayResult['outcome'],
    error: UpstreamError | null = null,
    switched?: RelayResult['switched'],
  ): void {
    if (this.#done) return
    this.#done = true
    this.#resolve({
      ...(switched === undefined ? {} : { switched }),
      outcome,
      status: this.#status,
      error,
      bytesIn: this.#request?.bytesSent ?? 0,
      bytesOut: this.#bytesOut,
    })
  }
}
