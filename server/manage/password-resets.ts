// /api/v1/accounts/{id}/reset-password and /api/v1/password-resets: links by which a person sets a new password.
import { z } from '@hono/zod-openapi'
import { acceptPasswordReset, createPasswordReset, openPasswordReset, passwordResetPath } from '../accounts/password-resets.ts'
import type { Plans } from '../accounts/plans.ts'
import { IdParams, answers, createRoute, guarded, json, jsonContent, newApi, problems, type Api } from '../api.ts'
import { isoTime } from '../clock.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { SignedInSchema, UNGUARDED_PROBLEMS, email, newPassword, unguarded, welcome } from './session.ts'

const ResetSchema = z
  .object({
    object: z.literal('password_reset'),
    account_id: z.string(),
    link: z.url().openapi({ description: 'For the person to open. It is not shown again.' }),
    expires_at: z.iso.datetime(),
  })
  .openapi('PasswordReset')

const OpenSchema = z.object({
  object: z.literal('password_reset'),
  email: z.string().nullable().openapi({ description: 'What the account signs in with; null where it has none, and is to be given one.' }),
  name: z.string(),
  expires_at: z.iso.datetime(),
})

const Accepted = strictObject({
  token: z.string().max(200),
  email: email.nullable().default(null).openapi({ description: 'For an account that has none.' }),
  password: newPassword,
})

/** The routes of links that set a password. */
export function passwordResetRoutes(store: Store, plans: Plans, clock: () => number): Api {
  const api = newApi()

  const create = createRoute({
    method: 'post',
    path: '/api/v1/accounts/{id}/reset-password',
    summary: 'Make a link that sets a new password (administrators)',
    description: 'It works once, for 24 hours. An older link of the account stops working; its password stays until the link is used.',
    ...guarded(store, clock, 'admin'),
    request: { params: IdParams },
    responses: answers(201, 'The link', ResetSchema, 'account_not_found'),
  })
  api.openapi(create, async (c) => {
    const { account, token, expiresAt } = await createPasswordReset(store, c.req.valid('param').id, clock())
    const link = `${c.get('client').origin}${passwordResetPath(token)}`
    return c.json({ object: 'password_reset' as const, account_id: account.id, link, expires_at: isoTime(expiresAt) }, 201)
  })

  const open = createRoute({
    method: 'get',
    path: '/api/v1/password-resets/open',
    summary: 'Read whose password a link sets',
    request: { query: strictObject({ token: z.string().max(200) }) },
    responses: { 200: json('A link that can be used', OpenSchema), ...problems('invalid_field', 'reset_not_found', 'account_not_found', 'internal_error', 'store_unavailable') },
  })
  api.openapi(open, async (c) => {
    const { account, expiresAt } = await openPasswordReset(store, c.req.valid('query').token, clock())
    return c.json({ object: 'password_reset' as const, email: account.email, name: account.name, expires_at: isoTime(expiresAt) }, 200)
  })

  const accept = createRoute({
    method: 'post',
    path: '/api/v1/password-resets/accept',
    summary: 'Set the password that a link is for, and sign in',
    description: 'All other sessions of the account end.',
    ...unguarded,
    request: { body: jsonContent(Accepted) },
    responses: { 201: json('Signed in', SignedInSchema), ...problems('reset_not_found', 'account_not_found', ...UNGUARDED_PROBLEMS) },
  })
  api.openapi(accept, async (c) => {
    const { token, ...person } = c.req.valid('json')
    const who = { ...person, address: c.get('client').address }
    return c.json(await welcome(c, store, plans, await acceptPasswordReset(store, token, who, clock()), clock()), 201)
  })

  return api
}
