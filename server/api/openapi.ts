// GET /openapi.json, made from the routes themselves.
import { z } from '@hono/zod-openapi'
import { SESSION_COOKIE, createRoute, json, noQuery, type Api } from './api.ts'

const INFO = {
  openapi: '3.1.0',
  info: {
    title: 'Tollmark',
    version: '1',
    description: 'Notion exports to Markdown, and the management of accounts, tokens and keys.',
  },
}

/** Addresses that answer with documents. */
const DOCUMENT = /\/(?:convert|result)$/

/**
 * TABLE of the answers' headers: on which addresses and statuses, and what they say. `always`:
 * every such answer has it.
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
    description: 'Id of this request, in the log and in problems.',
    always: true,
  },
  {
    name: 'RateLimit-Policy',
    at: /^\/api\//,
    status: /^/,
    description:
      'Quota of the plan: `"free";q=10;w=86400` (IETF httpapi draft). Only where the account is known and its plan has a limit.',
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
    description: 'A name for the document, made from that of the file (RFC 6266).',
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
    status: /^20[06]$/,
    description: 'Documents are compressed by `Accept-Encoding`: `br` or `gzip`.',
    always: true,
  },
  {
    name: 'Content-Encoding',
    at: DOCUMENT,
    status: /^200$/,
    description: 'How the document is compressed, if it is.',
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
      'With `certificate=true`: `words=12480, tables=312, differences=0`. An answer that is given again for its `Idempotency-Key` has none.',
  },
  {
    name: 'ETag',
    at: /\/result$/,
    status: /^20[06]$/,
    description: 'Names these very bytes, for `If-Range`.',
    always: true,
  },
  {
    name: 'Accept-Ranges',
    at: /\/result$/,
    status: /^20[06]$/,
    description: '`bytes`: a `Range` of the document can be asked for.',
    always: true,
  },
  {
    name: 'Content-Range',
    at: /\/result$/,
    status: /^(?:206|416)$/,
    description: 'Which bytes these are, and how many the document has.',
    always: true,
  },
  { name: 'Location', at: /^/, status: /^202$/, description: 'Address of the job.', always: true },
  {
    name: 'Retry-After',
    at: /^\/api\//,
    status: /^(?:202|429|503)$/,
    description: 'Seconds to wait before trying, or asking, again.',
  },
  {
    name: 'Retry-After',
    at: /\/jobs\/\{id\}$/,
    status: /^200$/,
    description: 'Seconds to wait before asking again, while the job is not finished.',
  },
  {
    name: 'Retry-After',
    at: /\/result$/,
    status: /^409$/,
    description: 'Seconds to wait before asking again.',
  },
  {
    name: 'WWW-Authenticate',
    at: /^/,
    status: /^401$/,
    description: 'Which authentication is wanted (RFC 6750).',
    always: true,
  },
  {
    name: 'WWW-Authenticate',
    at: /^\/api\//,
    status: /^403$/,
    description: 'Which scope is wanted (RFC 6750).',
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
    description: 'Takes the session from the browser.',
  },
]

/** Adds `GET /openapi.json`; call it when all routes are there. */
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
      'The cookie of a signed-in browser. A change also needs an `Origin` or `Sec-Fetch-Site` of this very server.',
  })
  api.openAPIRegistry.registerPath(route)
  let document: Buffer<ArrayBuffer> | undefined
  api.get(route.path, noQuery, () => {
    document ??= Buffer.from(JSON.stringify(withHeaders(api.getOpenAPI31Document(INFO))))
    return new Response(document, { headers: { 'content-type': 'application/json' } })
  })
}

/** The description with the headers of every answer, which no route declares by itself. */
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

/** The methods that an address answers to; none where nothing is there. */
export function allowedMethods(api: Api, path: string): string[] {
  const methods = new Set<string>()
  for (const { form, method } of formsOf(api)) if (form.test(path)) methods.add(method)
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].sort()
}

/** What the addresses of a route look like. */
interface Form {
  readonly form: RegExp
  readonly method: string
}

/**
 * Made once for each API: what asks for no route must cost less than what does. Routes that are
 * added later make them anew.
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
