// /api/v1/tokens: the account's API tokens.
import { z } from '@hono/zod-openapi'
import { SCOPES, createToken, getToken, listTokens, revokeToken, type Scope } from '../accounts/tokens.ts'
import { IdParams, PageQuery, answers, callerOf, createRoute, done, guarded, jsonContent, listOf, newApi, page, type Api } from '../api.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { Moment, Name, expiryOf } from './fields.ts'
import { Whose, ownerOf, whose } from './whose.ts'

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
    request: { query: PageQuery.extend(Whose.shape) },
    responses: answers(200, 'A page of tokens', listOf(TokenSchema)),
  })
  api.openapi(list, async (c) => {
    const { limit, cursor, account } = c.req.valid('query')
    return c.json(page(await listTokens(store, whose(callerOf(c), account), limit + 1, cursor, clock()), limit), 200)
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
    request: { params: IdParams, query: Whose },
    responses: done('Revoked', 'token_not_found'),
  })
  api.openapi(revoke, async (c) => {
    await revokeToken(store, c.req.valid('param').id, whose(callerOf(c), c.req.valid('query').account), clock())
    return c.body(null, 204)
  })

  return api
}
