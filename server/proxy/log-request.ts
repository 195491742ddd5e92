// The log line of a proxied request.
import type { Clock } from '../common/clock.ts'
import type { Log } from '../common/log.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import { valueOf } from '../http1/header-fields.ts'
import type { RelayResult } from './forward/relay.ts'
import type { RequestContext } from './request-context.ts'
import type { Usage } from './usage/meter.ts'

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
