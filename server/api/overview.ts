// /api/v1/overview and /api/v1/models: the dashboard's first page in one response, and the models
// to choose from.
import { z } from '@hono/zod-openapi'
import { showAccount } from '../accounts/accounts.ts'
import type { Plans } from '../accounts/plans.ts'
import { countedListOf, whole, type Api } from './api.ts'
import { DAY, isoTime } from '../common/clock.ts'
import { keyNames } from '../keys/key-list.ts'
import { RANGES, modelsSeen, readOverview, type Range } from '../ledger/reports/overview.ts'
import { countRefusals, readRefusals } from '../ledger/refusals/limit-counts.ts'
import { TOKEN_SCHEMAS } from './ledger-schemas.ts'
import { ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { AccountSchema } from './accounts.ts'
import { AttentionSchema, readAttention, type Health } from './attention.ts'

/** How far back to look for models, and how many to list. */
const TOP_MODELS = { since: 90 * DAY, most: 500 }

const count = z.number().int()
const measures = {
  requests: count,
  errors: count,
  aborted: count,
  ...TOKEN_SCHEMAS,
  first_byte_ms: count.nullable().openapi({ description: 'Mean over requests with a response.' }),
  total_ms: count.nullable(),
}
const refused = count.openapi({
  description: 'Refused by the limit of a key, in whole hours; not among `requests`.',
})

const OverviewSchema = z
  .object({
    object: z.literal('overview'),
    range: z.enum(Object.keys(RANGES) as [Range, ...Range[]]),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    step_seconds: count,
    totals: z.object({ ...measures, refused }),
    series: z
      .array(z.object({ time: z.iso.datetime(), ...measures }))
      .openapi({ description: 'Every step, including those without requests.' }),
    keys: z
      .array(z.object({ key_id: z.string(), name: z.string().nullable(), ...measures, refused }))
      .openapi({ description: 'The most used.' }),
    models: z
      .array(z.object({ provider: z.string(), model: z.string().nullable(), ...measures }))
      .openapi({ description: 'The most used.' }),
    attention: z.array(AttentionSchema),
    quota: AccountSchema.shape.quota,
  })
  .openapi('Overview')

const ModelSchema = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    provider: z.string(),
    requests: count,
    last_used_at: z.iso.datetime().openapi({
      description: 'Precise to the hour within the last day, and to the day before that.',
    }),
  })
  .openapi('Model')

const Query = AccountScopeParams.extend({
  range: OverviewSchema.shape.range.default('day').openapi({
    description: 'The last hour by minute, day by hour, or 7 or 30 days by day; UTC.',
  }),
  key: z.string().max(100).optional(),
  model: z.string().max(300).optional(),
})

/** The routes of the overview. */
export function overviewRoutes(
  store: Store,
  plans: Plans,
  proxied: Health,
  clock: () => number,
): Api {
  return routes(store, clock, [overviewRoute(store, plans, proxied), modelsRoute(store)])
}

function overviewRoute(store: Store, plans: Plans, proxied: Health): Route {
  return route({
    method: 'get',
    path: '/api/v1/overview',
    summary: 'Read recent usage, and what needs attention',
    access: 'manage',
    query: Query,
    response: ok('The overview', OverviewSchema),
    act: async ({ query: { range, key, model, account: named }, caller, now }) => {
      const account = resolveAccountScope(caller, named)
      const reading = store.readingFor(caller.account.id)
      const { from, to, totals, series, keys, models } = await readOverview(
        reading,
        { account, range, key, model },
        now,
      )
      const isAdmin = caller.account.role === 'admin'
      const ids = keys.map(({ key_id }) => key_id)
      const [refused, refusals, attention] = await Promise.all([
        countRefusals(reading, { account, key, from }),
        readRefusals(reading, { account, keys: ids, from }),
        readAttention(store, reading, proxied, { account, isAdmin }, now),
      ])
      const names = await keyNames(store, ids)
      return {
        object: 'overview' as const,
        range,
        from: isoTime(from),
        to: isoTime(to),
        step_seconds: RANGES[range].step / 1000,
        totals: { ...totals, refused },
        series: series.map(({ at, ...rest }) => ({ time: isoTime(at), ...rest })),
        keys: keys.map(({ key_id, ...rest }) => ({
          key_id,
          name: names.get(key_id) ?? null,
          ...rest,
          refused: refusals.get(key_id) ?? 0,
        })),
        models,
        attention,
        quota: (await showAccount(store, plans, caller.account, now)).quota,
      }
    },
  })
}

function modelsRoute(store: Store): Route {
  return route({
    method: 'get',
    path: '/api/v1/models',
    summary: 'List the models that requests named, most used first',
    access: 'manage',
    query: AccountScopeParams,
    response: ok('Models of the last 90 days', countedListOf(ModelSchema)),
    act: async ({ query, caller, now }) => {
      const reading = store.readingFor(caller.account.id)
      const seen = await modelsSeen(
        reading,
        resolveAccountScope(caller, query.account),
        now - TOP_MODELS.since,
        TOP_MODELS.most,
      )
      return whole(
        seen.map(({ last_used_at, requests, ...rest }) => ({
          ...rest,
          object: 'model' as const,
          requests: Number(requests),
          last_used_at: isoTime(Number(last_used_at)),
        })),
      )
    },
  })
}
