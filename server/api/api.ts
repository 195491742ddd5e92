// What all routes of the API share: how a route is declared, who calls it, and how its body is
// read. How answers are described is in request/described.ts.
import type { HttpBindings } from '@hono/node-server'
import { OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { callerBySession } from '../accounts/sessions.ts'
import { authenticate, type Caller, type Scope } from '../accounts/tokens.ts'
import { isSameSite, type Client } from '../common/client-info.ts'
import { Problem, invalidFields, type ErrorCode } from '../common/errors.ts'
import { FairShares } from '../common/fairness/shares.ts'
import { problems } from './request/described.ts'
import { duplicateName } from './request/duplicate-names.ts'
import { readPart } from './request/field-errors.ts'
import { startRateMonitor } from '../common/body-rate.ts'
import { assertStrict, strictObject } from './request/strict.ts'
import type { Store } from '../store/open.ts'

export {
  COMMON_PROBLEMS,
  IdParams,
  PageQuery,
  countedListOf,
  json,
  jsonContent,
  listOf,
  page,
  problems,
  whole,
} from './request/described.ts'

/** What a handler finds in its context. */
export interface ApiEnv {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    /** The other end of the connection. */
    client: Client
    /** Milliseconds for which its body may stand still. */
    transferIdle: number
    /**
     * Resolves when its next piece of work may be done: not in one turn of the event loop with
     * those of many others.
     */
    turn: () => Promise<void>
    /** Who calls from this very process, with no connection between: the command line. */
    operator?: Caller
    /** Set by `authorize`. */
    caller?: Caller
    /** Code of the problem that is answered, for the log. */
    code?: ErrorCode
  }
}

/** The Hono context of an API request. */
export type ApiContext = Context<ApiEnv>
/** A set of API routes. */
export type Api = OpenAPIHono<ApiEnv>
/** Middleware of the API. */
export type Middleware = MiddlewareHandler<ApiEnv>

/** An empty set of routes. */
export function createApi(): Api {
  return new OpenAPIHono<ApiEnv>()
}

/**
 * Describes a route, for `registerPath`. What it takes is closed: no query parameter and no field
 * of a JSON body may come that it does not name. Most routes are rows of route.ts, which does the
 * rest; one that answers by itself (`api.get`, `api.post`) asks for its query with `parseQuery` or
 * `noQuery`.
 *
 * @throws Error where a schema of the request takes unknown fields
 */
export function createRoute<R extends RouteConfig>(route: R): R {
  const { request = {}, responses } = route
  const body = request.body?.content['application/json']
  assertStrict(request.query, `the query of ${route.method} ${route.path}`)
  if (body && 'schema' in body)
    assertStrict(body.schema, `the body of ${route.method} ${route.path}`)
  return {
    ...route,
    request: { ...request, query: request.query ?? NOTHING },
    responses: { ...problems('invalid_field'), ...responses },
  }
}

const NOTHING = strictObject({})

/**
 * The query of a request, as schemas read it: a parameter that comes several times is a list, which
 * none takes for one value.
 */
export function queryParameters(c: ApiContext): object {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  )
}

/** Refuses every query parameter: for routes that answer by themselves and know none. */
export const noQuery: Middleware = async (c, next) => {
  parseQuery(c, NOTHING)
  await next()
}

/** The query of a route that answers by itself. @throws Problem `invalid_field` */
export function parseQuery<S extends z.ZodType>(c: ApiContext, schema: S): z.output<S> {
  const { value, errors } = readPart(schema, queryParameters(c), 'query')
  if (errors.length > 0) throw invalidFields(errors)
  return value as z.output<S>
}

/**
 * Requests of the API under way in this process, without uploads; an account has 32 as its share,
 * and more while there is room.
 */
const requests = new FairShares({ slots: 128, share: 32, always: true })

/**
 * Takes one of the caller's places, behind `authorized`: one token cannot hold all connections to
 * the database.
 *
 * @throws Problem `too_many_requests`: 429 where the account has its share, 503 where there is no
 *   room at all
 */
export const placed: Middleware = async (c, next) => {
  const slot = requests.acquire(requireCaller(c).account.id)
  if (typeof slot === 'string') {
    const status = slot === 'share' ? 429 : 503
    throw new Problem(
      'too_many_requests',
      'This account has too many requests in progress. Send fewer at once.',
      { retryAfter: 1, status },
    )
  }
  try {
    await next()
  } finally {
    slot.release()
  }
}

/** Milliseconds of waiting for a JSON body after which it must have come at the least rate. */
const BODY_GRACE_MS = 30_000
/** The largest JSON body that a route reads. */
const MAX_JSON_BYTES = 65_536

/** The cookie of a session. */
export const SESSION_COOKIE = 'tollmark_session'

/**
 * Lets pass only requests with a token of one of these scopes, or with the session of a signed-in browser,
 * which opens everything; decides that before anything of the body is read.
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
 * Proves who sends a request, and that one of these scopes is open to them. Asked again when the body is
 * there: whoever takes time over one may have been shut out meanwhile.
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
 * Who sends a request. A token wins: whoever sends one means it. @throws Problem `invalid_token`,
 * `cross_site_request`
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
 * Refuses a change that another site makes a browser ask for. Where no browser says where it comes
 * from, a cookie is not enough.
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
 * Reads a JSON body of bounded size, after asking for it where the caller waits to be asked
 * (`Expect: 100-continue`). No body is an empty one.
 *
 * @throws Problem `file_too_large`, `request_timeout` where it stands still, `malformed_request`
 *   where it breaks off
 */
export const jsonBody: Middleware = async (c, next) => {
  const announced = Number(c.req.header('content-length') ?? 0)
  if (announced > MAX_JSON_BYTES) throw tooLarge()
  sendContinue(c)
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const idle = setTimeout(
    () =>
      reject(new Problem('request_timeout', 'The request body stopped arriving. Send it again.')),
    c.get('transferIdle'),
  )
  const rateMonitor = startRateMonitor(BODY_GRACE_MS, () =>
    reject(
      new Problem(
        'request_timeout',
        'The request body arrives too slowly (below 16 KB a second). Send it again.',
      ),
    ),
  )
  rateMonitor.waiting()
  const bytes = await Promise.race([collect(c.req.raw.body, idle), silence]).finally(() => {
    clearTimeout(idle)
    rateMonitor.stop()
  })
  // The last bytes of many bodies may come at once, and what is done with one takes up to half a
  // millisecond.
  if (bytes.length > 0) await c.get('turn')()
  const body = readJson(bytes, c.req.header('content-type'))
  // Where Hono's own readers look first, because the stream can be read only once. Its types say
  // what these are promises of.
  const [text, whole]: unknown[] = [Promise.resolve(body), Promise.resolve(bytes)]
  c.req.bodyCache.text = text as string
  c.req.bodyCache.arrayBuffer = whole as ArrayBuffer
  await next()
}

const NOT_JSON = 'The body must be valid JSON, sent with Content-Type: application/json.'

/**
 * The text of a JSON body, `{}` where there is none. One that says two things, or that would be
 * left unread for its type, is refused.
 *
 * @throws Problem `invalid_field`
 */
function readJson(bytes: Buffer, type: string | undefined): string {
  if (bytes.length === 0) return '{}'
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type ?? ''))
    throw new Problem('invalid_field', NOT_JSON)
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    JSON.parse(text)
  } catch (cause) {
    throw new Problem('invalid_field', NOT_JSON, { cause })
  }
  const duplicate = duplicateName(text)
  if (duplicate !== null)
    throw invalidFields([
      { param: duplicate, code: 'duplicate', detail: 'This field is sent twice. Send it once.' },
    ])
  return text
}

/** @param idle begins anew with each piece */
async function collect(
  body: ReadableStream<Uint8Array> | null,
  idle: NodeJS.Timeout,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of body ?? []) {
      idle.refresh()
      length += piece.length
      if (length > MAX_JSON_BYTES) throw tooLarge()
      pieces.push(piece)
    }
  } catch (error) {
    throw error instanceof Problem
      ? error
      : new Problem(
          'malformed_request',
          'The request ended before its whole body arrived. Send it again.',
          { cause: error },
        )
  }
  return Buffer.concat(pieces)
}

function tooLarge(): Problem {
  return new Problem('file_too_large', 'The JSON body is larger than 64 KB. Send a smaller one.')
}

/**
 * Tells a caller that has sent `Expect: 100-continue` to send the body (RFC 9110, section 10.1.1).
 */
export function sendContinue(c: ApiContext): void {
  if (/^100-continue$/i.test(c.req.header('expect') ?? '')) c.env.outgoing.writeContinue()
}

/** The caller that `authorize` has proven. */
export function requireCaller(c: ApiContext): Caller {
  const caller = c.get('caller')
  if (!caller) throw new Error('the route does not ask who calls')
  return caller
}

/**
 * What stands before routes that are not for everybody: proves the caller, takes a place of its
 * account, reads the body, and proves the caller again when that took its time.
 *
 * @param scopes of which the caller's token must open one
 * @param who `admin` lets administrators pass only
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
    await placed(c, async () => void (await jsonBody(c, proceed)))
  }
}

/** What opens a route: an API token, or the cookie of a signed-in browser. */
export const security = [{ token: [] }, { session: [] }]
