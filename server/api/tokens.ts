// /api/v1/tokens: the account's API tokens.
import { z } from '@hono/zod-openapi'
import {
  SCOPES,
  countTokens,
  createToken,
  getToken,
  listTokens,
  purgeToken,
  revokeToken,
  type Scope,
} from '../accounts/tokens.ts'
import { PageQuery, countedListOf, page, type Api } from './api.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountScopeParams, findOwner, resolveAccountScope } from './account-scope.ts'
import { Moment, Name, Purge, expiryError, momentOf, oneOrMore } from './schemas.ts'

const ScopeSchema = z.enum(Object.keys(SCOPES) as [Scope, ...Scope[]])

const TokenSchema = z
  .object({
    id: z.string(),
    object: z.literal('token'),
    name: z.string(),
    prefix: z.string().openapi({ description: 'The first characters of the token, for display.' }),
    account_id: z.string(),
    scopes: z.array(ScopeSchema),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
  })
  .openapi('Token')

const NewTokenSchema = TokenSchema.extend({
  secret: z.string().openapi({ description: 'The token itself. It is not shown again.' }),
}).openapi('NewToken')

const Wanted = strictObject({
  name: Name,
  scopes: z.array(ScopeSchema).min(1).default(['convert']),
  expires_at: Moment.nullable().default(null),
  account_id: z
    .string()
    .optional()
    .openapi({ description: 'Another account; administrators only.' }),
})

const ListQuery = PageQuery.extend({
  ...AccountScopeParams.shape,
  status: oneOrMore(TokenSchema.shape.status.options).optional().openapi({
    type: 'string',
    description: 'One or more of active, expired, revoked, separated by commas.',
    example: 'active',
  }),
  search: z.string().max(200).optional().openapi({ description: 'Part of the name.' }),
})

/** The routes of API tokens. */
export function tokenRoutes(store: Store, clock: () => number): Api {
  return routes(store, clock, [
    route({
      method: 'post',
      path: '/api/v1/tokens',
      summary: 'Create an API token',
      access: 'manage',
      body: Wanted,
      check: (_, { expires_at }) => [expiryError(expires_at, clock())],
      response: created('The token, with its secret', NewTokenSchema),
      problems: ['account_not_found'],
      act: async ({ body, caller, now }) => {
        const owner = await findOwner(store, caller, body.account_id, 'tokens')
        const wanted = {
          ...body,
          scopes: [...new Set(body.scopes)],
          expiresAt: momentOf(body.expires_at),
        }
        return (await createToken(store, { name: owner.name, plan: owner.plan }, wanted, now)).token
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/tokens',
      summary: 'List API tokens, newest first',
      access: 'manage',
      query: ListQuery,
      response: ok('A page of tokens', countedListOf(TokenSchema)),
      act: async ({ query: { limit, cursor, account: named, ...filter }, caller, now }) => {
        const account = resolveAccountScope(caller, named)
        const [rows, total] = await Promise.all([
          listTokens(store, account, limit + 1, cursor, now, filter),
          countTokens(store, account, filter, now),
        ])
        return { ...page(rows, limit), total }
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/tokens/{id}',
      summary: 'Read an API token',
      access: 'manage',
      query: AccountScopeParams,
      response: ok('The token', TokenSchema),
      problems: ['token_not_found'],
      act: ({ params, query, caller, now }) =>
        getToken(store, params.id, resolveAccountScope(caller, query.account), now),
    }),
    route({
      method: 'delete',
      path: '/api/v1/tokens/{id}',
      summary: 'Revoke an API token permanently',
      access: 'manage',
      query: AccountScopeParams.extend(Purge.shape),
      response: done('Revoked, and with `purge` removed from every list'),
      problems: ['token_not_found'],
      act: async ({ params, query: { account, purge }, caller, now }) => {
        const end = purge === 'true' ? purgeToken : revokeToken
        await end(store, params.id, resolveAccountScope(caller, account), now)
      },
    }),
  ])
}
