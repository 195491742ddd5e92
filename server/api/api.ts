// Shared by all routes of the API: their context, their description and their query. guard.ts
// authenticates callers, json-body.ts reads bodies, request/described.ts describes responses.
import type { HttpBindings } from '@hono/node-server'
import { OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Caller } from '../accounts/tokens.ts'
import type { Client } from '../common/client-info.ts'
import { invalidFields, type ErrorCode } from '../common/errors.ts'
import { problems } from './request/described.ts'
import { readPart } from './request/field-errors.ts'
import { assertStrict, strictObject } from './request/strict.ts'

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

/** Variables in a handler's context. */
export interface ApiEnv {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    /** The client at the other end of the connection. */
    client: Client
    /** Longest pause in the request body, in milliseconds. */
    transferIdle: number
    /** Sends `100 Continue` when it is the turn of the response. */
    writeContinue: () => void
    /**
     * Resolves when the request may do its next piece of work, so that many requests do not share
     * one turn of the event loop.
     */
    turn: () => Promise<void>
    /** The command line, when it calls the API in this process without a connection. */
    operator?: Caller
    /** Set by `authorize`. */
    caller?: Caller
    /** Code of the problem in the response, for the log. */
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
 * Describes a route, for `registerPath`. Its schemas must refuse unknown query parameters and
 * fields. Most routes are rows of route.ts, which calls this; a handler registered with `api.get`
 * or `api.post` must read its query with `parseQuery` or `noQuery`.
 *
 * @throws Error if a schema of the request accepts unknown fields
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
 * The query of a request, for a schema to parse. A repeated parameter becomes a list, which every
 * schema refuses.
 */
export function queryParameters(c: ApiContext): object {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  )
}

/**
 * Refuses every query parameter, for a route whose form has some fields, and says of these that
 * they belong there.
 */
export const noQueryBesideForm =
  (isField: (name: string) => boolean): Middleware =>
  async (c, next) => {
    const { errors } = readPart(NOTHING, queryParameters(c), 'query')
    if (errors.length > 0)
      throw invalidFields(
        errors.map((error) =>
          isField(error.param)
            ? { ...error, detail: `${error.detail} Send it as a field of the form.` }
            : error,
        ),
      )
    await next()
  }

/** Refuses every query parameter. For routes without a row in a table that take none. */
export const noQuery = noQueryBesideForm(() => false)

/** Parses the query of a route without a row in a table. @throws Problem `invalid_field` */
export function parseQuery<S extends z.ZodType>(c: ApiContext, schema: S): z.output<S> {
  const { value, errors } = readPart(schema, queryParameters(c), 'query')
  if (errors.length > 0) throw invalidFields(errors)
  return value as z.output<S>
}
