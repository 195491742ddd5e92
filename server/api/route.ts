// A route of the management API is a row: its request, its response and its handler. Parsing,
// errors and the description in /openapi.json follow from the row.
import { z, type RouteConfig } from '@hono/zod-openapi'
import type { Caller } from '../accounts/tokens.ts'
import {
  createRoute,
  jsonContent,
  createApi,
  problems,
  queryParameters,
  type Api,
  type ApiContext,
  type Middleware,
} from './api.ts'
import { requireCaller, guarded, refuseOtherSites, security } from './guard.ts'
import { jsonBody } from './json-body.ts'
import { invalidFields, type ErrorCode, type FieldError } from '../common/errors.ts'
import { COMMON_PROBLEMS } from './request/described.ts'
import { readPart } from './request/field-errors.ts'
import { strictObject } from './request/strict.ts'
import type { Store } from '../store/store.ts'

const AUTHENTICATED = [
  'invalid_field',
  'request_timeout',
  'file_too_large',
  ...COMMON_PROBLEMS,
] as const

/** TABLE of access levels: who may call a route, and the error codes that this adds. */
const ACCESS = {
  /** No authentication. */
  public: { problems: ['invalid_field', 'internal_error', 'store_unavailable'] },
  /** No authentication, but refuses requests from other sites: routes that sign a browser in. */
  sign_in: {
    problems: [
      'invalid_field',
      'request_timeout',
      'file_too_large',
      'cross_site_request',
      'too_many_attempts',
      'internal_error',
      'store_unavailable',
    ],
  },
  /** A token with the scope `convert`, or a session. */
  convert: { problems: AUTHENTICATED },
  /** A token with the scope `manage`, or a session. */
  manage: { problems: AUTHENTICATED },
  /** A token with the scope `mint` or `manage`, or a session. */
  mint: { problems: AUTHENTICATED },
  /** As `manage`, administrators only. */
  admin: { problems: AUTHENTICATED },
} as const satisfies Record<string, { problems: readonly ErrorCode[] }>

/** The names in `{braces}` of a path. */
type Params<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Params<Rest>
  : unknown

/** A route's successful response. */
export interface SuccessResponse<S extends z.ZodType> {
  readonly status: 200 | 201 | 204
  readonly description: string
  /** The JSON; none with 204. */
  readonly schema?: S
  /** Whether the caller may ask for CSV instead. */
  readonly csv?: true
}

/** 200 with this JSON. */
export const ok = <S extends z.ZodType>(description: string, schema: S): SuccessResponse<S> => ({
  status: 200,
  description,
  schema,
})
/** 201 with this JSON. */
export const created = <S extends z.ZodType>(
  description: string,
  schema: S,
): SuccessResponse<S> => ({
  status: 201,
  description,
  schema,
})
/** 200 with this JSON, or CSV if the caller prefers it. */
export const table = <S extends z.ZodType>(description: string, schema: S): SuccessResponse<S> => ({
  status: 200,
  description,
  schema,
  csv: true,
})
/** 204. */
export const done = (description: string): SuccessResponse<z.ZodVoid> => ({
  status: 204,
  description,
})

/** A parsed request. */
export interface RouteRequest<P extends string, Q extends z.ZodType, B extends z.ZodType> {
  readonly params: Params<P>
  readonly query: z.output<Q>
  readonly body: z.output<B>
  /** @throws Error on a route without authentication */
  readonly caller: Caller
  /** When the request had been read, in milliseconds since 1970. */
  readonly now: number
  /** For cookies, and responses other than JSON. */
  readonly context: ApiContext
}

/** A row of a table of routes. */
interface Row<P extends string, Q extends z.ZodType, B extends z.ZodType, S extends z.ZodType> {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  readonly path: P
  readonly summary: string
  readonly description?: string
  readonly access: keyof typeof ACCESS
  /** A `strictObject`; without one, every parameter is refused. */
  readonly query?: Q
  /** A `strictObject`; without one, every field is refused. */
  readonly body?: B
  /**
   * Finds errors that no schema can express; they are reported together with the schemas'. It gets
   * the fields that are valid on their own, so any may be missing.
   */
  readonly check?: (
    query: Partial<z.output<Q>>,
    body: Partial<z.output<B>>,
  ) => readonly (FieldError | null)[]
  readonly response: SuccessResponse<S>
  /** Error codes besides those of its access level. */
  readonly problems?: readonly ErrorCode[]
  /** Handles the request. @returns the JSON of the response, or a whole `Response` */
  readonly act: (
    asked: RouteRequest<P, Q, B>,
  ) => Promise<z.input<S> | Response> | z.input<S> | Response
}

/** A row without its type parameters. */
export interface Route {
  readonly access: keyof typeof ACCESS
  readonly config: RouteConfig
  readonly handle: (c: ApiContext, clock: () => number) => Promise<Response>
}

const NOTHING = strictObject({})
type Nothing = typeof NOTHING

/** One row of a table of routes. @throws Error if a schema accepts unknown fields */
export function route<
  const P extends string,
  S extends z.ZodType,
  Q extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>(row: Row<P, Q, B, S>): Route {
  const { response } = row
  return {
    access: row.access,
    config: describe(row),
    handle: async (c, clock) => {
      const value = await row.act({
        ...(await read(c, row)),
        now: clock(),
        context: c,
        get caller() {
          return requireCaller(c)
        },
      })
      if (value instanceof Response) return value
      return response.status === 204 ? c.body(null, 204) : c.json(value, response.status)
    },
  }
}

/** Registers a table of routes. */
export function routes(store: Store, clock: () => number, table: readonly Route[]): Api {
  const api = createApi()
  const guards: Record<keyof typeof ACCESS, Middleware | null> = {
    public: null,
    sign_in: signsIn,
    convert: guarded(store, clock, ['convert']),
    manage: guarded(store, clock, ['manage']),
    mint: guarded(store, clock, ['mint', 'manage']),
    admin: guarded(store, clock, ['manage'], 'admin'),
  }
  for (const { access, config, handle } of table) {
    api.openAPIRegistry.registerPath(config)
    const guard = guards[access]
    const path = config.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const act: Middleware = (c) => handle(c, clock)
    if (guard === null) api.on(config.method, path, act)
    else api.on(config.method, path, guard, act)
  }
  return api
}

/** The guard of `sign_in`. */
const signsIn: Middleware = async (c, next) => {
  refuseOtherSites(c)
  await jsonBody(c, next)
}

/** @throws Problem `invalid_field` with every error in the query and the body */
async function read<
  P extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
  S extends z.ZodType,
>(c: ApiContext, row: Row<P, Q, B, S>) {
  const query = readPart(row.query ?? (NOTHING as unknown as Q), queryParameters(c), 'query')
  const body = readPart(
    row.body ?? (NOTHING as unknown as B),
    row.method === 'get' ? {} : await c.req.json(),
    'body',
  )
  const more = row.check?.(query.valid, body.valid) ?? []
  const errors = [...query.errors, ...body.errors, ...more.filter((error) => error !== null)]
  if (errors.length > 0) throw invalidFields(errors)
  return {
    params: c.req.param() as Params<P>,
    query: query.value as z.output<Q>,
    body: body.value as z.output<B>,
  }
}

function describe<P extends string, Q extends z.ZodType, B extends z.ZodType, S extends z.ZodType>(
  row: Row<P, Q, B, S>,
): RouteConfig {
  const { method, path, summary, description, access, query, body, response } = row
  const { status, schema = z.void(), csv } = response
  const content = {
    'application/json': { schema },
    ...(csv && { 'text/csv': { schema: z.string() } }),
  }
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return createRoute({
    method,
    path,
    summary,
    ...(description !== undefined && { description }),
    ...(ACCESS[access].problems === AUTHENTICATED && { security }),
    request: {
      ...(names.length > 0 && {
        params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))),
      }),
      ...(query && { query: query as unknown as z.ZodObject }),
      ...(body && { body: { ...jsonContent(body), required: !body.safeParse({}).success } }),
    },
    responses: {
      [status]: { description: response.description, ...(status !== 204 && { content }) },
      ...problems(...(row.problems ?? []), ...ACCESS[access].problems),
    },
  })
}
