// The nine steps of a proxied request, in order. Each step takes what it needs and returns what it
// found, or throws a GatewayError.
import type { HttpClient } from '../http1/client/client.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import { valueOf } from '../http1/header-fields.ts'
import { asksForWebSocket } from '../http1/websocket/handshake.ts'
import { newId } from '../common/ids.ts'
import type { TurnBudget } from '../common/fairness/turn-budget.ts'
import { publicIdOf } from '../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../keys/cache.ts'
import { admitRequest } from './admission/admit-request.ts'
import {
  authenticateKey,
  openSlot,
  readCredential,
  type RequestCredential,
} from './authenticate-request.ts'
import type { FailureCode } from './credentials/health.ts'
import { forwardRequest, outboundRequest } from './forward/forward-request.ts'
import type { Forwardable } from './forward/forwarded-request.ts'
import { ResponseGuards } from './forward/response-guards.ts'
import { ResponseRecorder, type RecorderDeps } from './forward/response-recorder.ts'
import { GatewayError } from './gateway-error.ts'
import { namesObjects } from './inspect/header-refs.ts'
import { inspectRequest } from './inspect/inspect-request.ts'
import type { InspectionDeps } from './inspect/inspected-request.ts'
import { loggedModel } from './inspect/places.ts'
import { handleMint, mintShapeOf, type MintRequest, type Minter } from './minting/handle-mint.ts'
import { checkOwnership, mayStartBatch, namesForeignObject } from './objects/ownership.ts'
import {
  authorizeAgain,
  authorizeEndpoint,
  authorizeProvider,
  endpointOf,
} from './providers/authorize-endpoint.ts'
import { logRequest, RequestContext } from './request-context.ts'
import { sendPreflight, sendJson, sendError, type ErrorDeps } from './send-error.ts'
import { RequestShares, type SharesLimits } from './admission/request-shares.ts'
import { socketOf } from './socket/open-socket.ts'
import type { SocketDeps } from './socket/run-socket.ts'
import { switchToSocket } from './socket/switch-to-socket.ts'
import { addressOf, refuseNavigation, type RouteCache } from './find-route.ts'

/** Sizes in bytes, times in milliseconds, and numbers of requests. */
export type ProxyLimits = InspectionDeps['limits'] & SharesLimits & SocketDeps['limits']

/** Dependencies shared by all proxied requests of a process. */
export interface ProxyDeps extends RecorderDeps, ErrorDeps, InspectionDeps, SocketDeps {
  /** All of it: errors need only what is left of a limit. */
  readonly ledger: RecorderDeps['ledger']
  readonly keys: KeyCache
  readonly routes: RouteCache
  readonly client: HttpClient
  /** Creates the child keys in the responses of minting endpoints. */
  readonly minter: Minter
  /**
   * Work that takes about a millisecond before the key's limit is checked, and opening a socket:
   * one piece per turn.
   */
  readonly turns: TurnBudget
  readonly limits: ProxyLimits
}

/** The proxy's interface to the server. */
export interface ProxyHandler {
  /** The handler of `/proxy`. */
  handle(exchange: HttpExchange): void
  /** Usage of the shared resources. */
  readonly shares: Pick<RequestShares, 'open' | 'held' | 'dropped'>
}

/** Creates the handler of `/proxy`. */
export function createProxy(deps: ProxyDeps): ProxyHandler {
  const shares = new RequestShares(deps.limits)
  const handle = (exchange: HttpExchange): void => {
    const { clock } = deps
    const context = new RequestContext(exchange, newId('req', clock.now()), clock.mono())
    if (exchange.method === 'OPTIONS') return sendPreflight(clock, context)
    proxyRequest(deps, context, shares).catch((error: unknown) => sendError(deps, context, error))
  }
  return { handle, shares }
}

/** Takes steps 1 to 6; `forwardAdmitted` takes the others. @throws GatewayError */
async function proxyRequest(
  deps: ProxyDeps,
  context: RequestContext,
  shares: RequestShares,
): Promise<void> {
  const { exchange } = context
  const { method, headers } = exchange
  refuseNavigation(headers)

  // 1. Read the target.
  const route = deps.routes.find(exchange)
  context.progress = { step: 'routed', route, isKeyInQuery: false }
  const address = addressOf(route, exchange)
  const { pathAndQuery } = address

  // 2. Authenticate the key, and take one of its slots for open requests.
  const addressed = route.upstream?.provider ?? null
  const wantsSocket = valueOf(headers, 'upgrade') !== undefined && asksForWebSocket(headers)
  const presented = readCredential(headers, addressed, address.queryCredentials, wantsSocket)
  const isKeyInQuery = presented.fromQuery
  context.progress = { step: 'routed', route, isKeyInQuery }
  const key = authenticateKey(deps.keys, presented, deps.clock)
  context.progress = { step: 'authenticated', route, isKeyInQuery, key }
  const slot = openSlot(deps.ledger, shares, key)
  let isSocketOpen = false
  try {
    if ((wantsSocket || isLongHead(exchange)) && !(await waitForTurn(deps, exchange, key))) return

    // 3. Check that the key may call the provider.
    const upstream = authorizeProvider(route, address, key)
    const { provider } = upstream

    const authenticate = (): CachedKey => authenticateKey(deps.keys, presented, deps.clock)

    // 4. Classify the endpoint.
    const match = endpointOf(route, address, upstream, method)
    const mintable = { slot, provider, pathAndQuery, presented, authenticate }
    if (match.class === 'minting' && (await mintedInstead(deps, context, mintable))) return
    authorizeEndpoint(match, address, provider, method, key)
    const socket = wantsSocket ? socketOf(exchange, match, pathAndQuery) : null

    // 5. Check the models and the stored objects that the request can reach.
    const isModelNamedLater = socket?.row.namedLater === true
    const inspected = await inspectRequest(
      { exchange, slot, key, provider, match, pathAndQuery, isModelNamedLater },
      deps,
      authenticate,
    )
    if (inspected === null) return // The caller has left.
    const { key: keyNow, model, objects, outsideProse } = inspected
    context.progress = { step: 'inspected', route, isKeyInQuery, key: keyNow, model }
    if (keyNow !== key) authorizeAgain(keyNow, provider, match, method)
    const request = { provider, key: keyNow, match, method, headers, pathAndQuery }
    const makerCredential = namesObjects(request, objects)
      ? await checkOwnership(deps.objects, request, objects, outsideProse)
      : null

    // 6. Check the key's limit, and write the reservation.
    const admitted = await admitRequest(
      deps,
      { id: context.id, exchange, upstream, match, inspected, makerCredential },
      shares.open,
    )
    context.progress = { step: 'admitted', route, isKeyInQuery, key: keyNow, model }
    const forwardable = { route, upstream, slot, request, inspected, admitted, socket }
    isSocketOpen = await forwardAdmitted(deps, context, forwardable, authenticate)
  } finally {
    if (!isSocketOpen) slot.release()
  }
}

/**
 * Responds for a minting endpoint with a child of the key; the provider gets no request.
 * @returns whether it was handled here
 * @throws GatewayError
 */
async function mintedInstead(
  deps: ProxyDeps,
  context: RequestContext,
  asked: Omit<MintRequest, 'exchange' | 'shape' | 'secretId' | 'pace'> & {
    readonly pathAndQuery: string
    readonly presented: RequestCredential
  },
): Promise<boolean> {
  const { exchange } = context
  const shape = mintShapeOf(asked.provider, exchange.method, asked.pathAndQuery)
  if (shape === null) return false
  const secretId = publicIdOf(asked.presented.credential) ?? ''
  const request = { ...asked, exchange, shape, secretId, pace: deps.limits }
  const minted = await handleMint(deps.minter, request)
  if (minted !== null) sendJson(deps, context, minted)
  return true
}

/** Length of a target, and number of header names and values, that need no turn to be checked. */
const SHORT_TARGET = 1_024
const FEW_FIELDS = 2 * 48

/** Whether checking the head of a request takes so long that it takes turns with others. */
const isLongHead = ({ target, headers }: HttpExchange): boolean =>
  target.length > SHORT_TARGET || headers.length > FEW_FIELDS

/**
 * Waits for the turn of a request that asks for a socket, or has a long head.
 * @returns whether its caller is still there
 * @throws GatewayError
 */
async function waitForTurn(
  { handshakes, turns }: ProxyDeps,
  exchange: HttpExchange,
  key: CachedKey,
): Promise<boolean> {
  if (asksForWebSocket(exchange.headers)) await handshakes.waitFor(key.id)
  if (!exchange.closed) await turnOf(turns, key)
  return !exchange.closed
}

const turnOf = (turns: TurnBudget, { id, accountId }: CachedKey): Promise<void> =>
  new Promise((resolve) => turns.schedule({ account_id: accountId, key_id: id }, resolve))

/**
 * Steps 7 to 9.
 * @returns whether it has become an open socket, which keeps the slot
 * @throws GatewayError if the provider does not respond
 */
async function forwardAdmitted(
  deps: ProxyDeps,
  context: RequestContext,
  forwardable: Forwardable,
  authenticate: () => CachedKey,
): Promise<boolean> {
  const { exchange } = context
  const { route, upstream, request, inspected } = forwardable
  const { provider, key, match } = request
  const { observer, lines } = inspected
  // Many sockets may be admitted together, and each opens a new connection.
  if (forwardable.socket !== null) await turnOf(deps.turns, key)

  const recorder = new ResponseRecorder(deps, {
    context,
    upstream,
    route,
    match,
    pathAndQuery: request.pathAndQuery,
    inspected,
    admitted: forwardable.admitted,
    namesForeignObject: match.objects.length > 0 && namesForeignObject(deps.objects, request),
    mayStartBatch: lines === null ? null : () => mayStartBatch(deps.objects, request, lines),
  })
  const refuse = (error: unknown): void => {
    if (sendError(deps, context, error))
      recorder.replacedBy = error instanceof GatewayError ? error.code : 'internal_error'
  }
  const guards = isGuarded(request, inspected)
    ? new ResponseGuards(deps, exchange, forwardable, refuse)
    : null
  // 7. Attach the credential.
  const outbound = outboundRequest(deps.routes, exchange, forwardable, guards)

  // 8. Stream both ways.
  const result = await forwardRequest(deps.client, outbound, exchange, guards, recorder)
  if (result.switched !== undefined && forwardable.socket !== null) {
    await switchToSocket(deps, context, forwardable, recorder, result.switched, authenticate)
    return true
  }

  // 9. Settle the ledger's row. A body that was only observed may have named its model late.
  const model = observer === null ? inspected.model : loggedModel(provider, observer.end())
  if (model !== inspected.model)
    context.progress = { step: 'admitted', route, isKeyInQuery: context.isKeyInQuery, key, model }
  const { code, stats } = await recorder.settle(result, model)
  if (code !== null && result.outcome === 'failed')
    throw new GatewayError(code, `${provider.name} ${FAILURES[code]}.`)
  if (result.outcome === 'shutdown' && result.status === null)
    throw new GatewayError(
      'server_shutdown',
      `The proxy was stopped before ${provider.name} answered. ${provider.name} may have processed the request.`,
      ['Retry-After', '1'],
    )
  // Otherwise `sendError` has logged it.
  if (guards?.replaced !== true)
    logRequest(deps, context, result.status ?? 0, code === null ? null : { code, model }, stats)
  return false
}

/** Whether a response is checked before its caller sees it: a model's is passed on as it is. */
const isGuarded = (
  { match, method }: Forwardable['request'],
  { upload }: Forwardable['inspected'],
): boolean => match.class !== 'model' || method === 'GET' || upload !== null

const FAILURES: Readonly<Record<FailureCode, string>> = {
  upstream_timeout: 'did not answer in time',
  upstream_unreachable: 'could not be reached, or did not answer',
}
