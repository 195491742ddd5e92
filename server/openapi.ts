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
    document ??= JSON.stringify(api.getOpenAPI31Document(INFO))
    return new Response(document, { headers: { 'content-type': 'application/json' } })
  })
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
