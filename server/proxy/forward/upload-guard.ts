// The exchange of an upload that is checked while it streams: if it is refused, the upstream
// request is aborted before the upload is complete, and the caller gets our error.
import type { HttpExchange, ResponseListener } from '../../http1/exchange.ts'
import { ForwardingExchange } from '../../http1/forwarding-exchange.ts'

/** Sends our error for a refused upload. One per request. */
export class UploadGuard extends ForwardingExchange {
  /** Whether the caller got our error. */
  replaced = false
  readonly #sendError: (error: unknown) => void
  #listener: ResponseListener | null = null

  /** @param sendError sends our error */
  constructor(exchange: HttpExchange, sendError: (error: unknown) => void) {
    super(exchange)
    this.#sendError = sendError
  }

  override watch(watcher: ResponseListener): void {
    this.#listener = watcher
    super.watch(watcher)
  }

  /** Aborts the upload. A response that has begun is reset, too. */
  refuse(error: unknown): void {
    if (this.closed || this.replaced) return
    this.replaced = !this.headersSent
    // No part of the upstream's response may follow ours.
    this.#listener?.onClose()
    if (this.replaced) this.#sendError(error)
    else this.reset()
  }
}
