// Sends a request upstream and its answer to the caller, piece by piece as it comes, each side at
// the other's pace.
import type { ResponseListener, HttpExchange } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { Mask } from '../masking/mask.ts'
import { MaskedAnswer, type AnswerSink } from '../masking/masked-response.ts'
import {
  UpstreamError,
  type ResponseHandler,
  type OutboundRequest,
  type HttpClient,
  type PendingRequest,
} from '../../http1/client/client.ts'

/** What looks at the answer while it passes. None of it can hold it up. */
export type Passing = {
  /** What a redirect or an error may not tell the caller; null: nothing. */
  readonly mask: Mask | null
  /** The upstream's head; returns the headers that the caller gets. */
  head(status: number, headers: RawHeaders): RawHeaders
  /** The fields of an interim answer, or the trailers; returns those that the caller gets. */
  fields(raw: RawHeaders): RawHeaders
  /** Body bytes on their way to the caller. The memory is lent for the call only. */
  body(chunk: Buffer): void
}

/**
 * The first status whose answer is written by a server, not by a model: redirects and errors. They
 * are short, and may repeat the request.
 */
const FIRST_MASKED = 300

/** How a relayed request ended. */
export type Relayed = {
  /**
   * `complete`: the caller got the whole answer. `failed`: there was no answer, and the caller has
   * nothing yet. `broken`: the upstream broke off, and so was the caller's connection. `aborted`:
   * the caller left.
   */
  outcome: 'complete' | 'failed' | 'broken' | 'aborted'
  /** The upstream's status, once its head has arrived. */
  status: number | null
  error: UpstreamError | null
  /** Body bytes: of the request that went up, of the answer that came down. */
  bytesIn: number
  bytesOut: number
}

/**
 * Relays one request. When the caller leaves, the upstream call ends at once; when the upstream
 * breaks off in the middle, so does the caller's connection, because a clean end would be taken for
 * a complete answer.
 */
export function relay(
  sender: HttpClient,
  request: OutboundRequest,
  caller: HttpExchange,
  passing: Passing,
): Promise<Relayed> {
  // The caller may have left while its request was looked at: then the upstream hears nothing of
  // it.
  if (caller.closed)
    return Promise.resolve({
      outcome: 'aborted',
      status: null,
      error: null,
      bytesIn: 0,
      bytesOut: 0,
    })
  return new Promise((resolve) => new Relay(caller, passing, resolve).start(sender, request))
}

class Relay implements ResponseHandler, ResponseListener {
  readonly #caller: HttpExchange
  readonly #passing: Passing
  /** Where the answer is written. */
  #answer: AnswerSink
  readonly #resolve: (relayed: Relayed) => void
  #call: PendingRequest | null = null
  #status: number | null = null
  #bytesOut = 0
  #over = false

  constructor(caller: HttpExchange, passing: Passing, resolve: (relayed: Relayed) => void) {
    this.#caller = caller
    this.#answer = caller
    this.#passing = passing
    this.#resolve = resolve
  }

  start(sender: HttpClient, request: OutboundRequest): void {
    this.#caller.watch(this)
    this.#call = sender.send(request, this)
    // The request's own body may have ended it.
    if (this.#over) this.#call.abort()
  }

  onInterim(status: number, reason: string, headers: RawHeaders): void {
    this.#caller.writeInterim(
      status,
      this.#passing.mask?.text(reason) ?? reason,
      this.#passing.fields(headers),
    )
  }

  onHead(status: number, reason: string, headers: RawHeaders): void {
    this.#status = status
    const mask = status >= FIRST_MASKED ? this.#passing.mask : null
    if (mask !== null) this.#answer = new MaskedAnswer(this.#caller, mask, () => this.#giveUp())
    this.#answer.writeHead(status, reason, this.#passing.head(status, headers))
  }

  onBody(chunk: Buffer): void {
    this.#bytesOut += chunk.length
    this.#answer.write(chunk)
    this.#passing.body(chunk)
  }

  /** Everything that came together goes out together. */
  onPause(): void {
    if (!this.#answer.flush()) this.#call?.pause()
  }

  onEnd(trailers: RawHeaders): void {
    this.#answer.end(trailers.length === 0 ? trailers : this.#passing.fields(trailers))
    this.#answer.flush()
  }

  onError(error: UpstreamError): void {
    if (!this.#caller.headersSent) return this.#end('failed', error)
    this.#end('broken', error)
    this.#caller.reset()
  }

  onDrain(): void {
    this.#call?.resume()
  }

  /** Only what the caller's system has taken is complete; until then it may still leave. */
  onFinish(): void {
    this.#end('complete')
  }

  onClose(): void {
    this.#call?.abort()
    this.#end('aborted')
  }

  /** The error cannot be looked through, and nothing of it has been written. */
  #giveUp(): void {
    this.#call?.abort()
    this.#end(
      'failed',
      new UpstreamError('unreachable', 'the error of the upstream cannot be looked through'),
    )
  }

  #end(outcome: Relayed['outcome'], error: UpstreamError | null = null): void {
    if (this.#over) return
    this.#over = true
    this.#resolve({
      outcome,
      status: this.#status,
      error,
      bytesIn: this.#call?.bytesSent ?? 0,
      bytesOut: this.#bytesOut,
    })
  }
}
