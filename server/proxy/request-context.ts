// One proxied request: its exchange with the caller, its progress, and its log line.
import type { Clock } from '../common/clock.ts'
import type { Log } from '../common/log.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import { valueOf } from '../http1/header-fields.ts'
import type { CachedKey } from '../keys/cache.ts'
import type { RelayResult } from './forward/forwarded-request.ts'
import type { Route } from './find-route.ts'
import type { Usage } from './usage/meter.ts'

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

/** Further fields of a forwarded request's log line. */
export interface ForwardedStats extends Pick<RelayResult, 'bytesIn' | 'bytesOut' | 'outcome'> {
  readonly endpoint: string
  /** Milliseconds from the request to the head of its response. */
  readonly firstByteMs: number | null
  readonly usage: Usage | null
}

/** The facts about a request that has ended. */
export interface EndedRequest extends Pick<
  RequestContext,
  'id' | 'startedAt' | 'route' | 'key' | 'model'
> {
  readonly exchange: Pick<HttpExchange, 'method' | 'headers'>
}

/**
 * The facts about a request that outlives its head, like a socket: of its headers, only
 * `traceparent` is kept.
 */
export const withoutHead = ({
  id,
  startedAt,
  route,
  key,
  model,
  exchange: { method, headers },
}: RequestContext): EndedRequest => {
  const traceparent = valueOf(headers, 'traceparent')
  const kept = traceparent === undefined ? [] : ['traceparent', traceparent]
  return { id, startedAt, route, key, model, exchange: { method, headers: kept } }
}

/**
 * Logs a request that has ended.
 *
 * @param status 0 if the caller got none
 * @param error why it was refused, or failed
 */
export function logRequest(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  context: EndedRequest,
  status: number,
  error: { readonly code: string; readonly model: string | null } | null,
  stats?: ForwardedStats,
): void {
  const { key } = context
  log.request({
    request_id: context.id,
    method: context.exchange.method,
    route: '/proxy',
    status,
    duration_ms: Math.round(clock.mono() - context.startedAt),
    account_id: key?.accountId,
    token_id: key?.id,
    code: error?.code,
    provider: context.route?.upstream?.provider.id,
    model: error?.model ?? context.model ?? undefined,
    bytes_in: stats?.bytesIn,
    bytes_out: stats?.bytesOut,
    aborted: stats?.outcome === 'aborted' ? true : undefined,
    endpoint: stats?.endpoint,
    first_byte_ms: stats?.firstByteMs ?? undefined,
    ...stats?.usage,
    traceparent: valueOf(context.exchange.headers, 'traceparent'),
  })
}
