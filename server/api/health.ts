// Check that the process is alive, and whether it should be sent requests.
import { z } from '@hono/zod-openapi'
import { createRoute, json, createApi, noQuery, type Api } from './api.ts'

/** What the health routes read. */
export interface Health {
  /** What keeps the server from working, or a part of it, in words; empty where nothing does. */
  troubles(): Promise<string[]>
}

const StateSchema = z.object({
  status: z.enum(['ok', 'unavailable']),
  troubles: z.array(z.string()),
})

type State = z.infer<typeof StateSchema>

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
  api.get(live.path, noQuery, (c) => c.json({ status: 'ok', troubles: [] } satisfies State, 200))

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
    const troubles = await health.troubles()
    return troubles.length === 0
      ? c.json({ status: 'ok', troubles } satisfies State, 200)
      : c.json({ status: 'unavailable', troubles } satisfies State, 503)
  })
  return api
}
