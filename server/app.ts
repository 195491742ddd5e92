// The whole HTTP surface: headers of every response, the routes, and the handling of errors.
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { matchedRoutes } from 'hono/route'
import type { Plans } from './accounts/plans.ts'
import { usedToday } from './accounts/quota.ts'
import { rateLimitHeaders } from './accounts/ratelimit.ts'
import { createApi, type Api, type ApiEnv } from './api/api.ts'
import { readClient } from './common/client-info.ts'
import { convertRoutes, type ConvertDependencies } from './api/convert.ts'
import type { Dashboard } from './web/dashboard-files.ts'
import { jobRoutes } from './api/jobs.ts'
import type { JobWatcher } from './conversion/jobs/watcher.ts'
import { Problem } from './common/errors.ts'
import { healthRoutes, type Health } from './api/health.ts'
import { TurnBudget } from './common/fairness/turn-budget.ts'
import { NodeExchange, requestFault } from './http1/node-exchange.ts'
import { newId } from './common/ids.ts'
import type { Owner } from './common/fairness/account-key-queue.ts'
import { lingeringClose } from './http1/lingering-close.ts'
import type { RequestListeners, NodeRequestListener } from './http1/listen.ts'
import type { Log, RequestLine } from './common/log.ts'
import { accountRoutes } from './api/accounts.ts'
import { credentialRoutes } from './api/credentials.ts'
import { invitationRoutes } from './api/invitations.ts'
import { limitRoutes } from './api/limits.ts'
import { keyRoutes } from './api/keys.ts'
import { overviewRoutes } from './api/overview.ts'
import { passwordResetRoutes } from './api/password-resets.ts'
import { describeProxy } from './api/proxy-openapi.ts'
import { providerRoutes } from './api/providers.ts'
import { refusalRoutes } from './api/refusals.ts'
import { requestRoutes } from './api/requests.ts'
import { sessionRoutes } from './api/session.ts'
import { sharedObjectRoutes } from './api/shared-objects.ts'
import { tokenRoutes } from './api/tokens.ts'
import { usageRoutes } from './api/usage.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { metricsRoutes } from './api/metrics.ts'
import { describeApi, allowedMethods } from './api/openapi.ts'
import type { Proxy } from './proxy/index.ts'
import { isProxyTarget } from './proxy/target/parse-target.ts'
import type { Store } from './store/open.ts'
import { transientProblem } from './store/transient-errors.ts'

/** What every process needs to answer, whatever its role. */
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

/** What a process needs that answers all routes. */
export interface AppDependencies extends SurfaceDependencies, ConvertDependencies {
  watcher: JobWatcher
  /** The token in the link to the first account. */
  setupToken: string
  /** Handles `/proxy` before any other route; the management routes change its keys. */
  proxied: Proxy
  /** Serves the dashboard. */
  dashboard: Dashboard
}

/**
 * TABLE of the headers of every response. The API serves no pages, so nothing may be loaded, framed
 * or sniffed.
 */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/**
 * TABLE of compressible responses: lists, reports and their description. None holds a secret (its
 * length would leak: BREACH, 2013), and none is an event stream.
 */
const COMPRESSED = [
  '/openapi.json',
  ...[
    'accounts',
    'credentials',
    'invitations',
    'keys',
    'models',
    'overview',
    'providers',
    'refusals',
    'requests',
    'tokens',
    'usage',
  ].map((name) => `/api/v1/${name}`),
]

/**
 * API requests, pages and bodies handled in one turn of the event loop. Each takes up to half a
 * millisecond, during which every proxied stream waits.
 */
const REQUESTS_PER_TURN = 1

/** The owner of a request in the queue for the event loop: its address. */
const ownerOf = (incoming: HttpBindings['incoming'], trusted: boolean): Owner => {
  const { address } = readClient(incoming, trusted)
  return { account_id: address, key_id: address }
}

/** Paths of the conversion API. */
const CONVERSION = ['/api/v1/convert', '/api/v1/jobs/*']

/**
 * TABLE of response headers that pages of other origins may read, besides the safelisted ones
 * (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name).
 */
const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Tollmark-Failed-Pages',
  'X-Tollmark-Warnings',
]

/** How long browsers may cache a preflight; Chromium's maximum. */
const PREFLIGHT_SECONDS = 7200

/** Lets pages of these origins call with a token, never with a cookie. */
function crossOrigin(origins: '*' | readonly string[]): MiddlewareHandler<ApiEnv> {
  return cors({
    origin: origins === '*' ? origins : [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
  })
}

/** Creates the listeners of a process that answers all routes. */
export function createApp(deps: AppDependencies): RequestListeners {
  const { store, plans, clock, proxied, dashboard, setupToken } = deps
  const turns = new TurnBudget(REQUESTS_PER_TURN)
  const api = surface(deps, turns, (c) => apiHeaders(c, store, plans, clock()))
  api.on('GET', COMPRESSED, compress())
  const { allowedOrigins } = deps.limits
  if (allowedOrigins !== null)
    CONVERSION.forEach((path) => api.use(path, crossOrigin(allowedOrigins)))
  api.route('/', convertRoutes(deps))
  api.route('/', jobRoutes(deps))
  api.route('/', sessionRoutes(store, plans, clock, setupToken))
  api.route('/', invitationRoutes(store, plans, clock))
  api.route('/', passwordResetRoutes(store, plans, clock))
  api.route('/', tokenRoutes(store, clock))
  api.route('/', accountRoutes(store, plans, proxied.keys, clock))
  api.route('/', keyRoutes(store, proxied, clock))
  api.route('/', sharedObjectRoutes(store, proxied, clock))
  api.route('/', usageRoutes(store, clock))
  api.route('/', requestRoutes(store, proxied.refusals, clock))
  api.route('/', refusalRoutes(store, proxied.refusals, clock))
  api.route('/', credentialRoutes(store, proxied, clock))
  api.route('/', providerRoutes(store, proxied, clock))
  api.route('/', limitRoutes(store, deps.limits, clock))
  api.route('/', overviewRoutes(store, plans, proxied, clock))
  describeProxy(api)
  describeApi(api)
  // The router is compiled when it is first asked: by nobody whose streams would stand still for
  // it.
  api.router.match('GET', '/')
  const answerApi = listener(api, deps)
  const showPage = withRequestLog(dashboard, deps)
  const answer: NodeRequestListener = (incoming, outgoing) => {
    if (requestFault(incoming) !== null || !showPage(incoming, outgoing))
      answerApi(incoming, outgoing)
  }
  const other: NodeRequestListener = (incoming, outgoing) => {
    // On a connection that began with something else requests for the proxy come by this way.
    if (requestFault(incoming) === null && isProxyTarget(incoming.url ?? ''))
      proxied.handle(new NodeExchange(incoming, outgoing))
    else turns.schedule(ownerOf(incoming, deps.trustProxy), () => answer(incoming, outgoing))
  }
  return { proxy: proxied.handle, other }
}

/** Gives the dashboard's responses a request id and a log line, like all others. */
function withRequestLog(dashboard: Dashboard, { log, clock }: SurfaceDependencies): Dashboard {
  return (incoming, outgoing) => {
    const started = performance.now()
    const id = newId('req', clock())
    outgoing.setHeader('x-request-id', id)
    const taken = dashboard(incoming, outgoing)
    if (taken)
      logWhenDone({ incoming, outgoing }, log, started, () => ({
        request_id: id,
        route: '/*',
        traceparent: incoming.headers['traceparent']?.toString(),
      }))
    else outgoing.removeHeader('x-request-id')
    return taken
  }
}

/** Builds what a process that only works listens with: it says how it is. */
export function createWorkerApp(deps: SurfaceDependencies): RequestListeners {
  return {
    proxy: null,
    other: listener(
      surface(deps, new TurnBudget(REQUESTS_PER_TURN), async () => ({})),
      deps,
    ),
  }
}

/** What every answer has, what is answered to what nothing else answers, and how the process is. */
function surface(
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
      return problemAnswer(
        c,
        new Problem(
          'not_found',
          'There is nothing at this address. GET /openapi.json lists all routes.',
        ),
      )
    const problem = new Problem(
      'method_not_allowed',
      `This address accepts only ${allowed.join(', ')}.`,
    )
    return problemAnswer(c, problem, { allow: allowed.join(', ') })
  })

  api.onError((error, c) => {
    const problem = toProblem(error)
    if (problem.status >= 500)
      log.error(problem.detail, problem.cause ?? error, { request_id: c.get('requestId') })
    return problemAnswer(c, problem)
  })
  api.route('/', healthRoutes(health))
  api.route('/', metricsRoutes(metrics, metricsToken))
  return api
}

function listener(api: Api, { log, clock }: SurfaceDependencies): NodeRequestListener {
  const listen = getRequestListener((request, env) => api.fetch(request, env), {
    // Requests that are not read to their end are our own affair: see lingering-close.ts.
    autoCleanupIncoming: false,
    overrideGlobalObjects: false,
    // What HTTP/1.0 need not say (RFC 9112, section 3.2).
    hostname: 'localhost',
    // Before the first route: an address or a Host that is none.
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

/**
 * Headers of answers under /api: that nothing keeps a copy, and the caller's quota where it is
 * known who calls.
 */
async function apiHeaders(
  c: Context<ApiEnv>,
  store: Store,
  plans: Plans,
  now: number,
): Promise<Record<string, string>> {
  if (!c.req.path.startsWith('/api/')) return {}
  const account = c.get('caller')?.account
  const used = account ? await usedToday(store, account.id, now).catch(() => null) : null
  return {
    'cache-control': 'no-store',
    ...(account && used !== null ? rateLimitHeaders(plans.of(account.plan), used, now) : {}),
  }
}

function problemAnswer(
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

/** What a caller may know about an error. */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof HTTPException && error.status < 500)
    return new Problem(
      'invalid_field',
      'The body must be valid JSON, sent with Content-Type: application/json.',
    )
  const trouble = transientProblem(error)
  if (trouble) return trouble
  return new Problem(
    'internal_error',
    'Something went wrong on the server. If it happens again, give the operator the request id.',
    { cause: error },
  )
}

/**
 * Logs one line when the response is complete or the caller is gone; `describe` then says what the
 * request was.
 */
function logWhenDone(
  { incoming, outgoing }: Pick<HttpBindings, 'incoming' | 'outgoing'>,
  log: Log,
  started: number,
  describe: () => Pick<RequestLine, 'request_id' | 'route'> & Partial<RequestLine>,
): void {
  const done = (): void => {
    log.request({
      method: incoming.method ?? '',
      status: outgoing.statusCode,
      duration_ms: Math.round(performance.now() - started),
      aborted: outgoing.writableFinished ? undefined : true,
      ...describe(),
    })
  }
  // Who left in the middle of the request is gone by now.
  if (outgoing.closed) done()
  else outgoing.once('close', done)
}
