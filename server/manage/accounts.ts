// /api/v1/accounts and /api/v1/plans. Everybody sees their own account; an administrator sees and changes all.
import { z } from '@hono/zod-openapi'
import { changeAccount, createAccount, getAccount, listAccounts, showAccount } from '../accounts/accounts.ts'
import { FREE, type Plans } from '../accounts/plans.ts'
import { IdParams, PageQuery, answers, callerOf, createRoute, guarded, jsonContent, listOf, newApi, page, whole, type Api } from '../api.ts'
import { invalidField } from '../errors.ts'
import type { KeyCache } from '../keys/cache.ts'
import { patchOf } from '../request/patch.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { Name } from './fields.ts'

export const AccountSchema = z
  .object({
    id: z.string(),
    object: z.literal('account'),
    name: z.string(),
    email: z.string().nullable(),
    role: z.enum(['admin', 'member']),
    plan: z.string(),
    disabled: z.boolean(),
    quota: z.object({ conversions_per_day: z.number().int().nullable(), used_today: z.number().int(), resets_at: z.iso.datetime() }),
    created_at: z.iso.datetime(),
  })
  .openapi('Account')

const PlanSchema = z.object({ object: z.literal('plan'), name: z.string(), conversions_per_day: z.number().int().nullable() }).openapi('Plan')

const Wanted = strictObject({ name: Name, plan: z.string().default(FREE) })
const Change = patchOf(AccountSchema, { plan: z.string(), disabled: z.boolean() }, ['quota'])

/** The routes of accounts and plans. */
export function accountRoutes(store: Store, plans: Plans, keys: Pick<KeyCache, 'refresh'>, clock: () => number): Api {
  const api = newApi()
  const guard = guarded(store, clock)
  const adminGuard = guarded(store, clock, 'admin')

  const list = createRoute({
    method: 'get',
    path: '/api/v1/accounts',
    summary: 'List the accounts that you may see',
    ...guard,
    request: { query: PageQuery },
    responses: answers(200, 'A page of accounts', listOf(AccountSchema)),
  })
  api.openapi(list, async (c) => {
    const { account } = callerOf(c)
    const { limit, cursor } = c.req.valid('query')
    const rows = account.role === 'admin' ? await listAccounts(store, limit + 1, cursor) : [account]
    return c.json(page(await Promise.all(rows.map((row) => showAccount(store, plans, row, clock()))), limit), 200)
  })

  const create = createRoute({
    method: 'post',
    path: '/api/v1/accounts',
    summary: 'Make an account (administrators)',
    ...adminGuard,
    request: { body: jsonContent(Wanted) },
    responses: answers(201, 'The account', AccountSchema),
  })
  api.openapi(create, async (c) => {
    const { name, plan } = c.req.valid('json')
    const row = await createAccount(store, name, knownPlan(plans, plan), clock())
    return c.json(await showAccount(store, plans, row, clock()), 201)
  })

  const read = createRoute({
    method: 'get',
    path: '/api/v1/accounts/{id}',
    summary: 'Read an account',
    ...guard,
    request: { params: IdParams },
    responses: answers(200, 'The account', AccountSchema, 'account_not_found'),
  })
  api.openapi(read, async (c) => {
    const { id } = c.req.valid('param')
    const { account } = callerOf(c)
    // To everybody else an account is not there at all.
    const row = await getAccount(store, account.role === 'admin' || id === account.id ? id : '')
    return c.json(await showAccount(store, plans, row, clock()), 200)
  })

  const change = createRoute({
    method: 'patch',
    path: '/api/v1/accounts/{id}',
    summary: "Change an account's plan, disable or enable it (administrators)",
    ...adminGuard,
    request: { params: IdParams, body: jsonContent(Change.body) },
    responses: answers(200, 'The account', AccountSchema, 'account_not_found'),
  })
  api.openapi(change, async (c) => {
    const { id } = c.req.valid('param')
    const current = await showAccount(store, plans, await getAccount(store, id), clock())
    const { plan, disabled } = Change.changes(c.req.valid('json'), current)
    if (disabled && id === callerOf(c).account.id) throw invalidField('disabled', 'You cannot disable your own account.')
    const row = await changeAccount(store, id, { plan: plan === undefined ? undefined : knownPlan(plans, plan), disabled })
    await keys.refresh()
    return c.json(await showAccount(store, plans, row, clock()), 200)
  })

  const listPlans = createRoute({
    method: 'get',
    path: '/api/v1/plans',
    summary: 'List the plans',
    ...guard,
    responses: answers(200, 'All plans', listOf(PlanSchema)),
  })
  api.openapi(listPlans, (c) => {
    const data = plans.all.map(({ name, conversionsPerDay }) => ({ object: 'plan' as const, name, conversions_per_day: conversionsPerDay }))
    return c.json(whole(data), 200)
  })

  return api
}

/** The name of a plan that there is. @throws Problem `invalid_field` */
export function knownPlan(plans: Plans, plan: string): string {
  if (plans.has(plan)) return plan
  const names = plans.all.map(({ name }) => JSON.stringify(name)).join(', ')
  throw invalidField('plan', `"plan" must be one of ${names}.`)
}
