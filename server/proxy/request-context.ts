// One proxied request on its way, and how it ends: an answer of ours where it is refused, and a
// line in the log.
import type { Clock } from '../common/clock.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import { onlyValueOf, valueOf } from '../http1/header-fields.ts'
import { findKeyByCredential } from '../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../keys/cache.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { RefusalLog } from '../ledger/refusals/refusal-log.ts'
import type { Log } from '../common/log.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { corsHeaders, preflightHeaders } from './forward/cors.ts'
import type { Usage } from './usage/meter.ts'
import { presentedKey } from './target/presented-key.ts'
import type { Provider } from './providers/provider.ts'
import { rateLimitHeaders } from './forward/rate-limit-headers.ts'
import { refusal, type RefusalCode } from './error-response.ts'
import type { Relayed } from './forward/relay.ts'
import type { Place } from './shares/request-shares.ts'

/** What becomes known of a request on its way. */
export interface Trip {
  readonly caller: HttpExchange
  readonly id: string
  /** Monotonic milliseconds. */
  readonly started: number
  provider: Provider | null
  /** Whose way of writing an error the caller reads. */
  near: Provider | null
  key: CachedKey | null
  /** Whether the key stands in the address. */
  keyInQuery: boolean
  /** What the request takes of the key's share, from its head to its end. */
  place: Place | null
  /** As it is written down. */
  model: string | null
  /** Whether the request asks the provider to keep the answer. */
  kept: boolean
  /** Whether it has a row in the ledger. */
  admitted: boolean
  /**
   * What the caller was answered in place of the provider's answer, where that was our own
   * decision.
   */
  refusedAs: RefusalCode | null
}

/** Thrown to end a request with a refusal. */
export class Refused {
  readonly code: RefusalCode
  readonly message: string
  readonly headers: string[]

  constructor(code: RefusalCode, message: string, headers: string[] = []) {
    this.code = code
    this.message = message
    this.headers = headers
  }
}

/** Seconds after which it is worth trying again when we cannot serve right now. */
const BUSY_RETRY_S = 5

/** A refusal for now, which says when to try again. */
export function busy(message: string): Refused {
  return new Refused('service_unavailable', message, ['Retry-After', String(BUSY_RETRY_S)])
}

interface Parts {
  clock: Clock
  ledger: Pick<Ledger, 'leftFor'>
  log: Log
  keys: KeyCache
  refusals: RefusalLog
}

/** The headers of an answer of our own that name its request. */
const requestIds = (id: string): string[] => ['X-Request-Id', id, 'X-Proxy-Request-Id', id]

/**
 * On answers that a browser could be led to show: what it shows of one has no origin of ours, and
 * no type but its own.
 */
export const SANDBOX: readonly string[] = [
  'Content-Security-Policy',
  'sandbox',
  'X-Content-Type-Options',
  'nosniff',
]

/** Ends a request that was refused, or that failed on our side. Never throws. */
export function refuse(parts: Parts, trip: Trip, thrown: unknown): void {
  try {
    answerRefusal(parts, trip, thrown)
  } catch (error) {
    parts.log.error('A proxied request could not be answered.', error, { request_id: trip.id })
    trip.caller.reset()
  }
}

function answerRefusal(parts: Parts, trip: Trip, thrown: unknown): void {
  const { caller } = trip
  if (!(thrown instanceof Refused))
    parts.log.error('A proxied request failed.', thrown, { request_id: trip.id })
  const { code, message, headers } = thrown instanceof Refused ? thrown : refusalOf(thrown)
  if (caller.closed) return logLine(parts, trip, 0, code)
  if (caller.headersSent) return caller.reset()
  const answer = refusal(code, message, trip.near)
  if (trip.admitted) trip.refusedAs = code
  const left = code === 'rate_limit_exceeded' ? [] : limitLeft(parts, trip)
  const sandbox = trip.keyInQuery ? SANDBOX : []
  const all = [
    ...answer.headers,
    ...headers,
    ...left,
    ...sandbox,
    'Date',
    new Date(parts.clock.now()).toUTCString(),
    ...requestIds(trip.id),
  ]
  caller.writeHead(
    answer.status,
    answer.reason,
    valueOf(caller.headers, 'origin') === undefined ? all : all.concat(corsHeaders(all)),
  )
  caller.write(answer.body)
  caller.end()
  caller.flush()
  logLine(parts, trip, answer.status, code)
  if (!trip.admitted) noteRefusal(parts, trip, { status: answer.status, code, detail: message })
}

/** What every answer to a key with a limit says of it; nothing where there is no limit. */
export function limitLeft({ ledger }: Pick<Parts, 'ledger'>, { key }: Trip): string[] {
  if (key === null || key.rpm === null) return []
  return rateLimitHeaders(key.rpm, ledger.leftFor(key.id, key.rpm))
}

/**
 * Takes note of a refusal of a known key, behind its answer. Some are decided before the key is
 * looked at.
 */
function noteRefusal(
  { keys, refusals, clock }: Parts,
  { id, caller, key: proven, near, provider, model }: Trip,
  answered: { status: number; code: string; detail: string },
): void {
  const key =
    proven ??
    findKeyByCredential(
      keys,
      presentedKey(
        caller.headers,
        onlyValueOf(caller.headers, 'authorization') ?? undefined,
        near,
        [],
      )?.credential,
    )
  if (key === null) return
  refusals.note({
    id,
    created_at: clock.now(),
    account_id: key.accountId,
    key_id: key.id,
    provider: provider?.id ?? null,
    model,
    method: caller.method,
    ...answered,
  })
}

/** What the caller is told of an error that is no refusal. */
function refusalOf(error: unknown): Refused {
  return transientProblem(error) === undefined
    ? new Refused('internal_error', 'The proxy failed. Nothing more is known to the caller.')
    : busy('The store of the proxy does not answer at the moment.')
}

/** Preflights need no key: a browser sends none. */
export function answerPreflight(parts: Pick<Parts, 'clock'>, { caller, id }: Trip): void {
  const headers = preflightHeaders(valueOf(caller.headers, 'access-control-request-headers'))
  caller.writeHead(204, 'No Content', [
    ...headers,
    'Date',
    new Date(parts.clock.now()).toUTCString(),
    ...requestIds(id),
  ])
  caller.end()
  caller.flush()
}

/** What is known besides of a request that the provider got. */
export interface Passed extends Pick<Relayed, 'bytesIn' | 'bytesOut' | 'outcome'> {
  endpoint: string
  firstByte: number | null
  usage: Usage | null
}

/** Logs a request that is over. @param status 0 where the caller has had none */
export function logLine(
  { log, clock }: Pick<Parts, 'log' | 'clock'>,
  trip: Trip,
  status: number,
  code: string | undefined,
  passed?: Passed,
): void {
  log.request({
    request_id: trip.id,
    method: trip.caller.method,
    route: '/proxy',
    status,
    duration_ms: Math.round(clock.mono() - trip.started),
    account_id: trip.key?.accountId,
    token_id: trip.key?.id,
    code,
    provider: trip.provider?.id,
    model: trip.model ?? undefined,
    bytes_in: passed?.bytesIn,
    bytes_out: passed?.bytesOut,
    aborted: passed?.outcome === 'aborted' ? true : undefined,
    endpoint: passed?.endpoint,
    first_byte_ms: passed?.firstByte ?? undefined,
    tokens_in: passed?.usage?.input,
    tokens_out: passed?.usage?.output,
    tokens_cached: passed?.usage?.cached,
    tokens_reasoning: passed?.usage?.reasoning,
    traceparent: valueOf(trip.caller.headers, 'traceparent'),
  })
}
