// Steps 7 and 8: attaches the credential, sends the request, and relays the response.
import type { TurnBudget } from '../../common/fairness/turn-budget.ts'
import type { HttpClient, OutboundRequest } from '../../http1/client/client.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import type { AdmittedRequest } from '../admission/admit-request.ts'
import type { InspectedRequest } from '../inspect/inspected-request.ts'
import { GuardedList } from '../objects/checked-list.ts'
import type { FeedGuard } from '../objects/feed-guard.ts'
import {
  acceptIdentity,
  checkOwnership,
  guardList,
  type ObjectRequest,
} from '../objects/ownership.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import type { Upstream } from '../providers/provider.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import { upgradeHeaders, type SocketRequest } from '../socket/open-socket.ts'
import type { Route, RouteCache } from '../target/find-route.ts'
import { authOf, requestHeaders, withCredential } from './apply-header-rules.ts'
import {
  FilteredModelList,
  isLimitedList,
  modelListError,
  relayMorePages,
  unconditional,
} from './model-list.ts'
import { SecretGuard } from './secret-guard.ts'
import { UploadGuard } from './upload-guard.ts'
import { relay, type RelayResult, type ResponseFilter } from './relay.ts'

/** A request to forward to a provider. */
export interface UpstreamRequest extends ObjectRequest {
  readonly pathAndQuery: string
}

/** Readers that check a response before the caller sees it; null if they are not needed. */
export interface ResponseGuards {
  /** For a list of models, if the key may use only some of them. */
  readonly models: FilteredModelList | null
  /** For a list of stored objects, or events about them, if the key has `objects: own`. */
  readonly objects: FeedGuard | null
  /** For the response of an unknown endpoint, which may contain a credential. */
  readonly secrets: SecretGuard | null
  /** Aborts an upload if one of its parts is refused. */
  readonly upload: UploadGuard | null
}

const NONE: ResponseGuards = { models: null, objects: null, secrets: null, upload: null }

/**
 * The guards of a request's response.
 * @param sendError sends an error of ours instead of the response
 */
export function guardsOf(
  { objects, turns }: { readonly objects: ObjectOwners; readonly turns: TurnBudget },
  exchange: HttpExchange,
  request: UpstreamRequest,
  { slot, inspected }: Pick<Forwardable, 'slot' | 'inspected'>,
  sendError: (error: unknown) => void,
): ResponseGuards {
  const { upload } = inspected
  // The response to a call of a model is passed on unread.
  if (request.match.class === 'model' && request.method !== 'GET' && upload === null) return NONE
  const models = isLimitedList(request)
    ? new FilteredModelList(exchange, {
        ...request,
        slot,
        objects,
        turns,
        sendError: (reason) => sendError(modelListError(reason)),
      })
    : null
  const secrets =
    request.match.class === 'unknown'
      ? new SecretGuard(exchange, slot, (reason) => sendError(secretError(reason)))
      : null
  if (upload !== null) {
    const guard = new UploadGuard(exchange, sendError)
    upload.checks = {
      check: (named) => checkOwnership(objects, request, named),
      refuse: (error) => guard.refuse(error),
    }
    return { models, objects: null, secrets: null, upload: guard }
  }
  return {
    models,
    objects: guardList(objects, request, secrets ?? models ?? exchange, slot, sendError),
    secrets,
    upload: null,
  }
}

/** The error instead of a response that may contain a credential. */
const secretError = (reason: 'secret' | 'busy'): GatewayError =>
  reason === 'busy'
    ? serviceUnavailable('The proxy has no room to read the response at the moment.')
    : new GatewayError(
        'endpoint_not_allowed',
        "The provider's response contains a credential, which no proxy key may receive.",
      )

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
  guards: ResponseGuards,
): OutboundRequest {
  const { provider, match, pathAndQuery } = request
  const { body } = inspected
  const { credential, owner } = admitted
  const forwarded = requestHeaders(headers, provider, match.endpoint)
  const whole = guards.models === null ? forwarded : unconditional(forwarded)
  const readable = guards.objects instanceof GuardedList ? acceptIdentity(whole) : whole
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

/** Step 8: streams both ways; for a filtered list of models, as many pages as needed. */
export async function forwardRequest(
  client: HttpClient,
  outbound: OutboundRequest,
  exchange: HttpExchange,
  { models, objects, secrets, upload }: ResponseGuards,
  filter: ResponseFilter,
): Promise<RelayResult> {
  const caller = upload ?? objects ?? secrets ?? models ?? exchange
  const first = await relay(client, outbound, caller, filter)
  if (models === null) return first
  return relayMorePages(models, first, (path) =>
    relay(client, { ...outbound, path }, objects ?? models, filter),
  )
}
