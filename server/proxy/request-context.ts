// One proxied request: its exchange with the caller, and its progress.
import type { HttpExchange } from '../http1/exchange.ts'
import type { CachedKey } from '../keys/cache.ts'
import type { Route } from './target/route-cache.ts'

/** The target has been read. */
interface Routed {
  readonly step: 'routed'
  readonly route: Route
  /** Whether the key is in the address, which a browser could be made to open. */
  readonly isKeyInQuery: boolean
}

/** The key has been authenticated. */
interface Authenticated extends Omit<Routed, 'step'> {
  readonly step: 'authenticated'
  readonly key: CachedKey
}

/** Its models are known (`inspected`), and it has a row in the ledger (`admitted`). */
interface Inspected extends Omit<Authenticated, 'step'> {
  readonly step: 'inspected' | 'admitted'
  /** The model in the ledger; null if it is unknown. */
  readonly model: string | null
}

/** The results of the steps so far, which error responses and log lines use. */
export type Progress = { readonly step: 'received' } | Routed | Authenticated | Inspected

const RECEIVED: Progress = { step: 'received' }

/** Lives from the head of a request to the end of its response. */
export class RequestContext {
  readonly exchange: HttpExchange
  readonly id: string
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Replaced only by the pipeline, after each step that found something. */
  progress: Progress = RECEIVED

  constructor(exchange: HttpExchange, id: string, startedAt: number) {
    this.exchange = exchange
    this.id = id
    this.startedAt = startedAt
  }

  /** The route, once the target has been read. */
  get route(): Route | null {
    return this.progress.step === 'received' ? null : this.progress.route
  }

  /** The key, once it has been authenticated. */
  get key(): CachedKey | null {
    return 'key' in this.progress ? this.progress.key : null
  }

  /** The model, once the request has been inspected. */
  get model(): string | null {
    return 'model' in this.progress ? this.progress.model : null
  }

  get isKeyInQuery(): boolean {
    return this.progress.step !== 'received' && this.progress.isKeyInQuery
  }

  /** Whether the request has a row in the ledger. */
  get isAdmitted(): boolean {
    return this.progress.step === 'admitted'
  }
}
