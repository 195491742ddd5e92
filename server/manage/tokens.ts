// /api/v1/tokens: the account's API tokens.
import { z } from '@hono/zod-openapi'
import { SCOPES, countTokens, createToken, getToken, listTokens, purgeToken, revokeToken, type Scope } from '../accounts/tokens.ts'
import { IdParams, PageQuery, answers, callerOf, countedListOf, createRoute, done, guarded, jsonContent, newApi, page, type Api } from '../api.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { Moment, Name, Purge, expiryOf, oneOrMore } from './fields.ts'
import { Whose, ownerOf, whose } from '../whose.ts'

const ScopeSchema = z.enum(Object.keys(SCOPES) as [Scope, ...Scope[]])

const TokenSchema = z
  .object({
    id: z.string(),
    object: z.literal('token'),
    name: z.string(),
    prefix: z.string().openapi({ description: 'The public head of the token, for display.' }),
    account_id: z.string(),
    scopes: z.array(ScopeSchema),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
  })
  .openapi('Token')

const NewTokenSchema = TokenSchema.extend({ secret: z.string().openapi({ description: 'The token itself. It is not shown again.' }) }).openapi('NewToken')

const Wanted = strictObject({
  name: Name,
  scopes: z.array(ScopeSchema).min(1).default(['convert']),
  expires_at: Moment.nullable().default(null),
  account_id: z.string().optional().openapi({ description: 'Another account; administrators only.' }),
})

const ListQuery = PageQuery.extend({
  ...Whose.shape,
  status: oneOrMore(TokenSchema.shape.status.options).optional().openapi({ type: 'string', description: 'One or more of active, expired, revoked, with commas between them.', example: 'active' }),
  search: z.string().max(200).optional().openapi({ description: 'Part of the name.' }),
})

/** The routes of API tokens. */
export function tokenRoutes(store: Store, clock: () => number): Api {
  const api = newApi()
  const guard = guarded(store, clock)

  const create = createRoute({
    method: 'post',
    path: '/api/v1/tokens',
    summary: 'Make an API token',
    ...guard,
    request: { body: jsonContent(Wanted) },
    responses: answers(201, 'The token, with its secret', NewTokenSchema, 'account_not_found'),
  })
  api.openapi(create, async (c) => {
    const wanted = c.req.valid('json')
    const expiresAt = expiryOf(wanted.expires_at, clock())
    const owner = await ownerOf(store, callerOf(c), wanted.account_id, 'tokens')
    const { token } = await createToken(store, { name: owner.name, plan: owner.plan }, { ...wanted, scopes: [...new Set(wanted.scopes)], expiresAt }, clock())
    return c.json(token, 201)
  })

  const list = createRoute({
    method: 'get',
    path: '/api/v1/tokens',
    summary: 'List API tokens, newest first',
    ...guard,
    request: { query: ListQuery },
    responses: answers(200, 'A page of tokens', countedListOf(TokenSchema)),
  })
  api.openapi(list, async (c) => {
    const { limit, cursor, account: named, ...filter } = c.req.valid('query')
    const account = whose(callerOf(c), named)
    const [rows, total] = await Promise.all([listTokens(store, account, limit + 1, cursor, clock(), filter), countTokens(store, account, filter, clock())])
    return c.json({ ...page(rows, limit), total }, 200)
  })

  const read = createRoute({
    method: 'get',
    path: '/api/v1/tokens/{id}',
    summary: 'Read an API token',
    ...guard,
    request: { params: IdParams, query: Whose },
    responses: answers(200, 'The token', TokenSchema, 'token_not_found'),
  })
  api.openapi(read, async (c) => c.json(await getToken(store, c.req.valid('param').id, whose(callerOf(c), c.req.valid('query').account), clock()), 200))

  const revoke = createRoute({
    method: 'delete',
    path: '/api/v1/tokens/{id}',
    summary: 'Revoke an API token, for good',
    ...guard,
    request: { params: IdParams, query: Whose.extend(Purge.shape) },
    responses: done('Revoked, and with `purge` in no list any more', 'token_not_found'),
  })
  api.openapi(revoke, async (c) => {
    const { account, purge } = c.req.valid('query')
    const end = purge === 'true' ? purgeToken : revokeToken
    await end(store, c.req.valid('param').id, whose(callerOf(c), account), clock())
    return c.body(null, 204)
  })

  return api
}
