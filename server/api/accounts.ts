// /api/v1/accounts and /api/v1/plans. Callers see their own account; administrators see and change
// all.
import { z } from '@hono/zod-openapi'
import {
  changeAccount,
  countAccounts,
  createAccount,
  deleteAccount,
  getAccount,
  listAccounts,
  showAccount,
} from '../accounts/accounts.ts'
import { FREE, type Plans } from '../accounts/plans.ts'
import { PageQuery, countedListOf, page, whole, type Api } from './api.ts'
import { Problem, fieldError, type FieldError } from '../common/errors.ts'
import type { KeyCache } from '../keys/cache.ts'
import { revokeKeysOf } from '../keys/keys.ts'
import { patchOf } from './request/patch.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import { Name } from './schemas.ts'

/** An account as the API shows it. */
export const AccountSchema = z
  .object({
    id: z.string(),
    object: z.literal('account'),
    name: z.string(),
    email: z.string().nullable(),
    role: z.enum(['admin', 'member']),
    plan: z.string(),
    disabled: z.boolean(),
    quota: z.object({
      conversions_per_day: z.number().int().nullable(),
      used_today: z.number().int(),
      resets_at: z.iso.datetime(),
    }),
    created_at: z.iso.datetime(),
  })
  .openapi('Account')

const PlanSchema = z
  .object({
    object: z.literal('plan'),
    name: z.string(),
    conversions_per_day: z.number().int().nullable(),
  })
  .openapi('Plan')

const Wanted = strictObject({ name: Name, plan: z.string().default(FREE) })
const Change = patchOf(
  AccountSchema,
  { name: Name, plan: z.string(), role: AccountSchema.shape.role, disabled: z.boolean() },
  ['quota'],
)

const ListQuery = PageQuery.extend({
  search: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: 'Part of the name or the e-mail.' }),
})

/** The routes of accounts and plans. */
export function accountRoutes(
  store: Store,
  plans: Plans,
  keys: Pick<KeyCache, 'refresh'>,
  clock: () => number,
): Api {
  return routes(store, clock, [
    listRoute(store, plans),
    createRoute(store, plans),
    readRoute(store, plans),
    changeRoute(store, plans, keys),
    deleteRoute(store, keys),
    plansRoute(plans),
  ])
}

function listRoute(store: Store, plans: Plans): Route {
  return route({
    method: 'get',
    path: '/api/v1/accounts',
    summary: 'List the accounts you can see',
    access: 'manage',
    query: ListQuery,
    response: ok('A page of accounts', countedListOf(AccountSchema)),
    act: async ({ query: { limit, cursor, search }, caller: { account }, now }) => {
      const [rows, total] =
        account.role === 'admin'
          ? await Promise.all([
              listAccounts(store, limit + 1, cursor, search),
              countAccounts(store, search),
            ])
          : [[account], 1]
      return {
        ...page(await Promise.all(rows.map((row) => showAccount(store, plans, row, now))), limit),
        total,
      }
    },
  })
}

function createRoute(store: Store, plans: Plans): Route {
  return route({
    method: 'post',
    path: '/api/v1/accounts',
    summary: 'Create an account (administrators)',
    access: 'admin',
    body: Wanted,
    check: (_, { plan }) => [planError(plans, plan)],
    response: created('The account', AccountSchema),
    act: async ({ body: { name, plan }, now }) =>
      showAccount(store, plans, await createAccount(store, name, plan, now), now),
  })
}

function readRoute(store: Store, plans: Plans): Route {
  return route({
    method: 'get',
    path: '/api/v1/accounts/{id}',
    summary: 'Read an account',
    access: 'manage',
    response: ok('The account', AccountSchema),
    problems: ['account_not_found'],
    act: async ({ params: { id }, caller: { account }, now }) => {
      // For other callers the account does not exist.
      const isVisible = account.role === 'admin' || id === account.id
      return showAccount(store, plans, await getAccount(store, isVisible ? id : ''), now)
    },
  })
}

function changeRoute(store: Store, plans: Plans, keys: Pick<KeyCache, 'refresh'>): Route {
  return route({
    method: 'patch',
    path: '/api/v1/accounts/{id}',
    summary: "Change an account's name, plan or role, disable or enable it (administrators)",
    access: 'admin',
    body: Change.body,
    response: ok('The account', AccountSchema),
    problems: ['account_not_found', 'last_administrator'],
    act: async ({ params: { id }, body, caller, now }) => {
      const current = await showAccount(store, plans, await getAccount(store, id), now)
      const change = Change.changes(body, current, ({ plan, disabled }) => [
        planError(plans, plan),
        disabled && id === caller.account.id
          ? fieldError('disabled', 'You cannot disable your own account.')
          : null,
      ])
      const row = await changeAccount(store, id, change)
      await keys.refresh()
      return showAccount(store, plans, row, now)
    },
  })
}

function deleteRoute(store: Store, keys: Pick<KeyCache, 'refresh'>): Route {
  return route({
    method: 'delete',
    path: '/api/v1/accounts/{id}',
    summary: 'Delete an account permanently (administrators)',
    description: 'Its keys, tokens and sessions are revoked. Its usage stays in the ledger.',
    access: 'admin',
    response: done('Deleted'),
    problems: ['account_not_found', 'last_administrator'],
    act: async ({ params: { id }, caller, now }) => {
      if (id === caller.account.id)
        throw new Problem(
          'invalid_field',
          'You cannot delete your own account. Ask another administrator.',
        )
      await deleteAccount(store, id, now)
      await revokeKeysOf(store, id, now)
      await keys.refresh()
    },
  })
}

function plansRoute(plans: Plans): Route {
  return route({
    method: 'get',
    path: '/api/v1/plans',
    summary: 'List the plans',
    access: 'manage',
    response: ok('All plans', countedListOf(PlanSchema)),
    act: () =>
      whole(
        plans.all.map(({ name, conversionsPerDay }) => ({
          object: 'plan' as const,
          name,
          conversions_per_day: conversionsPerDay,
        })),
      ),
  })
}

/** The field error for an unknown plan; null if the plan exists. */
export function planError(plans: Plans, plan: string | undefined): FieldError | null {
  if (plan === undefined || plans.has(plan)) return null
  return fieldError(
    'plan',
    `Must be one of ${plans.all.map(({ name }) => JSON.stringify(name)).join(', ')}.`,
  )
}
