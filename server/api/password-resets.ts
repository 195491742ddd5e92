// /api/v1/accounts/{id}/reset-password and /api/v1/password-resets: links by which a person sets a
// new password.
import { z } from '@hono/zod-openapi'
import {
  acceptPasswordReset,
  createPasswordReset,
  openPasswordReset,
  passwordResetPath,
} from '../accounts/password-resets.ts'
import type { Plans } from '../accounts/plans.ts'
import type { Api } from './api.ts'
import { isoTime } from '../common/clock.ts'
import { strictObject } from './request/strict.ts'
import { created, ok, route, routes } from './route.ts'
import type { Store } from '../store/store.ts'
import { SignedInSchema, email, newPassword, startSession } from './session.ts'

const ResetSchema = z
  .object({
    object: z.literal('password_reset'),
    account_id: z.string(),
    link: z.url().openapi({ description: 'Send it to the person. It is not shown again.' }),
    expires_at: z.iso.datetime(),
  })
  .openapi('PasswordReset')

const OpenSchema = z.object({
  object: z.literal('password_reset'),
  email: z.string().nullable().openapi({
    description: 'The e-mail address to sign in with; null if the account has none yet.',
  }),
  name: z.string(),
  expires_at: z.iso.datetime(),
})

const Accepted = strictObject({
  token: z.string().max(200),
  email: email.nullable().default(null).openapi({ description: 'For an account without one.' }),
  password: newPassword,
})

/** The routes of password reset links. */
export function passwordResetRoutes(store: Store, plans: Plans, clock: () => number): Api {
  return routes(store, clock, [
    route({
      method: 'post',
      path: '/api/v1/accounts/{id}/reset-password',
      summary: 'Create a password reset link (administrators)',
      description:
        'The link works once, within 24 hours, and replaces older links of the account. The password stays valid until the link is used.',
      access: 'admin',
      response: created('The link', ResetSchema),
      problems: ['account_not_found'],
      act: async ({ params, now, context }) => {
        const { account, token, expiresAt } = await createPasswordReset(store, params.id, now)
        const link = `${context.get('client').origin}${passwordResetPath(token)}`
        return {
          object: 'password_reset' as const,
          account_id: account.id,
          link,
          expires_at: isoTime(expiresAt),
        }
      },
    }),
    route({
      method: 'get',
      path: '/api/v1/password-resets/open',
      summary: 'Read which account a password reset link is for',
      access: 'public',
      query: strictObject({ token: z.string().max(200) }),
      response: ok('A link that can be used', OpenSchema),
      problems: ['reset_not_found', 'account_not_found'],
      act: async ({ query, now }) => {
        const { account, expiresAt } = await openPasswordReset(store, query.token, now)
        return {
          object: 'password_reset' as const,
          email: account.email,
          name: account.name,
          expires_at: isoTime(expiresAt),
        }
      },
    }),
    route({
      method: 'post',
      path: '/api/v1/password-resets/accept',
      summary: 'Set a new password with a reset link, and sign in',
      description: 'All other sessions of the account end.',
      access: 'sign_in',
      body: Accepted,
      response: created('Signed in', SignedInSchema),
      problems: ['reset_not_found', 'account_not_found'],
      act: async ({ body: { token, ...person }, now, context }) => {
        const who = { ...person, address: context.get('client').address }
        return startSession(
          context,
          store,
          plans,
          await acceptPasswordReset(store, token, who, now),
          clock(),
        )
      },
    }),
  ])
}
