// /api/v1/limits: what this server takes, as its settings say.
import { z } from '@hono/zod-openapi'
import { answers, createRoute, guarded, newApi, type Api } from '../api.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/open.ts'

const count = z.number().int()

const LimitsSchema = z
  .object({
    object: z.literal('limits'),
    html_bytes: count.openapi({ description: 'The largest HTML file that is converted.' }),
    zip_bytes: count.openapi({ description: 'The largest ZIP archive that is converted.' }),
    async_above_bytes: count.openapi({ description: 'A ZIP archive larger than this becomes a job.' }),
    result_retention_seconds: count.openapi({ description: 'How long the result of a job is kept.' }),
  })
  .openapi('Limits')

type Limits = Pick<Config['conversion'], 'maxHtml' | 'maxZip' | 'asyncAbove' | 'retention'>

/** The route of the limits of conversions. */
export function limitRoutes(store: Store, limits: Limits, clock: () => number): Api {
  const api = newApi()
  const read = createRoute({
    method: 'get',
    path: '/api/v1/limits',
    summary: 'Read the limits of conversions',
    ...guarded(store, clock),
    responses: answers(200, 'The limits', LimitsSchema),
  })
  const { maxHtml, maxZip, asyncAbove, retention } = limits
  const shown = {
    object: 'limits' as const, html_bytes: maxHtml, zip_bytes: maxZip,
    async_above_bytes: asyncAbove, result_retention_seconds: Math.round(retention / 1000),
  }
  api.openapi(read, (c) => c.json(shown, 200))
  return api
}
