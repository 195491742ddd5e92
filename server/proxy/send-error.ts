// Sends our own responses: errors, minted keys and CORS preflights.
import { limitHeaders } from './admission/key-limits.ts'
import type { Clock } from '../common/clock.ts'
import type { Log } from '../common/log.ts'
import { onlyValueOf, valueOf } from '../http1/header-fields.ts'
import { findKeyByCredential } from '../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../keys/cache.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { RefusalLog } from '../ledger/refusals/refusal-log.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { presentedKey } from './authenticate-request.ts'
import { errorResponse, jsonHeaders, type ErrorResponse } from './error-response.ts'
import { corsHeaders, preflightHeaders } from './forward/cors.ts'
import { SANDBOX } from './forward/sandbox.ts'
import { GatewayError, serviceUnavailable } from './gateway-error.ts'
import { logRequest, type EndedRequest, type RequestContext } from './request-context.ts'

/** Dependencies of error responses. */
export interface ErrorDeps {
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'leftFor'>
  readonly log: Log
  readonly keys: KeyCache
  readonly refusalLog: RefusalLog
}

/**
 * Ends a request that was refused, or that failed on our side. Never throws.
 * @returns whether an error response was written: not if the caller has left, or has part of a
 *   response
 */
export function sendError(deps: ErrorDeps, context: RequestContext, thrown: unknown): boolean {
  try {
    return writeError(deps, context, thrown)
  } catch (error) {
    deps.log.error('A proxied request could not be answered.', error, { request_id: context.id })
    context.exchange.reset()
    return false
  }
}

function writeError(deps: ErrorDeps, context: RequestContext, thrown: unknown): boolean {
  const { exchange, id } = context
  if (!(thrown instanceof GatewayError))
    deps.log.error('A proxied request failed.', thrown, { request_id: id })
  const error = thrown instanceof GatewayError ? thrown : toGatewayError(thrown)
  if (exchange.closed) {
    logRequest(deps, context, 0, error)
    return false
  }
  if (exchange.headersSent) {
    exchange.reset()
    return false
  }
  const response = errorResponse(error.code, error.message, context.route?.errorStyle ?? null)
  // A request may be refused before its key is authenticated.
  const key = context.key ?? findKeyByCredential(deps.keys, credentialOf(context))
  const saysLimit = error.code !== 'rate_limit_exceeded' && response.status !== 401
  const limit = saysLimit ? limitHeaders(deps.ledger, key) : []
  writeResponse(deps, context, {
    ...response,
    headers: [...response.headers, ...error.headers, ...limit],
  })
  logRequest(deps, context, response.status, error)
  if (!context.isAdmitted && key !== null)
    recordRefusal(deps, context, key, error, { id: context.id, status: response.status })
  return true
}

/** Ends a request with our own JSON response. It may contain a secret, so it is never logged. */
export function sendJson(deps: ErrorDeps, context: RequestContext, content: object): void {
  const { exchange, key } = context
  if (exchange.closed) return logRequest(deps, context, 0, null)
  const body = Buffer.from(JSON.stringify(content))
  writeResponse(deps, context, {
    status: 200,
    reason: 'OK',
    headers: [...jsonHeaders(body), ...limitHeaders(deps.ledger, key)],
    body,
  })
  logRequest(deps, context, 200, null)
}

/** Writes one of our own responses, with the common headers. */
function writeResponse(
  { clock }: Pick<ErrorDeps, 'clock'>,
  { exchange, id, isKeyInQuery }: RequestContext,
  response: ErrorResponse,
): void {
  const headers = [
    ...response.headers,
    ...(isKeyInQuery ? SANDBOX : []),
    'Date',
    new Date(clock.now()).toUTCString(),
    ...requestIdHeaders(id),
  ]
  const isCrossOrigin = valueOf(exchange.headers, 'origin') !== undefined
  exchange.writeHead(
    response.status,
    response.reason,
    isCrossOrigin ? headers.concat(corsHeaders(headers)) : headers,
  )
  exchange.write(response.body)
  exchange.end()
  exchange.flush()
}

const requestIdHeaders = (id: string): string[] => ['X-Request-Id', id, 'X-Proxy-Request-Id', id]

/**
 * Records a refusal under its key, after the response.
 *
 * @param as its id, and the status of the response
 */
export function recordRefusal(
  { refusalLog, clock }: ErrorDeps,
  context: EndedRequest,
  key: CachedKey,
  { code, message, model }: GatewayError,
  { id, status }: { readonly id: string; readonly status: number },
): void {
  const { exchange, route } = context
  refusalLog.note({
    id,
    created_at: clock.now(),
    account_id: key.accountId,
    key_id: key.id,
    provider: route?.upstream?.provider.id ?? null,
    model: model ?? context.model,
    method: exchange.method,
    status,
    code,
    detail: message,
  })
}

function credentialOf({ exchange: { headers }, route }: RequestContext): string | undefined {
  const authorization = onlyValueOf(headers, 'authorization') ?? undefined
  return presentedKey(headers, authorization, route?.errorStyle ?? null, [])?.credential
}

/** The response to an unexpected error. */
function toGatewayError(error: unknown): GatewayError {
  return transientProblem(error) === undefined
    ? new GatewayError(
        'internal_error',
        'The proxy failed. Give the operator the X-Proxy-Request-Id of this response.',
      )
    : serviceUnavailable('The database does not answer at the moment.')
}

/** Answers a CORS preflight. It needs no key: browsers send none. */
export function sendPreflight(clock: Clock, { exchange, id }: RequestContext): void {
  const headers = preflightHeaders(valueOf(exchange.headers, 'access-control-request-headers'))
  exchange.writeHead(204, 'No Content', [
    ...headers,
    'Date',
    new Date(clock.now()).toUTCString(),
    ...requestIdHeaders(id),
  ])
  exchange.end()
  exchange.flush()
}
