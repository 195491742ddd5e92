// /api/v1/refusals: requests that the proxy refused. They have no row in the ledger.
import { z } from '@hono/zod-openapi'
import { inTime } from '../common/in-time.ts'
import { PageQuery, type Api } from './api.ts'
import { keyNames } from '../keys/key-list.ts'
import { accountNames } from '../keys/key-record.ts'
import { countRefused, listRefusals } from '../ledger/refusals/refusal-list.ts'
import type { RefusalLog } from '../ledger/refusals/refusal-log.ts'
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../proxy/error-response.ts'
import { ok, route, routes } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { Moment } from './schemas.ts'

const count = z.number().int()
const Code = z.enum(Object.keys(GATEWAY_ERRORS) as [GatewayErrorCode, ...GatewayErrorCode[]])

/** A refused request as the API shows it. */
export const RefusalSchema = z
  .object({
    id: z.string().openapi({ description: 'The X-Request-Id of the response.' }),
    object: z.literal('refusal'),
    created_at: z.iso.datetime(),
    key_id: z.string(),
    key_name: z.string().nullable().openapi({ description: 'The current name of the key.' }),
    account_id: z.string(),
    account_name: z.string().nullable(),
    provider: z.string().nullable(),
    model: z.string().nullable(),
    method: z.string(),
    outcome: z.literal('refused'),
    status: count,
    code: z.string().openapi({ description: 'The X-Proxy-Error of the response.' }),
    detail: z.string().openapi({ description: 'The sentence in the response.' }),
    count: count.openapi({
      description:
        'The number of refusals of this key and code that this one represents. If many requests are refused, only some are kept.',
    }),
  })
  .openapi('Refusal')

const ListSchema = z.object({
  object: z.literal('list'),
  data: z.array(RefusalSchema),
  next_cursor: z.string().nullable(),
  total: count.openapi({
    description: 'The exact number of refusals that match the filter, counted by whole minutes.',
  }),
  by_code: z
    .array(z.object({ code: z.string(), count }))
    .openapi({ description: 'The same by code, the most frequent first.' }),
})

const Query = PageQuery.extend({
  ...AccountScopeParams.shape,
  key: z.string().max(100).optional(),
  code: Code.optional(),
  from: Moment.optional(),
  to: Moment.optional().openapi({ description: 'Not included.' }),
})

/** The route of refusals. */
export function refusalRoutes(
  store: Store,
  log: Pick<RefusalLog, 'flush'>,
  clock: () => number,
): Api {
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/refusals',
      summary: 'List requests that the proxy refused, newest first',
      description:
        'Requests without a known key are not listed. Refusals are kept for 30 days, or as long as the ledger keeps requests if that is shorter.',
      access: 'manage',
      query: Query,
      response: ok('A page of refusals', ListSchema),
      act: async ({ query: { limit, cursor, from, to, account, key, code }, caller }) => {
        const filter = {
          account: resolveAccountScope(caller, account),
          key,
          code,
          from: from === undefined ? 0 : Date.parse(from),
          to: to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(to),
        }
        await flushWithTimeout(log)
        const [{ rows, next }, counts] = await Promise.all([
          listRefusals(
            code === undefined
              ? store.lookingUpFor(caller.account.id)
              : store.readingFor(caller.account.id),
            filter,
            limit,
            cursor,
          ),
          countRefused(store.readingFor(caller.account.id), filter),
        ])
        const by_code = Object.entries(counts)
          .map(([code, count]) => ({ code, count }))
          .toSorted((a, b) => b.count - a.count)
        const total = by_code.reduce((sum, { count }) => sum + count, 0)
        return {
          object: 'list' as const,
          data: await withNames(store, rows),
          next_cursor: next,
          total,
          by_code,
        }
      },
    }),
  ])
}

/** How long a list waits for pending refusals to be written (milliseconds). */
const FLUSH_TIMEOUT_MS = 500

/** Writes refusals that are still in memory, so that a list shows them. */
export async function flushWithTimeout(log: Pick<RefusalLog, 'flush'>): Promise<void> {
  await inTime(log.flush(), FLUSH_TIMEOUT_MS)
}

/** The names that a row shows beside its ids. */
export interface Names {
  key_name: string | null
  account_name: string | null
}

/** Rows with the names of their keys and accounts. */
export async function withNames<R extends { key_id: string; account_id: string }>(
  store: Store,
  rows: readonly R[],
): Promise<(R & Names)[]> {
  const [keys, accounts] = await Promise.all([
    keyNames(
      store,
      rows.map(({ key_id }) => key_id),
    ),
    accountNames(
      store,
      rows.map(({ account_id }) => account_id),
    ),
  ])
  return rows.map((row) => ({
    ...row,
    key_name: keys.get(row.key_id) ?? null,
    account_name: accounts.get(row.account_id) ?? null,
  }))
}

/** A row with the names of its key and account. */
export async function withName<R extends { key_id: string; account_id: string }>(
  store: Store,
  row: R,
): Promise<R & Names> {
  const [named] = await withNames(store, [row])
  return named ?? { ...row, key_name: null, account_name: null }
}
