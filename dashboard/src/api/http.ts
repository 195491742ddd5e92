// Calls the server: each response is parsed once, and every failure is an `ApiError`.
import * as z from 'zod/mini'
import { withAccountScope } from './account-scope.ts'
import { withQuery, type Query } from './query-string.ts'

// Otherwise zod tries `new Function`, which the Content-Security-Policy forbids and reports.
z.config({ jitless: true })

const Problem = z.object({
  status: z.number(),
  title: z.string(),
  detail: z.string(),
  code: z.string(),
  request_id: z.string(),
  errors: z.optional(z.array(z.object({ param: z.string(), detail: z.string() }))),
})

/** An invalid field: its path in the body, and a sentence that does not repeat its name. */
export interface FieldError {
  param: string
  detail: string
}

/** A failed call, with a sentence for the user. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | null
  /** The invalid fields. */
  readonly errors: readonly FieldError[]

  constructor(
    status: number,
    code: string,
    detail: string,
    requestId: string | null = null,
    retryAfter: number | null = null,
    errors: readonly FieldError[] = [],
  ) {
    super(detail)
    this.name = 'Refused'
    this.status = status
    this.code = code
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.errors = errors
  }
}

/** Method, parameters and JSON body of a call. */
export interface CallOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  query?: Query
  body?: unknown
  signal?: AbortSignal
}

/** Calls the server. @throws ApiError for every unexpected response, and if there is none */
export async function send(
  path: string,
  { method = 'GET', query = {}, body, signal }: CallOptions = {},
): Promise<Response> {
  const headers: Record<string, string> =
    body === undefined ? {} : { 'content-type': 'application/json' }
  let response: Response
  try {
    response = await fetch(withQuery(path, withAccountScope(method, path, query)), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw unreachableError()
  }
  if (response.ok) return response
  throw errorFromResponse(
    response.status,
    await response.text(),
    response.headers.get('retry-after'),
  )
}

/**
 * Checks that the server responds and has its store. Not by /livez: a reverse proxy answers it with
 * 404, and it does not look at the store.
 *
 * @throws ApiError if it does not
 */
export async function ping(signal?: AbortSignal): Promise<void> {
  const response = await send('/api/v1/session', signal === undefined ? {} : { signal })
  // An unread body keeps its request open.
  await response.text()
}

/** Calls the server and parses its JSON. @throws ApiError */
export async function call<S extends z.ZodMiniType>(
  shape: S,
  path: string,
  options: CallOptions = {},
): Promise<z.output<S>> {
  const response = await send(path, options)
  return parse(shape, await response.json().catch(() => null))
}

/** @throws ApiError if the value does not have the shape */
export function parse<S extends z.ZodMiniType>(shape: S, value: unknown): z.output<S> {
  const read = shape.safeParse(value)
  if (read.success) return read.data
  const place = read.error.issues[0]?.path.join('.') ?? ''
  throw new ApiError(
    0,
    'unexpected_response',
    `The server sent an unexpected response (${place}). Reload the page: it may be older than the server.`,
  )
}

/** The error for a server that does not respond. */
export function unreachableError(): ApiError {
  return new ApiError(
    0,
    'unreachable',
    'The server is not responding. Check that it is running and that you are connected.',
  )
}

/** Makes an error from a response; a body that is not a problem still gets a sentence. */
export function errorFromResponse(
  status: number,
  text: string,
  retryAfter: string | null,
): ApiError {
  const problem = Problem.safeParse(parseJson(text))
  const seconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null
  if (!problem.success)
    return new ApiError(
      status,
      'unexpected_response',
      `The server responded with ${status} and gave no reason.`,
      null,
      seconds,
    )
  const { code, detail, request_id, errors } = problem.data
  return new ApiError(status, code, detail, request_id, seconds, errors)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
