// A request's way through the proxy: the nine steps of the contract, in their order.
import { hash } from 'node:crypto'
import type { HttpExchange } from '../http1/exchange.ts'
import { onlyValueOf, valueOf } from '../http1/header-fields.ts'
import { newId } from '../common/ids.ts'
import { authenticate } from '../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../keys/cache.ts'
import { PATIENCE_MS, type Admission } from '../ledger/ledger.ts'
import type { RefusalLog } from '../ledger/refusals/refusal-log.ts'
import type { Log } from '../common/log.ts'
import { CheckedList } from './objects/checked-list.ts'
import { METHODS } from './forward/cors.ts'
import { authOf, requestHeaders, withCredential } from './forward/headers.ts'
import { inspectRequest, type Limits } from './inspect/inspect-request.ts'
import { written } from './inspect/places.ts'
import type { TurnBudget } from '../fairness/turn-budget.ts'
import type { InspectionQueue } from './inspect/scheduler.ts'
import {
  askingForAll,
  isLimitedList,
  ModelList,
  relayMorePages,
  unreadList,
} from './forward/model-list.ts'
import { asPlain, checkOwnership, listChecked, mayStart } from './objects/ownership.ts'
import { Passage, type PassageParts } from './forward/response-recorder.ts'
import { presentedKey } from './target/presented-key.ts'
import { changesStored } from './providers/changes.ts'
import { classify, refuseEndpoint, refuseUnknown, type Match } from './providers/endpoint.ts'
import type { Provider } from './providers/provider.ts'
import { rateLimitHeaders } from './forward/rate-limit-headers.ts'
import { relay } from './forward/relay.ts'
import { Shares, type SharesLimits } from './shares/request-shares.ts'
import { namedTarget } from './target/parse-target.ts'
import { answerPreflight, busy, logLine, refuse, Refused, type Trip } from './request-context.ts'
import type { OutboundRequest, HttpClient } from '../http1/client/client.ts'
import type { Ways } from './target/route-cache.ts'

export interface ProxyParts extends PassageParts {
  keys: KeyCache
  ways: Ways
  sender: HttpClient
  inspections: InspectionQueue
  /** Work that takes about a millisecond before a request is charged: one piece in a turn. */
  turns: TurnBudget
  refusals: RefusalLog
  log: Log
  limits: Limits & SharesLimits
}

export interface ProxyHandler {
  /** The handler of `/proxy`. */
  handle(caller: HttpExchange): void
  /** What is in use of what all requests share. */
  readonly shares: Pick<Shares, 'open' | 'held' | 'dropped'>
}

const METHOD_SET: ReadonlySet<string> = new Set(METHODS)

export function createProxy(parts: ProxyParts): ProxyHandler {
  const shares = new Shares(parts.limits)
  const handle = (caller: HttpExchange): void => {
    const trip: Trip = {
      caller,
      id: newId('req', parts.clock.now()),
      started: parts.clock.mono(),
      provider: null,
      near: null,
      key: null,
      keyInQuery: false,
      place: null,
      model: null,
      kept: false,
      admitted: false,
      refusedAs: null,
    }
    if (caller.method === 'OPTIONS') return answerPreflight(parts, trip)
    pass(parts, trip, shares).then(
      () => trip.place?.leave(),
      (thrown: unknown) => {
        trip.place?.leave()
        refuse(parts, trip, thrown)
      },
    )
  }
  return { handle, shares }
}

async function pass(parts: ProxyParts, trip: Trip, shares: Shares): Promise<void> {
  const { caller } = trip
  const { method, headers } = caller
  const { keys, ways, ledger, clock } = parts
  if (!isForPrograms(headers))
    throw new Refused(
      'origin_not_allowed',
      'The answers of the proxy are read by programs. A browser may not open them as a page, a frame or a script.',
    )

  // 1. The target.
  const route = ways.routeOf(method, namedTarget(caller.target, headers))
  const { target, named } = route
  trip.near = route.near
  if (!METHOD_SET.has(method))
    throw new Refused('method_not_allowed', `The proxy passes on ${METHODS.join(', ')}.`)
  if (!target.ok) throw new Refused('invalid_upstream_url', target.message)
  const { hostname, pathAndQuery } = target.upstream
  trip.provider = named?.provider ?? null

  // 2. The key, and its share of what all requests use together.
  const authorization = onlyValueOf(headers, 'authorization')
  const origin = onlyValueOf(headers, 'origin')
  if (authorization === null || origin === null)
    throw new Refused(
      'malformed_request',
      `The request has two ${origin === null ? 'Origin' : 'Authorization'} headers. Send one.`,
    )
  const presented = presentedKey(headers, authorization, trip.provider, target.upstream.queryKeys)
  if (presented === null)
    throw new Refused('malformed_request', 'The request holds two different proxy keys. Send one.')
  trip.keyInQuery = presented.fromQuery
  const prove = (): CachedKey => {
    const proof = authenticate(keys, presented.credential, origin, clock.now())
    if (!proof.ok) throw new Refused(proof.code, proof.message)
    return (trip.key = proof.key)
  }
  const { id, accountId, rpm, scope, objects: holdings } = prove()
  // Only a caller with a key is told about WebSockets. Other upgrades are offers, which a server
  // may ignore (RFC 9110, section 7.8).
  if (/^websocket$/i.test(valueOf(headers, 'upgrade') ?? '')) {
    throw new Refused(
      'upgrade_not_supported',
      'The proxy carries no WebSockets. Use an endpoint of the provider that answers over HTTP.',
    )
  }
  const wait = ledger.fullFor(id, rpm)
  if (wait !== null) {
    ledger.countRefusal({ key_id: id, account_id: accountId })
    throw limited(rpm!, { wait })
  }
  trip.place = shares.enter(id, accountId)
  if (trip.place === null)
    throw busy('The proxy is busy, and this key has its share of the requests under way.')
  if (isLong(caller))
    await new Promise<void>((resolve) =>
      parts.turns.schedule({ account_id: accountId, key_id: id }, resolve),
    )

  // 3. The provider.
  if (named === null)
    throw new Refused(
      'upstream_not_allowed',
      `The host ${hostname} is not one of a provider that this proxy knows.`,
    )
  const { provider } = named
  checkProvider(trip.key!, provider)

  // 4. The endpoint.
  const match = (route.match ??= classify(provider, method, pathAndQuery))
  const closed = refuseEndpoint(match, !scope.all)
  if (closed !== null) throw new Refused(closed.code, closed.message)
  const unknown = holdings === 'own' ? refuseUnknown(match, method) : null
  if (unknown !== null) throw new Refused('endpoint_not_allowed', unknown)
  checkReadOnly(trip.key!, match, method)

  // 5. The models, and the stored objects, that the request can reach.
  const inspecting = inspectRequest({ trip, provider, match, pathAndQuery }, parts, prove)
  const inspected = inspecting instanceof Promise ? await inspecting : inspecting
  if (inspected === null) return
  const key = trip.key!
  // It may have been changed while the body came.
  checkProvider(key, provider)
  checkReadOnly(key, match, method)
  const about = { provider, key, match, method, headers }
  const checking = checkOwnership(parts.objects, about, inspected.objects, inspected.besideProse)
  const maker = checking instanceof Promise ? await checking : checking

  // 6. The limit and the ledger; only for what has a credential to go out with, so that nobody is
  //   charged for what the operator lacks.
  const context = contextOf(caller)
  const { credentials } = parts
  const lane = { model: trip.model, key: key.id }
  const credential =
    credentials.pick(named, context, maker, lane) ??
    (maker === null ? null : credentials.pick(named, context, null, lane))
  if (credential === null)
    throw new Refused(
      'upstream_credential_missing',
      `The operator of this proxy has set no credential for ${provider.name}.`,
    )
  const asking = {
    id: trip.id,
    account_id: key.accountId,
    key_id: key.id,
    rpm: key.rpm,
    provider: provider.id,
    model: trip.model,
    endpoint: match.pattern,
    method,
    context: context === null ? null : hash('sha256', context).slice(0, 32),
  }
  let admission: Admission
  try {
    admission = await ledger.admit(asking, caller, patienceOf(inspected.body, shares))
  } catch {
    throw busy('The ledger cannot be written at the moment. Nothing was sent to the provider.')
  }
  if (!admission.admitted) throw limited(key.rpm!, admission)
  trip.admitted = true

  // 7. The credential goes on the request.
  const models = isLimitedList({ key, match, method, pathAndQuery })
    ? new ModelList(caller, {
        ...about,
        pathAndQuery,
        place: trip.place,
        turns: parts.turns,
        refuse: (reason) => refuse(parts, trip, unreadList(reason)),
      })
    : null
  const list = listChecked(
    parts.objects,
    about,
    { caller: models ?? caller, place: trip.place },
    (refusal) => refuse(parts, trip, refusal),
  )
  const passing = requestHeaders(headers, provider, match.endpoint)
  const up = models === null ? passing : askingForAll(passing)
  const outgoing: OutboundRequest = {
    destination: (route.dial ??= ways.dialFor(named)),
    method,
    path: pathAndQuery,
    headers: withCredential(
      list instanceof CheckedList ? asPlain(up) : up,
      authOf(provider, match.endpoint),
      credential.secret,
    ),
    body: inspected.body,
    owner: asking,
    onBodyReleased:
      inspected.body !== null && inspected.body.held.length > 0
        ? () => trip.place!.release()
        : null,
  }

  // 8. The stream, both ways.
  const passage = new Passage(parts, trip, {
    route,
    named,
    match,
    pathAndQuery,
    credential,
    lane,
    admission,
    objects: inspected.objects,
    isUnread: inspected.isUnread ?? false,
    isOthers:
      match.objects.length > 0 && !parts.objects.isOwn(provider.id, key.id, match.objects[0]!),
    linesRead: inspected.lines ? () => mayStart(parts.objects, about, inspected.lines!) : null,
  })
  let relayed = await relay(parts.sender, outgoing, list ?? models ?? caller, passage)
  if (models !== null)
    relayed = await relayMorePages(models, relayed, (path) =>
      relay(parts.sender, { ...outgoing, path }, list ?? models, passage),
    )
  if (inspected.observer !== null) trip.model = written(inspected.observer.end())

  // 9. The ledger.
  const reading = passage.used()
  const usage = reading instanceof Promise ? await reading : reading
  const saying = passage.failure()
  const failure = saying instanceof Promise ? await saying : saying
  const code = passage.settle(relayed, usage, failure)
  if (relayed.outcome === 'failed')
    throw new Refused(
      code!,
      `${provider.name} ${code === 'upstream_timeout' ? 'did not answer in time' : 'could not be reached, or did not answer'}.`,
    )
  if (list?.refused !== true && models?.refused !== true)
    logLine(parts, trip, relayed.status ?? 0, code ?? undefined, passage.passed(relayed, usage))
}

/** @throws Refused where the key is for other providers */
function checkProvider({ providers }: CachedKey, { id, name }: Provider): void {
  if (providers !== null && !providers.has(id))
    throw new Refused('upstream_not_allowed', `This key may not call ${name}.`)
}

/** @throws Refused where the key may not do this to what the provider stores */
function checkReadOnly({ readOnly }: CachedKey, match: Match, method: string): void {
  if (readOnly && changesStored(match, method))
    throw new Refused(
      'endpoint_not_allowed',
      'This key may generate and read, but not change what the provider stores.',
    )
}

/** Characters of a target, and names and values of headers, that take little time to look at. */
const SHORT_TARGET = 1_024
const FEW_FIELDS = 2 * 48

/** Whether classifying a request by its head takes long enough to take turns with others. */
const isLong = ({ target, headers }: HttpExchange): boolean =>
  target.length > SHORT_TARGET || headers.length > FEW_FIELDS

/**
 * What a browser may do with an answer besides reading it in a script:
 * https://www.w3.org/TR/fetch-metadata/
 */
const DESTINATIONS: ReadonlySet<string> = new Set(['empty', 'audio', 'video', 'image'])
const FETCH_METADATA = 'sec-fetch-mode'

/** Whether an answer is for a program: shown or run by a browser it would be of our origin. */
function isForPrograms(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (name.length !== FETCH_METADATA.length) continue
    const lower = name.toLowerCase()
    if (
      lower === FETCH_METADATA
        ? headers[i + 1] === 'navigate'
        : lower === 'sec-fetch-dest' && !DESTINATIONS.has(headers[i + 1]!)
    )
      return false
  }
  return true
}

/**
 * A long body took a while to come, and its answer takes a while to begin: a millisecond more for
 * each so many bytes, and so many at most.
 */
const PATIENT_BYTES = 16 * 1024
const MAX_PATIENCE_MS = 24

/** How long a request may wait for company on its way to the ledger. */
function patienceOf(body: OutboundRequest['body'], { open }: Shares): number {
  return open === 1
    ? 0
    : Math.min(PATIENCE_MS + (body?.length ?? 0) / PATIENT_BYTES, MAX_PATIENCE_MS)
}

/** AI SDKs read `Retry-After-Ms` first. */
function limited(rpm: number, { wait }: { wait: number }): Refused {
  const seconds = String(Math.ceil(wait / 1000))
  return new Refused(
    'rate_limit_exceeded',
    `The API key allows ${rpm} requests a minute. The next one can pass in ${wait} ms.`,
    [
      'Retry-After',
      seconds,
      'Retry-After-Ms',
      String(wait),
      ...rateLimitHeaders(rpm, { requests: 0, reset: wait }),
    ],
  )
}

function contextOf(caller: HttpExchange): string | null {
  return valueOf(caller.headers, 'x-proxy-context-key') || null
}
