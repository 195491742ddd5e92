// Refuses event streams to a key with `objects: own`: their headers do not show whose events they
// will contain.
import type { ResponseListener, HttpExchange } from '../../http1/exchange.ts'
import { valueOf, type RawHeaders } from '../../http1/header-fields.ts'
import { ForwardingExchange } from '../../http1/forwarding-exchange.ts'

/** Content types of responses that have no end, or are read before it. */
const FEEDS =
  /^(?:text\/event-stream|multipart\/x-mixed-replace|application\/(?:x-)?(?:ndjson|jsonl|json-lines|json-seq|stream\+json))\b/i

/**
 * The exchange of a caller that must not see events: an event stream is refused at its headers and
 * aborted. It lives as long as the request.
 */
export class FeedGuard extends ForwardingExchange {
  readonly #sendError: () => void
  #listener: ResponseListener | null = null
  /** Whether we have sent our own error. */
  replaced = false

  /** @param refuseFeed sends our own error */
  constructor(exchange: HttpExchange, refuseFeed: () => void) {
    super(exchange)
    this.#sendError = refuseFeed
  }

  override watch(watcher: ResponseListener): void {
    this.#listener = watcher
    super.watch(watcher)
  }

  override writeHead(status: number, reason: string, headers: RawHeaders): void {
    if (!this.rejectFeed(status, headers)) super.writeHead(status, reason, headers)
  }

  override write(bytes: Buffer): void {
    if (!this.replaced) super.write(bytes)
  }

  override end(trailers?: RawHeaders): void {
    if (!this.replaced) super.end(trailers)
  }

  override flush(): boolean {
    return this.replaced ? true : super.flush()
  }

  /** Refuses the response if it is an event stream. */
  protected rejectFeed(status: number, headers: RawHeaders): boolean {
    if (
      status < 200 ||
      status >= 300 ||
      !FEEDS.test(valueOf(headers, 'content-type')?.trim() ?? '')
    )
      return false
    this.replaced = true
    if (!this.closed) this.#sendError()
    this.#listener?.onClose()
    return true
  }
}
