// GET /openapi.json, made from the routes themselves.
import { createRoute, z } from '@hono/zod-openapi'
import { SESSION_COOKIE, json } from './api.ts'
import type { Api } from './api.ts'

const INFO = {
  openapi: '3.1.0',
  info: { title: 'Tollmark', version: '1', description: 'Notion exports to Markdown, and the management of accounts, tokens and keys.' },
}

/** Adds `GET /openapi.json`; call it when all routes are there. */
export function describeApi(api: Api): void {
  const route = createRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    responses: { 200: json('OpenAPI 3.1', z.object({ openapi: z.string() }).loose()) },
  })
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer', description: 'An API token (tmt_…).' })
  api.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'The cookie of a signed-in browser. A change needs `Origin` or `Sec-Fetch-Site` of this very server besides.',
  })
  api.openAPIRegistry.registerPath(route)
  let document: string | undefined
  api.get(route.path, () => {
    document ??= JSON.stringify(withHeaders(api.getOpenAPI31Document(INFO)))
    return new Response(document, { headers: { 'content-type': 'application/json' } })
  })
}

type Document = ReturnType<Api['getOpenAPI31Document']>
type Headers = Record<string, { description: string; required?: boolean; schema: { type: 'string' | 'integer' } }>

/** TABLE of response headers: which answers have them, by path and status. */
const HEADERS: { of: (path: string, status: number, method: string) => boolean; headers: Headers }[] = [
  { of: () => true, headers: { 'X-Request-Id': { description: 'The id of this request, which the log has too.', required: true, schema: { type: 'string' } } } },
  {
    of: (path) => path.startsWith('/api/'),
    headers: {
      'RateLimit-Policy': { description: 'The daily quota of conversions: `"plan";q=…;w=86400`.', required: true, schema: { type: 'string' } },
      RateLimit: { description: 'What is left of it, and the seconds until it comes back: `"plan";r=…;t=…`.', required: true, schema: { type: 'string' } },
    },
  },
  { of: (_, status) => status === 401, headers: { 'WWW-Authenticate': { description: 'RFC 6750.', required: true, schema: { type: 'string' } } } },
  { of: (_, status) => status === 429 || status === 503, headers: { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } } },
  {
    of: (path, status, method) => (status === 201 && /\/(?:setup|session|accept)$/.test(path)) || (method === 'delete' && path === '/api/v1/session' && status === 204),
    headers: { 'Set-Cookie': { description: 'The session: HttpOnly, SameSite=Strict; empty at sign-out.', required: true, schema: { type: 'string' } } },
  },
]

function withHeaders(document: Document): Document {
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations as Record<string, { responses?: Record<string, { headers?: object }> }>)) {
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        const fitting = HEADERS.filter((row) => row.of(path, Number(status), method)).map(({ headers }) => headers)
        response.headers = Object.assign({}, response.headers, ...fitting) as object
      }
    }
  }
  return document
}

/** The methods that an address answers to; none where nothing is there. */
export function allowedMethods(api: Api, path: string): string[] {
  const methods = new Set<string>()
  for (const { type, ...definition } of api.openAPIRegistry.definitions) {
    if (type !== 'route' || !('route' in definition)) continue
    const { path: pattern, method } = definition.route
    const form = new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    if (form.test(path)) methods.add(method.toUpperCase())
  }
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].sort()
}
