// /api/v1/limits: the sizes that this server accepts, from its settings.
import { z } from '@hono/zod-openapi'
import type { Api } from './api.ts'
import type { Config } from '../config/settings.ts'
import { ok, route, routes } from './route.ts'
import type { Store } from '../store/store.ts'

const count = z.number().int()

const LimitsSchema = z
  .object({
    object: z.literal('limits'),
    html_bytes: count.openapi({ description: 'The largest HTML file accepted.' }),
    zip_bytes: count.openapi({ description: 'The largest ZIP archive accepted.' }),
    archive_entries: count.openapi({
      description: 'The most files in an archive and its parts together.',
    }),
    page_bytes: count.openapi({ description: 'The largest page of an archive, inflated.' }),
    pages_bytes: count.openapi({ description: 'All pages of an archive together, inflated.' }),
    parts_bytes: count.openapi({
      description: 'All compressed parts of an export together, inflated.',
    }),
    async_above_bytes: count.openapi({
      description: 'A ZIP archive larger than this becomes a job.',
    }),
    result_retention_seconds: count.openapi({
      description: 'How long the result of a job is kept.',
    }),
  })
  .openapi('Limits')

type Limits = Pick<
  Config['conversion'],
  | 'maxHtml'
  | 'maxZip'
  | 'maxEntries'
  | 'maxPage'
  | 'maxPages'
  | 'maxParts'
  | 'asyncAbove'
  | 'retention'
>

/** The route of conversion limits. */
export function limitRoutes(store: Store, limits: Limits, clock: () => number): Api {
  const { maxHtml, maxZip, maxEntries, maxPage, maxPages, maxParts, asyncAbove, retention } = limits
  const shown = {
    object: 'limits' as const,
    html_bytes: maxHtml,
    zip_bytes: maxZip,
    archive_entries: maxEntries,
    page_bytes: maxPage,
    pages_bytes: maxPages,
    parts_bytes: maxParts,
    async_above_bytes: asyncAbove,
    result_retention_seconds: Math.round(retention / 1000),
  }
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/limits',
      summary: 'Read the conversion limits',
      access: 'manage',
      response: ok('The limits', LimitsSchema),
      act: () => shown,
    }),
  ])
}
