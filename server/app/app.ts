// The routes of a web process.
import type { Context, MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import type { Plans } from '../accounts/plans.ts'
import { usedToday } from '../accounts/quota.ts'
import { quotaHeaders } from '../accounts/quota-headers.ts'
import { type ApiEnv } from '../api/api.ts'
import { convertRoutes } from '../api/convert.ts'
import type { ConvertDependencies } from '../api/convert-request.ts'
import type { Dashboard } from '../web/dashboard-files.ts'
import { jobRoutes } from '../api/jobs.ts'
import type { JobWatcher } from '../conversion/jobs/job-watcher.ts'
import { TurnBudget } from '../common/fairness/turn-budget.ts'
import { NodeExchange, requestFault } from '../http1/node-exchange.ts'
import { newId } from '../common/ids.ts'
import { PROXY_PATH } from './listening.ts'
import type { RequestListeners, NodeRequestListener } from '../http1/listen.ts'
import { accountRoutes } from '../api/accounts.ts'
import { credentialRoutes } from '../api/credentials.ts'
import { invitationRoutes } from '../api/invitations.ts'
import { limitRoutes } from '../api/limits.ts'
import { childKeyRoutes } from '../api/child-keys.ts'
import { keyRoutes } from '../api/keys.ts'
import { overviewRoutes } from '../api/overview.ts'
import { passwordResetRoutes } from '../api/password-resets.ts'
import { describeProxy } from '../api/proxy-openapi.ts'
import { providerRoutes } from '../api/providers.ts'
import { refusalRoutes } from '../api/refusals.ts'
import { requestRoutes } from '../api/requests.ts'
import { sessionRoutes } from '../api/session.ts'
import { socketRoutes } from '../api/sockets.ts'
import { sharedObjectRoutes } from '../api/shared-objects.ts'
import { tokenRoutes } from '../api/tokens.ts'
import { usageRoutes } from '../api/usage.ts'
import { describeApi } from '../api/openapi.ts'
import type { Proxy } from '../proxy/index.ts'
import { isProxyTarget } from '../proxy/parse-target.ts'
import type { Store } from '../store/store.ts'

import {
  createSurface,
  nodeListener,
  ownerOf,
  REQUESTS_PER_TURN,
  type SurfaceDependencies,
} from './surface.ts'
import { logWhenDone } from './request-log.ts'

/** What a web process depends on. */
export interface AppDependencies extends SurfaceDependencies, ConvertDependencies {
  watcher: JobWatcher
  /** The token of the setup link. */
  setupToken: string
  /** Handles `/proxy` before any other route; the management routes change its keys. */
  proxied: Proxy
  /** Serves the dashboard. */
  dashboard: Dashboard
}

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
    'sockets',
    'tokens',
    'usage',
  ].map((name) => `/api/v1/${name}`),
]

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
  'X-Tollmark-Certificate',
  'X-Tollmark-Failed-Pages',
  'X-Tollmark-Warnings',
]

/** How long browsers may cache a preflight; Chromium's maximum. */
const PREFLIGHT_SECONDS = 7200

/** Allows pages of these origins to call with a token, but never with a cookie. */
function crossOrigin(origins: '*' | readonly string[]): MiddlewareHandler<ApiEnv> {
  return cors({
    origin: origins === '*' ? origins : [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
  })
}

/** Creates the listeners of a web process. */
export function createApp(deps: AppDependencies): RequestListeners {
  const { store, plans, clock, proxied, dashboard, setupToken } = deps
  const turns = new TurnBudget(REQUESTS_PER_TURN)
  const api = createSurface(deps, turns, (c) => apiHeaders(c, store, plans, clock()))
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
  api.route('/', childKeyRoutes(store, proxied.keys, clock))
  api.route('/', sharedObjectRoutes(store, proxied, clock))
  api.route('/', usageRoutes(store, clock))
  api.route('/', requestRoutes(store, proxied.refusals, clock))
  api.route('/', socketRoutes(store, proxied, clock))
  api.route('/', refusalRoutes(store, proxied.refusals, clock))
  api.route('/', credentialRoutes(store, proxied, clock))
  api.route('/', providerRoutes(store, proxied, clock))
  api.route('/', limitRoutes(store, deps.limits, clock))
  api.route('/', overviewRoutes(store, plans, proxied, clock))
  describeProxy(api)
  describeApi(api)
  // The first match compiles the router. Do it now, so that it does not stall streams later.
  api.router.match('GET', '/')
  const handleApi = nodeListener(api, deps)
  const showPage = withRequestLog(dashboard, deps)
  const handle: NodeRequestListener = (incoming, outgoing) => {
    if (requestFault(incoming) !== null || !showPage(incoming, outgoing))
      handleApi(incoming, outgoing)
  }
  const other: NodeRequestListener = (incoming, outgoing) => {
    // A request for the proxy arrives here if its connection began with another kind of request.
    if (requestFault(incoming) === null && isProxyTarget(incoming.url ?? ''))
      proxied.handle(new NodeExchange(incoming, outgoing))
    else turns.schedule(ownerOf(incoming, deps.trustProxy), () => handle(incoming, outgoing))
  }
  return { direct: { path: PROXY_PATH, handle: proxied.handle }, other }
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

/** Headers of responses under /api: no caching, and the quota of an authenticated caller. */
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
    ...(account && used !== null ? quotaHeaders(plans.of(account.plan), used, now) : {}),
  }
}
