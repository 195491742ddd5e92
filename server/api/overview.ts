// /api/v1/overview and /api/v1/models: the first page of the dashboard in one answer, and the
// models to choose from.
import { z } from '@hono/zod-openapi'
import { showAccount } from '../accounts/accounts.ts'
import type { Plans } from '../accounts/plans.ts'
import { countedListOf, whole, type Api } from './api.ts'
import { DAY, isoTime } from '../common/clock.ts'
import { expiringKeys, keyNames } from '../keys/key-list.ts'
import { RANGES, modelsSeen, readOverview, type Range } from '../ledger/reports/overview.ts'
import { countRefusals, readRefusals } from '../ledger/refusals/limit-counts.ts'
import { readUsage } from '../ledger/reports/usage.ts'
import type { Proxy } from '../proxy/index.ts'
import { ok, route, routes } from './route.ts'
import type { Store } from '../store/open.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { AccountSchema } from './accounts.ts'
import { allCredentials } from './credentials.ts'

const EXPIRES_SOON_MS = 7 * DAY
/**
 * A key is often at its limit where so many of its requests of a day were refused, and that is such
 * a share of all.
 */
const FREQUENT_LIMIT = { refused: 20, share: 0.05 }
/** Answers by which a provider refuses a credential. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 403])
/** How far back models are looked for, and how many are listed. */
const TOP_MODELS = { since: 90 * DAY, most: 500 }

const count = z.number().int()
const measures = {
  requests: count,
  errors: count,
  aborted: count,
  tokens_in: count.nullable(),
  tokens_out: count.nullable(),
  tokens_cached: count.nullable().openapi({ description: 'Part of `tokens_in`.' }),
  tokens_reasoning: count.nullable(),
  first_byte_ms: count.nullable().openapi({ description: 'Mean over the answered requests.' }),
  total_ms: count.nullable(),
}
const refused = count.openapi({
  description: 'Refused by the limit of a key, in whole hours; not among `requests`.',
})

const AttentionSchema = z
  .object({
    kind: z.enum(['key_expires', 'key_at_limit', 'credential_failing', 'provider_unreachable']),
    detail: z.string().openapi({ description: 'A sentence that a person can act on.' }),
    key_id: z.string().nullable(),
    credential_id: z.string().nullable(),
    provider: z
      .string()
      .nullable()
      .openapi({ description: 'The id of the provider that cannot be reached.' }),
    name: z.string().nullable().openapi({ description: 'Of the key, or of the credential.' }),
    at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When the key expires; when the call last failed.' }),
  })
  .openapi('Attention')

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
      .openapi({ description: 'The most used ones.' }),
    models: z
      .array(z.object({ provider: z.string(), model: z.string().nullable(), ...measures }))
      .openapi({ description: 'The most used ones.' }),
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
    last_used_at: z.iso
      .datetime()
      .openapi({ description: 'Exact to the hour within the last day, before that to the day.' }),
  })
  .openapi('Model')

const Query = AccountScopeParams.extend({
  range: OverviewSchema.shape.range.default('day').openapi({
    description: 'The last hour by the minute, day by the hour, or 7 or 30 days by the day; UTC.',
  }),
  key: z.string().max(100).optional(),
  model: z.string().max(300).optional(),
})

type Health = Pick<Proxy, 'credentials' | 'unreadable' | 'table'>

/** The routes of the overview. */
export function overviewRoutes(
  store: Store,
  plans: Plans,
  proxied: Health,
  clock: () => number,
): Api {
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/overview',
      summary: 'Read recent usage, and what needs attention',
      access: 'manage',
      query: Query,
      answer: ok('The overview', OverviewSchema),
      act: async ({ query: { range, key, model, account: named }, caller, now }) => {
        const account = resolveAccountScope(caller, named)
        const reading = store.readingFor(caller.account.id)
        const { from, to, totals, series, keys, models } = await readOverview(
          reading,
          { account, range, key, model },
          now,
        )
        const ids = keys.map(({ key_id }) => key_id)
        const [refused, refusals, lately] = await Promise.all([
          countRefusals(reading, { account, key, from }),
          readRefusals(reading, { account, keys: ids, from }),
          readRefusals(reading, { account, from: now - DAY }, FREQUENT_LIMIT.refused),
        ])
        const names = await keyNames(store, ids)
        const isAdmin = caller.account.role === 'admin'
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
          attention: [
            ...(await expiring(reading, account, now)),
            ...(await atLimit(store, reading, account, lately, now)),
            ...(isAdmin ? await failing(store, proxied, now) : []),
          ],
          quota: (await showAccount(store, plans, caller.account, now)).quota,
        }
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/models',
      summary: 'List the models that requests have named, most used first',
      access: 'manage',
      query: AccountScopeParams,
      answer: ok('Models of the last 90 days', countedListOf(ModelSchema)),
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
    }),
  ])
}

type Attention = z.infer<typeof AttentionSchema>
const nothing = { name: null, key_id: null, credential_id: null, provider: null, at: null }

/** Keys that expire soon. */
async function expiring(reading: Store, account: string | null, now: number): Promise<Attention[]> {
  const keys = await expiringKeys(reading, account, now, now + EXPIRES_SOON_MS)
  return keys.map(({ id, name, expires_at }) => ({
    ...nothing,
    kind: 'key_expires' as const,
    key_id: id,
    name,
    at: isoTime(expires_at),
    detail: `The key "${name}" expires at ${isoTime(expires_at).slice(0, 16).replace('T', ' ')} UTC. Set another date, or replace it.`,
  }))
}

/**
 * Keys that are often at their limit. What was let through is only read where something was
 * refused.
 */
async function atLimit(
  store: Store,
  reading: Store,
  account: string | null,
  frequent: Map<string, number>,
  now: number,
): Promise<Attention[]> {
  if (frequent.size === 0) return []
  const lines = await readUsage(reading, {
    account,
    by: ['key'],
    keys: [...frequent.keys()],
    from: now - DAY,
    to: now + 1,
  })
  const passed = new Map(lines.map((line) => [line.key_id, line.requests]))
  const found = [...frequent].filter(
    ([key, refused]) => refused >= FREQUENT_LIMIT.share * (refused + (passed.get(key) ?? 0)),
  )
  const names = await keyNames(
    store,
    found.map(([key]) => key),
  )
  return found.flatMap(([key, refused]) => {
    const name = names.get(key)
    if (name === undefined) return []
    return [
      {
        ...nothing,
        kind: 'key_at_limit' as const,
        key_id: key,
        name,
        detail: `The limit of the key "${name}" refused ${refused} requests in the last 24 hours. Raise it, or slow its callers down.`,
      },
    ]
  })
}

/** Credentials that are refused or unreadable, and providers that cannot be reached. */
async function failing(store: Store, proxied: Health, now: number): Promise<Attention[]> {
  const credentials = await allCredentials(store, proxied, now)
  return [
    ...unreachable(proxied, credentials),
    ...credentials.flatMap(({ id, name, provider, status, readable, last_error }) => {
      // Limits and troubles of a provider pass, and no other credential would help.
      if (status === 'paused' || (readable && !CREDENTIAL_REFUSED.has(last_error?.status ?? 0)))
        return []
      const service = proxied.table().byId(provider)?.name ?? provider
      const detail =
        last_error === null
          ? `The credential "${name}" of ${service} cannot be decrypted with this server's master key. Replace it.`
          : `${service} rejected the credential "${name}" (${last_error.status}). Test it, or replace it.`
      return [
        {
          ...nothing,
          kind: 'credential_failing' as const,
          credential_id: id,
          name,
          at: last_error?.at ?? null,
          detail,
        },
      ]
    }),
  ]
}

/** One line for a provider, however many of its credentials have found that out. */
function unreachable(
  proxied: Health,
  credentials: Awaited<ReturnType<typeof allCredentials>>,
): Attention[] {
  const unreadable = credentials.filter(
    ({ status, last_error }) =>
      status === 'active' && last_error !== null && last_error.code !== null,
  )
  return [...Map.groupBy(unreadable, ({ provider }) => provider)].map(([provider, [first]]) => {
    const name = proxied.table().byId(provider)?.name ?? provider
    const what =
      first!.last_error!.code === 'upstream_timeout'
        ? 'did not answer the last call in time'
        : 'could not be reached at the last call, or dropped the connection'
    return {
      ...nothing,
      kind: 'provider_unreachable' as const,
      provider,
      at: first!.last_error!.at,
      detail: `${name} ${what}. Check its status, and the network of this server.`,
    }
  })
}
