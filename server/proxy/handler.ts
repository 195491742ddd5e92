// A request's way through the proxy: the nine steps of the contract, in their order.
import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { newId } from '../id.ts'
import { authenticate } from '../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../keys/cache.ts'
import type { Admission, Ledger } from '../ledger/admit.ts'
import { linger } from '../linger.ts'
import type { Log } from '../log.ts'
import { readWhole, release } from './body.ts'
import { corsHeaders, METHODS, preflightHeaders } from './cors.ts'
import { retryAfter, type Credential, type CredentialPool } from './credentials.ts'
import { authOf, requestHeaders, responseHeaders, withCredential } from './headers.ts'
import { createMeter, type Meter, type Usage } from './meter.ts'
import { bodyNeeded, checkScope, ModelObserver, observeHeld } from './model.ts'
import type { Objects } from './objects.ts'
import { bodyRuleOf, classify, refuseEndpoint, type Match, type ObjectRef } from './providers/endpoint.ts'
import type { Provider, Upstream as Named } from './providers/provider.ts'
import type { ProviderTable } from './providers/table.ts'
import { refusal, type RefusalCode } from './refusal.ts'
import { relay, type Relayed } from './relay.ts'
import type { Outgoing, Upstream } from './upstream.ts'
import { createWays, type Ways } from './ways.ts'

export interface ProxyParts {
  /** The provider table as it is now: stored credentials may add hosts to it. */
  table: () => ProviderTable
  keys: KeyCache
  ledger: Ledger
  credentials: CredentialPool
  objects: Objects
  upstream: Upstream
  clock: Clock
  log: Log
  /** `body`: bytes of a body that has to be read whole. `open`: requests under way at one time. */
  limits: { body: number; open: number }
}

/** Seconds after which it is worth trying again when we cannot serve right now. */
const BUSY_RETRY_S = 5

const UNKNOWN: Usage = { input: null, output: null, cached: null, reasoning: null }
const METHOD_SET: ReadonlySet<string> = new Set(METHODS)

/** Thrown to end a request with a refusal. */
class Refused {
  readonly code: RefusalCode
  readonly message: string
  readonly headers: string[]

  constructor(code: RefusalCode, message: string, headers: string[] = []) {
    this.code = code
    this.message = message
    this.headers = headers
  }
}

/** What becomes known of a request on its way. */
interface Trip {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly id: string
  readonly started: number
  provider: Provider | null
  /** Whose way of writing an error the caller reads. */
  near: Provider | null
  key: CachedKey | null
  model: string | null
}

/** The handler of `/proxy`, on Node's own request and response. */
export function createProxy(parts: ProxyParts): (req: IncomingMessage, res: ServerResponse) => void {
  let open = 0
  const ways = createWays(parts.table)
  return (req, res) => {
    const trip: Trip = { req, res, id: newId('req', parts.clock.now()), started: parts.clock.mono(), provider: null, near: null, key: null, model: null }
    if (req.method === 'OPTIONS') return answerPreflight(trip)
    open++
    const gate = open > parts.limits.open ? Promise.reject(new Refused('service_unavailable', 'The proxy is busy.', ['Retry-After', String(BUSY_RETRY_S)])) : pass(parts, ways, trip)
    gate
      .catch((thrown: unknown) => refuse(parts, trip, thrown))
      .finally(() => open--)
      .catch((error: unknown) => parts.log.error('A proxied request failed.', error, { request_id: trip.id }))
  }
}

async function pass(parts: ProxyParts, ways: Ways, trip: Trip): Promise<void> {
  const { req } = trip
  const { keys, ledger, clock } = parts
  const method = req.method ?? ''

  // 1. The target.
  const route = ways.routeOf(method, req.url ?? '')
  const { target, table, named } = route
  trip.near = route.near
  if (!METHOD_SET.has(method)) throw new Refused('method_not_allowed', `The proxy passes on ${METHODS.join(', ')}.`, ['Allow', `${METHODS.join(', ')}, OPTIONS`])
  // Other upgrades are offers, which a server may pass over.
  if (/^websocket$/i.test(req.headers.upgrade ?? '')) throw new Refused('upgrade_not_supported', 'The proxy carries no WebSockets. Use an endpoint of the provider that answers over HTTP.', ['Connection', 'close'])
  if (!target.ok) throw new Refused('invalid_upstream_url', target.message)
  const { hostname, pathAndQuery } = target.upstream
  trip.provider = named?.provider ?? null

  // 2. The key.
  const caller = authenticate(keys, req.headers.authorization, req.headers.origin, clock.now())
  if (!caller.ok) throw new Refused(caller.code, caller.message)
  const { key } = caller
  trip.key = key

  // 3. The provider.
  if (named === null) throw new Refused('upstream_not_allowed', `The host ${hostname} is not one of a provider that this proxy knows.`)
  const { provider } = named

  // 4. The endpoint.
  const match = (route.match ??= classify(provider, method, pathAndQuery))
  const closed = refuseEndpoint(match, !key.scope.all)
  if (closed !== null) throw new Refused(closed.code, closed.message)

  // 5. The models, and the stored objects, that the request can reach.
  const reach = await reachOf(parts, trip, key, provider, match, pathAndQuery)
  if (reach === null) return
  try {
    const owned = reach.objects.length === 0 ? NOTHING_STORED : await parts.objects.look(provider.id, reach.objects, key.id)
    if (owned.foreign) throw new Refused('endpoint_not_allowed', 'The request names an object that was made with another key.')

    // 6. The limit and the ledger.
    const context = contextOf(req)
    const admission = await admit(ledger, {
      id: trip.id, account_id: key.accountId, key_id: key.id, rpm: key.rpm, provider: provider.id, model: trip.model, endpoint: match.pattern, method,
      context: context === null ? null : hash('sha256', context).slice(0, 32),
    })
    if (!admission.admitted) throw limited(key.rpm!, admission)

    // 7. The credential.
    const credential = parts.credentials.pick(named, context, owned.credential) ?? (owned.credential === null ? null : parts.credentials.pick(named, context, null))
    if (credential === null) {
      settle(parts, trip, match, admission.created_at, null, { outcome: 'failed', error: 'upstream_credential_missing' }, null)
      throw new Refused('upstream_credential_missing', `The operator of this proxy has set no credential for ${provider.name}.`)
    }
    const outgoing: Outgoing = {
      dial: ways.dialFor(named),
      method,
      path: pathAndQuery,
      headers: withCredential(requestHeaders(req.rawHeaders, provider, match.endpoint), authOf(provider, match.endpoint), credential.secret),
      body: reach.body,
    }

    // 8. The stream, both ways.
    await stream(parts, trip, { named, table, match, pathAndQuery, outgoing, credential, created_at: admission.created_at, observer: reach.observer })
  } finally {
    if (reach.held > 0) release(reach.held)
  }
}

const NOTHING_STORED = { foreign: false, credential: null }

interface Reached {
  objects: readonly ObjectRef[]
  body: Outgoing['body']
  /** Bytes of the body that we hold. */
  held: number
  /** Reads the model of a body that is not held while it goes up. */
  observer: ModelObserver | null
}

/** Step 5. Null: the caller has left. */
async function reachOf(parts: ProxyParts, trip: Trip, key: CachedKey, provider: Provider, match: Match, pathAndQuery: string): Promise<Reached | null> {
  const { req, res } = trip
  const length = req.headers['content-length']
  const sendsBody = length !== undefined || req.headers['transfer-encoding'] !== undefined
  const headers = req.rawHeaders
  if (sendsBody && req.headers.expect !== undefined) res.writeContinue()

  const scoped = !key.scope.all
  const whole = sendsBody && ((scoped && bodyNeeded(match)) || namesObjects(match))
  let body: Buffer | null = null
  if (whole) {
    const read = await readWhole(req, parts.limits.body)
    if (!read.ok) {
      if (read.reason === 'gone') return null
      if (read.reason === 'busy') throw new Refused('service_unavailable', 'The proxy holds too many large requests at the moment.', ['Retry-After', String(BUSY_RETRY_S)])
      throw new Refused('body_too_large', `The body must be read to find its model, and is larger than ${parts.limits.body} bytes.`)
    }
    body = read.body
  }
  const held = body?.length ?? 0
  const framing = length === undefined ? null : Number(length)
  const rest = body === null || framing === null ? req : null
  const trailers = (raw: string[]) => requestHeaders(raw, provider, match.endpoint)
  const outgoing: Outgoing['body'] = sendsBody ? { length: framing, held: body === null ? [] : [body], rest, trailers } : null

  if (scoped) {
    const reach = await checkScope(key.scope, { provider, match, pathAndQuery, headers, body, limit: parts.limits.body })
    if (!reach.ok) {
      release(held)
      throw new Refused(reach.code, reach.message)
    }
    trip.model = reach.models[0] ?? null
    // Where no model runs, the body was read for the objects that it names.
    const named = body === null || match.class !== 'neutral' ? null : await observeHeld(match, headers, pathAndQuery, body, parts.limits.body)
    return { objects: named?.objects ?? reach.objects, body: outgoing, held, observer: null }
  }
  const observer = body === null ? new ModelObserver(match, headers, pathAndQuery) : await observeHeld(match, headers, pathAndQuery, body, parts.limits.body)
  if (observer === null) {
    release(held)
    throw new Refused('ambiguous_body', 'The body cannot be read, so it is not known which stored objects it names.')
  }
  trip.model = observer.model
  return { objects: body === null ? match.objects : observer.objects, body: outgoing, held, observer: body === null && observer.watching ? observer : null }
}

/** Whether a body of this endpoint may name stored objects. */
function namesObjects(match: Match): boolean {
  return bodyRuleOf(match)?.objects !== undefined
}

async function admit(ledger: Ledger, asking: Parameters<Ledger['admit']>[0]): Promise<Admission> {
  try {
    return await ledger.admit(asking)
  } catch {
    throw new Refused('service_unavailable', 'The ledger cannot be written at the moment. Nothing was sent to the provider.', ['Retry-After', String(BUSY_RETRY_S)])
  }
}

/** draft-ietf-httpapi-ratelimit-headers for `RateLimit`; AI SDKs read `Retry-After-Ms` first. */
function limited(rpm: number, { wait }: { wait: number }): Refused {
  const seconds = String(Math.ceil(wait / 1000))
  return new Refused('rate_limit_exceeded', `The API key allows ${rpm} requests a minute. The next one can pass in ${wait} ms.`, [
    'Retry-After', seconds, 'Retry-After-Ms', String(wait), 'RateLimit-Policy', `"rpm";q=${rpm};w=60`, 'RateLimit', `"rpm";r=0;t=${seconds}`,
  ])
}

interface Streaming {
  named: Named
  table: ProviderTable
  match: Match
  pathAndQuery: string
  outgoing: Outgoing
  credential: Credential
  created_at: number
  observer: ModelObserver | null
}

/** Step 8, and 9 when it is over. */
async function stream(parts: ProxyParts, trip: Trip, { named, table, match, pathAndQuery, outgoing, credential, created_at, observer }: Streaming): Promise<void> {
  const { req, res } = trip
  const { clock } = parts
  const cors = req.headers.origin !== undefined
  let meter: Meter | null = null
  let firstByte: number | null = null
  if (observer !== null) {
    const watch = (chunk: Buffer) => {
      observer.write(chunk)
      if (!observer.watching) req.off('data', watch)
    }
    req.on('data', watch)
    // Listening has set the body flowing; it waits for the connection.
    req.pause()
  }
  const relayed = await relay(parts.upstream, outgoing, res, {
    head(status, raw) {
      firstByte = clock.mono() - trip.started
      parts.credentials.note(credential, status, status >= 400 ? retryAfter(raw, clock.now()) : null)
      meter = createMeter(named.provider, match, raw)
      const headers = responseHeaders(raw, { upstream: named, table, pathAndQuery, cors })
      if (!hasHeader(headers, 'x-request-id')) headers.push('X-Request-Id', trip.id)
      return cors ? headers.concat(corsHeaders(headers)) : headers
    },
    body: (chunk) => meter?.write(chunk),
    trailers: (raw) => responseHeaders(raw, { upstream: named, table, pathAndQuery }),
  })
  if (observer !== null) trip.model = observer.model
  // The provider may have answered before it had read everything: so has the caller then got to read the answer.
  if (relayed.outcome === 'complete') linger(req, res)

  // 9. The ledger.
  const metered = meter === null ? null : await (meter as Meter).end()
  if (metered?.created) parts.objects.created(named.provider.id, metered.created, trip.key!.id, credential.id, clock.now())
  const code = relayed.error === null ? null : relayed.error.code === 'timeout' ? ('upstream_timeout' as const) : ('upstream_unreachable' as const)
  settle(parts, trip, match, created_at, credential, { ...relayed, firstByte, error: code }, metered?.usage ?? null)
  if (relayed.outcome === 'failed') {
    throw new Refused(code!, code === 'upstream_timeout' ? `${named.provider.name} did not answer in time.` : `${named.provider.name} could not be reached, or did not answer.`)
  }
  logLine(parts, trip, relayed.status ?? 0, code ?? undefined, relayed)
}

type Ended = { outcome: Relayed['outcome']; error: RefusalCode | null; status?: number | null; bytesIn?: number; bytesOut?: number; firstByte?: number | null }

/** Step 9: completes the ledger's row. */
function settle(parts: ProxyParts, trip: Trip, match: Match, created_at: number, credential: Credential | null, ended: Ended, usage: Usage | null): void {
  const { key, provider, id, model } = trip
  const { input, output, cached, reasoning } = usage ?? UNKNOWN
  parts.ledger.settle({
    id, account_id: key!.accountId, key_id: key!.id, provider: provider!.id, created_at,
    state: ended.outcome === 'aborted' ? 'aborted' : 'settled',
    model: model ?? match.model,
    status: ended.status ?? null,
    error: ended.error,
    credential_id: credential?.id ?? null,
    first_byte_ms: ended.firstByte == null ? null : Math.round(ended.firstByte),
    total_ms: Math.round(parts.clock.mono() - trip.started),
    bytes_in: ended.bytesIn ?? 0,
    bytes_out: ended.bytesOut ?? 0,
    tokens_in: input, tokens_out: output, tokens_cached: cached, tokens_reasoning: reasoning,
  })
}

/** Ends a request that was refused, or that failed on our side. */
function refuse(parts: ProxyParts, trip: Trip, thrown: unknown): void {
  const { req, res } = trip
  if (!(thrown instanceof Refused)) parts.log.error('A proxied request failed.', thrown, { request_id: trip.id })
  const { code, message, headers } = thrown instanceof Refused ? thrown : new Refused('internal_error', 'The proxy failed. Nothing more is known to the caller.')
  if (res.destroyed) return logLine(parts, trip, 0, code)
  if (res.headersSent) return void res.destroy()
  const answer = refusal(code, message, trip.near)
  const all = [...answer.headers, ...headers, 'X-Request-Id', trip.id]
  res.writeHead(answer.status, req.headers.origin === undefined ? all : all.concat(corsHeaders(all)))
  res.end(req.method === 'HEAD' ? undefined : answer.body)
  linger(req, res)
  logLine(parts, trip, answer.status, code)
}

/** Preflights need no key: a browser sends none. */
function answerPreflight({ req, res, id }: Trip): void {
  res.writeHead(204, [...preflightHeaders(req.headers['access-control-request-headers']), 'X-Request-Id', id])
  res.end()
  linger(req, res)
}

function logLine(parts: ProxyParts, trip: Trip, status: number, code: string | undefined, relayed?: Relayed): void {
  parts.log.request({
    request_id: trip.id,
    method: trip.req.method ?? '',
    route: '/proxy',
    status,
    duration_ms: Math.round(parts.clock.mono() - trip.started),
    account_id: trip.key?.accountId,
    token_id: trip.key?.id,
    code,
    provider: trip.provider?.id,
    model: trip.model ?? undefined,
    bytes_in: relayed?.bytesIn,
    bytes_out: relayed?.bytesOut,
    aborted: relayed?.outcome === 'aborted' ? true : undefined,
  })
}

function contextOf(req: IncomingMessage): string | null {
  const value = req.headers['x-proxy-context-key']
  return typeof value === 'string' && value !== '' ? value : null
}

function hasHeader(headers: readonly string[], name: string): boolean {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.length === name.length && headers[i]!.toLowerCase() === name) return true
  return false
}
