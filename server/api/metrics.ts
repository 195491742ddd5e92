// GET /metrics.
import { z } from '@hono/zod-openapi'
import { createRoute, createApi, noQuery, problems, type Api } from './api.ts'
import { Problem } from '../common/errors.ts'
import { isSecret } from '../common/issued-secrets.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** @param token the bearer token that a scraper must send; null makes the metrics public */
export function metricsRoutes(metrics: Metrics, token: string | null): Api {
  const api = createApi()
  const route = createRoute({
    method: 'get',
    path: '/metrics',
    summary: 'Read metrics, for Prometheus',
    responses: {
      200: {
        description: 'Metrics in the text format of Prometheus',
        content: { 'text/plain': { schema: z.string() } },
      },
      ...problems('invalid_token'),
    },
  })
  api.openAPIRegistry.registerPath(route)
  api.get(route.path, noQuery, async (c) => {
    if (
      token !== null &&
      !isSecret(/^Bearer +(.*)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '', token)
    ) {
      throw new Problem(
        'invalid_token',
        'Send the token of TOLLMARK_METRICS_TOKEN in the header "Authorization: Bearer <token>".',
      )
    }
    const { type, bytes } = await metrics.text()
    // Bytes, because a string would be copied for each scrape.
    return c.body(bytes, 200, { 'content-type': type, 'cache-control': 'no-store' })
  })
  return api
}
