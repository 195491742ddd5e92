// /api/v1/accounts and /api/v1/plans. Everybody sees their own account; an administrator sees and changes all.
import { z } from '@hono/zod-openapi'
import { changeAccount, countAccounts, createAccount, deleteAccount, getAccount, listAccounts, showAccount } from '../accounts/accounts.ts'
import { FREE, type Plans } from '../accounts/plans.ts'
import { IdParams, PageQuery, answers, callerOf, countedListOf, createRoute, done, guarded, jsonContent, newApi, page, whole, type Api } from '../api.ts'
import { Problem, invalidField } from '../errors.ts'
import type { KeyCache } from '../keys/cache.ts'
import { revokeKeysOf } from '../keys/keys.ts'
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
const Change = patchOf(AccountSchema, { name: Name, plan: z.string(), role: AccountSchema.shape.role, disabled: z.boolean() }, ['quota'])

const ListQuery = PageQuery.extend({ search: z.string().max(200).optional().openapi({ description: 'Part of the name or the e-mail.' }) })

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
    request: { query: ListQuery },
    responses: answers(200, 'A page of accounts', countedListOf(AccountSchema)),
  })
  api.openapi(list, async (c) => {
    const { account } = callerOf(c)
    const { limit, cursor, search } = c.req.valid('query')
    const [rows, total] = account.role === 'admin' ? await Promise.all([listAccounts(store, limit + 1, cursor, search), countAccounts(store, search)]) : [[account], 1]
    const shown = await Promise.all(rows.map((row) => showAccount(store, plans, row, clock())))
    return c.json({ ...page(shown, limit), total }, 200)
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
    summary: "Change an account's name, plan or role, disable or enable it (administrators)",
    ...adminGuard,
    request: { params: IdParams, body: jsonContent(Change.body) },
    responses: answers(200, 'The account', AccountSchema, 'account_not_found', 'last_administrator'),
  })
  api.openapi(change, async (c) => {
    const { id } = c.req.valid('param')
    const current = await showAccount(store, plans, await getAccount(store, id), clock())
    const { plan, ...plain } = Change.changes(c.req.valid('json'), current)
    if (plain.disabled && id === callerOf(c).account.id) throw invalidField('disabled', 'You cannot disable your own account.')
    const row = await changeAccount(store, id, { ...plain, plan: plan === undefined ? undefined : knownPlan(plans, plan) })
    await keys.refresh()
    return c.json(await showAccount(store, plans, row, clock()), 200)
  })

  const remove = createRoute({
    method: 'delete',
    path: '/api/v1/accounts/{id}',
    summary: 'Delete an account, for good (administrators)',
    description: 'Its keys are revoked, its tokens and sessions end. What it has used stays in the ledger.',
    ...adminGuard,
    request: { params: IdParams },
    responses: done('Deleted', 'account_not_found', 'last_administrator'),
  })
  api.openapi(remove, async (c) => {
    const { id } = c.req.valid('param')
    if (id === callerOf(c).account.id) throw new Problem('invalid_field', 'You cannot delete your own account. Another administrator can.')
    await deleteAccount(store, id, clock())
    await revokeKeysOf(store, id, clock())
    await keys.refresh()
    return c.body(null, 204)
  })

  const listPlans = createRoute({
    method: 'get',
    path: '/api/v1/plans',
    summary: 'List the plans',
    ...guard,
    responses: answers(200, 'All plans', countedListOf(PlanSchema)),
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
