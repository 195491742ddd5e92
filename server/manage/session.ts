// /api/v1/session and /api/v1/setup: the first account, signing in and out, the password.
import { z } from '@hono/zod-openapi'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { showAccount } from '../accounts/accounts.ts'
import type { Plans } from '../accounts/plans.ts'
import { SESSION_MS, changePassword, signIn, signOut, type SignedIn } from '../accounts/sessions.ts'
import { SIGN_IN, setUpByLink, setupRequired } from '../accounts/setup.ts'
import { SESSION_COOKIE, callerOf, createRoute, done, guarded, json, jsonBody, jsonContent, newApi, problems, prove, refuseOtherSites, type Api, type ApiContext } from '../api.ts'
import { Problem } from '../errors.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { AccountSchema } from './accounts.ts'

export const email = z
  .string()
  .trim()
  .max(SIGN_IN.email.most)
  .regex(SIGN_IN.email.form, 'it must look like name@example.com')
  .transform((text) => text.toLowerCase())
  .openapi({ type: 'string', description: 'Upper and lower case are the same.' })
const { least, most } = SIGN_IN.password
export const newPassword = z.string().min(least, `it must have ${least} characters at least`).max(most, `it must have ${most} characters at most`)
/** What is compared only: whatever it is, it is refused as a wrong one. */
const password = z.string().max(1024)

export const SignedInSchema = z.object({ object: z.literal('session'), account: AccountSchema }).openapi('SignedIn')
const SessionSchema = z
  .object({
    object: z.literal('session'),
    setup_required: z.boolean().openapi({ description: 'The first account has no password yet: follow the link that the server printed.' }),
    // Not `.nullable()`, which would make every account in the description nullable.
    account: z.union([AccountSchema, z.null()]).openapi({ description: 'Who is signed in; null means nobody.' }),
  })
  .openapi('Session')

/** What the routes need that sign a browser in without one who is signed in: nothing but to come from a page of ours, or from no page. */
export const unguarded = {
  middleware: async (c: ApiContext, next: () => Promise<void>): Promise<void> => {
    refuseOtherSites(c)
    await jsonBody(c, next)
  },
}
export const UNGUARDED_PROBLEMS = ['invalid_field', 'request_timeout', 'file_too_large', 'cross_site_request', 'too_many_attempts', 'internal_error', 'store_unavailable'] as const

/** Gives a browser the cookie of its new session. @returns what it is answered, a `SignedIn` */
export async function welcome(c: ApiContext, store: Store, plans: Plans, { account, cookie }: SignedIn, now: number) {
  setCookie(c, SESSION_COOKIE, cookie, { path: '/', httpOnly: true, sameSite: 'Strict', secure: c.get('client').secure, maxAge: SESSION_MS / 1000 })
  return { object: 'session' as const, account: await showAccount(store, plans, account, now) }
}

/** The routes of sessions and of the first account. `token` is that of the link. */
export function sessionRoutes(store: Store, plans: Plans, clock: () => number, token: string): Api {
  const api = newApi()
  const guard = guarded(store, clock)

  const read = createRoute({
    method: 'get',
    path: '/api/v1/session',
    summary: 'Who is signed in',
    responses: { 200: json('The session, also where nobody is signed in', SessionSchema), ...problems('internal_error', 'store_unavailable') },
  })
  api.openapi(read, async (c) => {
    const caller = await prove(c, store, clock()).catch((error: unknown) => {
      if (error instanceof Problem) return undefined
      throw error
    })
    c.set('caller', caller)
    const account = caller ? await showAccount(store, plans, caller.account, clock()) : null
    return c.json({ object: 'session' as const, setup_required: await setupRequired(store), account }, 200)
  })

  const setUp = createRoute({
    method: 'post',
    path: '/api/v1/setup',
    summary: 'Make the first account, with the token of the link that the server printed',
    ...unguarded,
    request: { body: jsonContent(strictObject({ token: z.string().max(200), email, password: newPassword })) },
    responses: { 201: json('Signed in as the first account', SignedInSchema), ...problems('invalid_token', 'setup_closed', ...UNGUARDED_PROBLEMS) },
  })
  api.openapi(setUp, async (c) => {
    const { token: given, ...person } = c.req.valid('json')
    const who = { ...person, address: c.get('client').address }
    return c.json(await welcome(c, store, plans, await setUpByLink(store, token, given, who, clock()), clock()), 201)
  })

  const create = createRoute({
    method: 'post',
    path: '/api/v1/session',
    summary: 'Sign in',
    ...unguarded,
    request: { body: jsonContent(strictObject({ email: z.string().trim().max(1024).transform((text) => text.toLowerCase()).openapi({ type: 'string' }), password })) },
    responses: { 201: json('Signed in', SignedInSchema), ...problems('invalid_credentials', ...UNGUARDED_PROBLEMS) },
  })
  api.openapi(create, async (c) => {
    const who = { ...c.req.valid('json'), address: c.get('client').address }
    return c.json(await welcome(c, store, plans, await signIn(store, who, getCookie(c, SESSION_COOKIE), clock()), clock()), 201)
  })

  const remove = createRoute({
    method: 'delete',
    path: '/api/v1/session',
    summary: 'Sign out',
    ...guard,
    responses: done('Signed out'),
  })
  api.openapi(remove, async (c) => {
    await signOut(store, sessionOf(c))
    deleteCookie(c, SESSION_COOKIE, { path: '/' })
    return c.body(null, 204)
  })

  const change = createRoute({
    method: 'post',
    path: '/api/v1/session/password',
    summary: 'Change the password, and end the other sessions of the account',
    ...guard,
    request: { body: jsonContent(strictObject({ current: password, password: newPassword })) },
    responses: done('Changed', 'invalid_credentials', 'too_many_attempts'),
  })
  api.openapi(change, async (c) => {
    const { account } = callerOf(c)
    await changePassword(store, { account, sessionId: sessionOf(c) }, { ...c.req.valid('json'), address: c.get('client').address }, clock())
    return c.body(null, 204)
  })

  return api
}

/** The session that a request comes with. @throws Problem where it is a token's */
function sessionOf(c: ApiContext): string {
  const { sessionId } = callerOf(c)
  if (sessionId === null) throw new Problem('insufficient_scope', 'This is for signed-in browsers. An API token has neither session nor password.')
  return sessionId
}
