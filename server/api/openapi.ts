// GET /openapi.json, generated from the routes.
import { z } from '@hono/zod-openapi'
import { createRoute, json, noQuery, type Api } from './api.ts'
import { SESSION_COOKIE } from './guard.ts'

const INFO = {
  openapi: '3.1.0',
  info: {
    title: 'Tollmark',
    version: '1',
    description: 'Notion exports to Markdown, and the management of accounts, tokens and keys.',
  },
}

/** Paths that respond with a document. */
const DOCUMENT = /\/(?:convert|result)$/

/**
 * TABLE of response headers: their paths, statuses and meaning. `always`: every such response has
 * it.
 */
const HEADERS: readonly {
  name: string
  at: RegExp
  status: RegExp
  description: string
  always?: true
}[] = [
  {
    name: 'X-Request-Id',
    at: /^/,
    status: /^/,
    description: 'Id of this request, also in the log and in problems.',
    always: true,
  },
  {
    name: 'RateLimit-Policy',
    at: /^\/api\//,
    status: /^/,
    description:
      'Quota of the plan: `"free";q=10;w=86400` (IETF httpapi draft). Only if the account is known and its plan has a limit.',
  },
  {
    name: 'RateLimit',
    at: /^\/api\//,
    status: /^/,
    description:
      'What is left of the quota, and seconds until it resets: `"free";r=9;t=43200`. With `RateLimit-Policy`.',
  },
  {
    name: 'Content-Disposition',
    at: DOCUMENT,
    status: /^20[06]$/,
    description: "A file name for the document, derived from the upload's (RFC 6266).",
    always: true,
  },
  {
    name: 'Content-Disposition',
    at: /\/(?:requests|usage)$/,
    status: /^200$/,
    description: 'A name for the table, with `format=csv`.',
  },
  {
    name: 'Vary',
    at: DOCUMENT,
    status: /^(?:20[06]|304)$/,
    description: 'Documents are compressed if `Accept-Encoding` allows `br` or `gzip`.',
    always: true,
  },
  {
    name: 'Content-Encoding',
    at: DOCUMENT,
    status: /^200$/,
    description: 'How the document is compressed, if at all.',
  },
  {
    name: 'X-Tollmark-Warnings',
    at: DOCUMENT,
    status: /^20[06]$/,
    description: 'How many warnings the document has; `format=json` lists them.',
  },
  {
    name: 'X-Tollmark-Failed-Pages',
    at: DOCUMENT,
    status: /^20[06]$/,
    description: 'How many pages could not be converted.',
  },
  {
    name: 'X-Tollmark-Certificate',
    at: DOCUMENT,
    status: /^200$/,
    description:
      'With `certificate=true`: `words=12480, tables=312, differences=0`. A response repeated for its `Idempotency-Key` has none.',
  },
  {
    name: 'ETag',
    at: /\/result$/,
    status: /^(?:20[06]|304)$/,
    description: 'Identifies exactly these bytes, for `If-Range` and `If-None-Match`.',
    always: true,
  },
  {
    name: 'Accept-Ranges',
    at: /\/result$/,
    status: /^20[06]$/,
    description: '`bytes`: the document supports `Range` requests.',
    always: true,
  },
  {
    name: 'Content-Range',
    at: /\/result$/,
    status: /^(?:206|416)$/,
    description: 'The range sent, and the size of the document.',
    always: true,
  },
  { name: 'Location', at: /^/, status: /^202$/, description: 'Address of the job.', always: true },
  {
    name: 'Retry-After',
    at: /^\/api\//,
    status: /^(?:202|429|503)$/,
    description: 'Seconds to wait before trying again.',
  },
  {
    name: 'Retry-After',
    at: /\/jobs\/\{id\}$/,
    status: /^200$/,
    description: 'Seconds to wait before polling again, while the job is unfinished.',
  },
  {
    name: 'Retry-After',
    at: /\/result$/,
    status: /^409$/,
    description: 'Seconds to wait before polling again.',
  },
  {
    name: 'WWW-Authenticate',
    at: /^/,
    status: /^401$/,
    description: 'The required authentication (RFC 6750).',
    always: true,
  },
  {
    name: 'WWW-Authenticate',
    at: /^\/api\//,
    status: /^403$/,
    description: 'The required scope (RFC 6750).',
  },
  {
    name: 'Set-Cookie',
    at: /\/(?:setup|session|accept)$/,
    status: /^201$/,
    description: 'The session: HttpOnly, SameSite=Strict.',
    always: true,
  },
  {
    name: 'Set-Cookie',
    at: /\/session$/,
    status: /^204$/,
    description: 'Deletes the session cookie.',
  },
]

/** Adds `GET /openapi.json`. Call it after all routes are registered. */
export function describeApi(api: Api): void {
  const route = createRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    responses: { 200: json('OpenAPI 3.1', z.object({ openapi: z.string() }).loose()) },
  })
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token (tmt_…).',
  })
  api.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The cookie of a signed-in browser. A call that changes something also needs an `Origin` or `Sec-Fetch-Site` of this server.',
  })
  api.openAPIRegistry.registerPath(route)
  let document: Buffer<ArrayBuffer> | undefined
  api.get(route.path, noQuery, () => {
    document ??= Buffer.from(JSON.stringify(withHeaders(api.getOpenAPI31Document(INFO))))
    return new Response(document, { headers: { 'content-type': 'application/json' } })
  })
}

/** Adds the headers of every response, which the routes do not declare. */
function withHeaders<D extends { paths?: object }>(description: D): D {
  for (const [path, operations] of Object.entries<
    Record<string, { responses?: Record<string, { headers?: object }> }>
  >({ ...description.paths })) {
    for (const { responses = {} } of Object.values(operations)) {
      for (const [status, response] of Object.entries(responses)) {
        const mine = HEADERS.filter((header) => header.at.test(path) && header.status.test(status))
        response.headers = Object.fromEntries(
          mine.map(({ name, description, always }) => [
            name,
            { description, schema: { type: 'string' }, ...(always && { required: true }) },
          ]),
        )
      }
    }
  }
  return description
}

/** The methods that a path supports; none if no route matches. */
export function allowedMethods(api: Api, path: string): string[] {
  const methods = new Set<string>()
  for (const { form, method } of formsOf(api)) if (form.test(path)) methods.add(method)
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].sort()
}

/** A route's path pattern and method. */
interface Form {
  readonly form: RegExp
  readonly method: string
}

/**
 * Cached per API, because a request for an unknown path must cost less than one that matches.
 * Rebuilt when routes were added.
 */
const known = new WeakMap<Api, { readonly of: number; readonly forms: readonly Form[] }>()

function formsOf(api: Api): readonly Form[] {
  const { definitions } = api.openAPIRegistry
  const made = known.get(api)
  if (made?.of === definitions.length) return made.forms
  const forms = definitions.flatMap(({ type, ...definition }): Form[] => {
    if (type !== 'route' || !('route' in definition)) return []
    const { path, method } = definition.route
    return [
      {
        form: new RegExp(
          `^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`,
        ),
        method: method.toUpperCase(),
      },
    ]
  })
  known.set(api, { of: definitions.length, forms })
  return forms
}
