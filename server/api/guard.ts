// Guards of the API's routes: who calls, with which scopes, and how many requests at once.
import { getCookie } from 'hono/cookie'
import { callerBySession } from '../accounts/sessions.ts'
import { authenticate, type Caller, type Scope } from '../accounts/tokens.ts'
import { isSameSite } from '../common/client-info.ts'
import { Problem } from '../common/errors.ts'
import { FairShares, type RejectReason } from '../common/fairness/shares.ts'
import type { Store } from '../store/store.ts'
import type { ApiContext, Middleware } from './api.ts'
import { jsonBody } from './json-body.ts'

/**
 * API requests in progress in this process, except uploads. An account's share is 32; it may exceed
 * that while slots are free.
 */
const requests = new FairShares({ slots: 128, share: 32, always: true })

/**
 * The error for a request that gets no slot: 429 if the account has used its share, 503 if no slot
 * is free.
 *
 * @param ownShare the sentence for an account that has used its share
 */
export function tooManyRequests(reason: RejectReason, ownShare: string): Problem {
  const [detail, status] =
    reason === 'share'
      ? [ownShare, 429]
      : ['The server has too many requests in progress. Try again in a moment.', 503]
  return new Problem('too_many_requests', detail, { retryAfter: 1, status })
}

/**
 * Takes a slot for the caller, so that one token cannot use all database connections. Runs after
 * `authorized`.
 *
 * @throws Problem as `tooManyRequests`
 */
export const withSlot: Middleware = async (c, next) => {
  const slot = requests.acquire(requireCaller(c).account.id)
  if (typeof slot === 'string')
    throw tooManyRequests(
      slot,
      'This account has too many requests in progress. Send fewer at once.',
    )
  try {
    await next()
  } finally {
    slot.release()
  }
}

/** The cookie of a session. */
export const SESSION_COOKIE = 'tollmark_session'

/**
 * Refuses requests that have neither a token with one of these scopes nor a session. Runs before
 * the body is read. A session has every scope.
 */
export function authorized(
  store: Store,
  scopes: readonly Scope[],
  clock: () => number,
): Middleware {
  return async (c, next) => {
    await authorize(c, store, scopes, clock())
    await next()
  }
}

/**
 * Authenticates the caller and checks that it has one of these scopes. Called again after the body
 * is read, because access may have been revoked while a slow body arrived.
 *
 * @throws Problem `invalid_token`, `cross_site_request`, `insufficient_scope`
 */
export async function authorize(
  c: ApiContext,
  store: Store,
  scopes: readonly Scope[],
  now: number,
): Promise<void> {
  const caller = c.get('operator') ?? (await authenticateCaller(c, store, now))
  c.set('caller', caller)
  if (!scopes.some((scope) => caller.scopes.includes(scope))) {
    throw new Problem(
      'insufficient_scope',
      `This call needs an API token with the scope ${scopes.map((scope) => `"${scope}"`).join(' or ')}; yours has "${caller.scopes.join(' ')}".`,
    )
  }
}

/**
 * Authenticates a request by its token or its session cookie. The token takes precedence, because
 * it was sent on purpose.
 *
 * @throws Problem `invalid_token`, `cross_site_request`
 */
export async function authenticateCaller(
  c: ApiContext,
  store: Store,
  now: number,
): Promise<Caller> {
  const authorization = c.req.header('authorization')
  const cookie = getCookie(c, SESSION_COOKIE)
  if (authorization !== undefined || cookie === undefined)
    return authenticate(store, authorization, now)
  refuseOtherSites(c)
  const caller = await callerBySession(store, cookie, now)
  if (!caller) throw new Problem('invalid_token', 'The session has ended. Sign in again.')
  return caller
}

/**
 * Refuses a change that another site's page sends (CSRF). If the browser does not say where the
 * request comes from, a cookie is not enough.
 *
 * @throws Problem `cross_site_request`
 */
export function refuseOtherSites(c: ApiContext): void {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return
  const own = isSameSite(c.get('client'), {
    site: c.req.header('sec-fetch-site'),
    origin: c.req.header('origin'),
  })
  if (own ?? getCookie(c, SESSION_COOKIE) === undefined) return
  throw new Problem(
    'cross_site_request',
    'The request has a session cookie but does not come from a page of this server. Programs must send an API token instead.',
  )
}

/**
 * The caller that `authorize` has authenticated.
 *
 * @throws Error if the route did not authenticate
 */
export function requireCaller(c: ApiContext): Caller {
  const caller = c.get('caller')
  if (!caller) throw new Error('the route does not authenticate its caller')
  return caller
}

/**
 * Middleware of routes that are not public: authenticates the caller, takes a slot for its account,
 * reads the body, and authenticates again if a body arrived.
 *
 * @param scopes the caller's token must have one of these
 * @param who `admin` refuses everyone except administrators
 */
export function guarded(
  store: Store,
  clock: () => number,
  scopes: readonly Scope[],
  who: 'anybody' | 'admin' = 'anybody',
): Middleware {
  const allow = async (c: ApiContext): Promise<void> => {
    await authorize(c, store, scopes, clock())
    if (who === 'admin' && requireCaller(c).account.role !== 'admin')
      throw new Problem('insufficient_scope', 'Only an administrator may do this.')
  }
  return async (c, next) => {
    await allow(c)
    const proceed = async (): Promise<void> => {
      if (c.req.raw.body) await allow(c)
      await next()
    }
    await withSlot(c, async () => void (await jsonBody(c, proceed)))
  }
}

/** How callers authenticate: an API token, or a session cookie. */
export const security = [{ token: [] }, { session: [] }]
