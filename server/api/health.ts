// Tells whether the process is alive, and whether it should get requests.
import { z } from '@hono/zod-openapi'
import { createRoute, json, createApi, noQuery, type Api } from './api.ts'

/** Source of the health routes. */
export interface Health {
  check(): Promise<HealthState>
}

const StateSchema = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable']).openapi({
    description:
      '`degraded`: it can take requests, but the database is unavailable and proxied requests are admitted without it, or files cannot be stored.',
  }),
  troubles: z.array(z.string()).openapi({
    description: 'One sentence per problem of the server or a part of it; empty if there is none.',
  }),
})

/** The health of a process. */
export type HealthState = z.infer<typeof StateSchema>

/** `/livez` and `/readyz`. */
export function healthRoutes(health: Health): Api {
  const api = createApi()
  // A cached health response would be wrong.
  api.use(async (c, next) => {
    await next()
    c.res.headers.set('cache-control', 'no-store')
  })
  const live = createRoute({
    method: 'get',
    path: '/livez',
    summary: 'Check that the process is alive',
    responses: { 200: json('The process is alive', StateSchema) },
  })
  api.openAPIRegistry.registerPath(live)
  api.get(live.path, noQuery, (c) =>
    c.json({ status: 'ok', troubles: [] } satisfies HealthState, 200),
  )

  const ready = createRoute({
    method: 'get',
    path: '/readyz',
    summary: 'Check that the server can take requests',
    responses: {
      200: json('The server can take requests', StateSchema),
      503: json('The server cannot take requests; the body says why', StateSchema),
    },
  })
  api.openAPIRegistry.registerPath(ready)
  api.get(ready.path, noQuery, async (c) => {
    const state = await health.check()
    return state.status === 'unavailable' ? c.json(state, 503) : c.json(state, 200)
  })
  return api
}
