// Check that the process is alive, and whether it should be sent requests.
import { z } from '@hono/zod-openapi'
import { createRoute, json, createApi, noQuery, type Api } from './api.ts'

/** What the health routes read. */
export interface Health {
  check(): Promise<HealthState>
}

const StateSchema = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable']).openapi({
    description:
      '`degraded`: it can take requests, and something fails: the store is away and proxied requests are admitted without it, or files cannot be stored.',
  }),
  troubles: z.array(z.string()).openapi({
    description:
      'One sentence for each problem of the server or a part of it; empty if there is none.',
  }),
})

/** How a process is. */
export type HealthState = z.infer<typeof StateSchema>

/** `/livez` and `/readyz`. */
export function healthRoutes(health: Health): Api {
  const api = createApi()
  // What was true a moment ago is of no use to whoever asks, or to anything between.
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
      503: json('It cannot; the body says why', StateSchema),
    },
  })
  api.openAPIRegistry.registerPath(ready)
  api.get(ready.path, noQuery, async (c) => {
    const state = await health.check()
    return state.status === 'unavailable' ? c.json(state, 503) : c.json(state, 200)
  })
  return api
}
