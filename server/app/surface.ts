// Shared by all processes, whatever their role: response headers, errors, health and metrics.
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { matchedRoutes } from 'hono/route'
import { createApi, type Api, type ApiEnv } from '../api/api.ts'
import { healthRoutes, type Health } from '../api/health.ts'
import { metricsRoutes } from '../api/metrics.ts'
import { allowedMethods } from '../api/openapi.ts'
import { readClient } from '../common/client-info.ts'
import { Problem } from '../common/errors.ts'
import type { Owner } from '../common/fairness/account-key-queue.ts'
import { TurnBudget } from '../common/fairness/turn-budget.ts'
import { newId } from '../common/ids.ts'
import type { Log } from '../common/log.ts'
import { lingeringClose } from '../http1/lingering-close.ts'
import type { NodeRequestListener, RequestListeners } from '../http1/listen.ts'
import { requestFault, writeContinue } from '../http1/node-exchange.ts'
import { StoreError } from '../store/store-error.ts'
import { transientProblem } from '../store/transient-errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { logWhenDone } from './request-log.ts'

/** What every process depends on to respond, whatever its role. */
export interface SurfaceDependencies {
  log: Log
  health: Health
  clock: () => number
  metrics: Metrics
  /** The token that /metrics requires; null requires none. */
  metricsToken: string | null
  /** Whether to trust `X-Forwarded-…`. */
  trustProxy: boolean
  /** Milliseconds without a byte after which a request body fails. */
  transferIdle: number
}

/**
 * TABLE of headers in every response. The API serves no pages, so forbid loading, framing and
 * sniffing.
 */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/**
 * API requests, pages and bodies handled in one turn of the event loop. Each takes up to half a
 * millisecond, during which every proxied stream waits.
 */
export const REQUESTS_PER_TURN = 1

/** The owner of a request in the queue for the event loop: its address. */
export const ownerOf = (incoming: HttpBindings['incoming'], trusted: boolean): Owner => {
  const { address } = readClient(incoming, trusted)
  return { account_id: address, key_id: address }
}

/** Creates the listeners of a worker process: health and metrics only. */
export function createWorkerListeners(deps: SurfaceDependencies): RequestListeners {
  return {
    direct: null,
    other: nodeListener(
      createSurface(deps, new TurnBudget(REQUESTS_PER_TURN), async () => ({})),
      deps,
    ),
  }
}

/**
 * Creates an API with what all processes share: response headers, the log line, error handling,
 * health and metrics.
 *
 * @param more adds further response headers
 */
export function createSurface(
  { log, health, clock, metrics, metricsToken, trustProxy, transferIdle }: SurfaceDependencies,
  turns: TurnBudget,
  more: (c: Context<ApiEnv>) => Promise<Record<string, string>>,
): Api {
  const api = createApi()
  api.use(async (c, next) => {
    const started = performance.now()
    c.set('requestId', newId('req', clock()))
    c.set('client', readClient(c.env.incoming, trustProxy))
    c.set('transferIdle', transferIdle)
    c.set('writeContinue', () => writeContinue(c.env.outgoing))
    c.set(
      'turn',
      () => new Promise((resolve) => turns.schedule(ownerOf(c.env.incoming, trustProxy), resolve)),
    )
    await next()
    const headers = { 'x-request-id': c.get('requestId'), ...SECURITY_HEADERS, ...(await more(c)) }
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value)
    lingeringClose(c.env.incoming, c.env.outgoing)()
    const caller = c.get('caller')
    const matched = matchedRoutes(c).find((route) => !route.path.includes('*'))
    logWhenDone(c.env, log, started, () => ({
      request_id: c.get('requestId'),
      route: matched?.path ?? null,
      status: c.env.outgoing.headersSent ? c.env.outgoing.statusCode : c.res.status,
      account_id: caller?.account.id,
      token_id: caller?.tokenId ?? undefined,
      code: c.get('code'),
      traceparent: c.req.header('traceparent'),
    }))
  })
  api.use(async (c, next) => {
    const fault = requestFault(c.env.incoming)
    if (fault !== null) throw new Problem('malformed_request', fault)
    await next()
  })
  api.notFound((c) => {
    const allowed = allowedMethods(api, c.req.path)
    if (allowed.length === 0)
      return problemResponse(
        c,
        new Problem(
          'not_found',
          'No route matches this path. GET /openapi.json lists all routes; providers are under /proxy/<host>/, such as /proxy/api.openai.com/v1.',
        ),
      )
    const problem = new Problem(
      'method_not_allowed',
      `This address accepts only ${allowed.join(', ')}.`,
    )
    return problemResponse(c, problem, { allow: allowed.join(', ') })
  })

  api.onError((error, c) => {
    const problem = toProblem(error)
    // The request's own line tells a refusal for lack of room: a 503 without a cause.
    if (
      problem.cause instanceof StoreError ||
      (problem.status >= 500 && (problem.status !== 503 || problem.cause !== undefined))
    )
      log.error(problem.detail, problem.cause ?? error, { request_id: c.get('requestId') })
    return problemResponse(c, problem)
  })
  api.route('/', healthRoutes(health))
  api.route('/', metricsRoutes(metrics, metricsToken))
  return api
}

/** Creates a Node request listener from the routes. */
export function nodeListener(api: Api, { log, clock }: SurfaceDependencies): NodeRequestListener {
  const listen = getRequestListener((request, env) => api.fetch(request, env), {
    // lingering-close.ts handles requests that are not read to their end.
    autoCleanupIncoming: false,
    overrideGlobalObjects: false,
    // HTTP/1.0 requests need no Host (RFC 9112, section 3.2).
    hostname: 'localhost',
    // For an invalid URL or Host, before routing.
    errorHandler: (error) => {
      log.warn('a request could not be read', {
        reason: error instanceof Error ? error.name : 'unknown',
      })
      const id = newId('req', clock())
      const problem = new Problem(
        'invalid_field',
        'The address or the Host header of the request is not valid.',
      )
      return new Response(JSON.stringify(problem.body(id)), {
        status: problem.status,
        headers: { ...problem.headers(), ...SECURITY_HEADERS, 'x-request-id': id },
      })
    },
  })
  return (incoming, outgoing) => void listen(incoming, outgoing)
}

function problemResponse(
  c: Context<ApiEnv>,
  problem: Problem,
  headers: Record<string, string> = {},
): Response {
  c.set('code', problem.code)
  return new Response(JSON.stringify(problem.body(c.get('requestId'))), {
    status: problem.status,
    headers: { ...problem.headers(), ...headers },
  })
}

/** Turns an error into the problem that the caller sees. */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof HTTPException && error.status < 500)
    return new Problem(
      'invalid_field',
      'The body must be valid JSON, sent with Content-Type: application/json.',
    )
  const trouble = transientProblem(error)
  if (trouble) return trouble
  if (error instanceof StoreError && error.code === 'missing')
    return new Problem(
      'result_expired',
      "The document is gone from the server's file store. Upload the file again, with another Idempotency-Key if you send one.",
      { cause: error },
    )
  return new Problem(
    'internal_error',
    'Something went wrong on the server. If it happens again, give the operator the request id.',
    { cause: error },
  )
}
