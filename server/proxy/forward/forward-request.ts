// Steps 7 and 8: attaches the credential, sends the request, and relays the response.
import type { HttpClient, OutboundRequest } from '../../http1/client/client.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import type { AdmittedRequest } from '../admission/admit-request.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { InspectedRequest } from '../inspect/inspected-request.ts'
import type { ObjectRequest } from '../objects/ownership.ts'
import type { Upstream } from '../providers/provider.ts'
import { upgradeHeaders, type SocketRequest } from '../socket/open-socket.ts'
import type { Route, RouteCache } from '../target/find-route.ts'
import { authOf, requestHeaders, withCredential } from './apply-header-rules.ts'
import { relay, type RelayResult, type ResponseFilter } from './relay.ts'
import type { ResponseGuards } from './response-guards.ts'

/** A request to forward to a provider. */
export interface UpstreamRequest extends ObjectRequest {
  readonly pathAndQuery: string
}

/** An admitted request, its upstream and its credential. */
export interface Forwardable {
  readonly route: Route
  readonly upstream: Upstream
  readonly slot: RequestSlot
  readonly request: UpstreamRequest
  readonly inspected: InspectedRequest
  readonly admitted: AdmittedRequest
  /** The requested socket; null for an ordinary request. */
  readonly socket: SocketRequest | null
}

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
