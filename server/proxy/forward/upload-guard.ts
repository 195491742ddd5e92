// The caller of an upload that is checked while it streams up: where it is refused, the upstream
// call ends before the upload is complete, and the caller gets our response.
import type { HttpExchange, ResponseListener } from '../../http1/exchange.ts'
import { ForwardingExchange } from '../../http1/forwarding-exchange.ts'

/** Answers a refused upload in our own words. One per request. */
export class UploadGuard extends ForwardingExchange {
  /** Whether the caller was answered in our own words. */
  replaced = false
  readonly #sendError: (error: unknown) => void
  #listener: ResponseListener | null = null

  /** @param sendError answers in our own words */
  constructor(exchange: HttpExchange, sendError: (error: unknown) => void) {
    super(exchange)
    this.#sendError = sendError
  }

  override watch(watcher: ResponseListener): void {
    this.#listener = watcher
    super.watch(watcher)
  }

  /** Breaks the upload off. A response that has begun is broken off, too. */
  refuse(error: unknown): void {
    if (this.closed || this.replaced) return
    this.replaced = !this.headersSent
    // Nothing of the upstream's response may come behind ours.
    this.#listener?.onClose()
    if (this.replaced) this.#sendError(error)
    else this.reset()
  }
}
