// /api/v1/session and /api/v1/setup: the first account, signing in and out, the password.
import { z } from '@hono/zod-openapi'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { showAccount } from '../accounts/accounts.ts'
import type { Plans } from '../accounts/plans.ts'
import { SESSION_MS, changePassword, signIn, signOut, type SignedIn } from '../accounts/sessions.ts'
import { SIGN_IN, setUpByLink, setupRequired } from '../accounts/setup.ts'
import { type Api, type ApiContext } from './api.ts'
import { SESSION_COOKIE, requireCaller, authenticateCaller } from './guard.ts'
import { Problem } from '../common/errors.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import { AccountSchema } from './accounts.ts'

/** An e-mail address to sign in with, in lower case. */
export const email = z
  .string()
  .trim()
  .max(SIGN_IN.email.most)
  .regex(SIGN_IN.email.form, 'Must look like name@example.com.')
  .transform((text) => text.toLowerCase())
  .openapi({ type: 'string', description: 'Case-insensitive.' })
const { least, most } = SIGN_IN.password
/** A password that is being set. */
export const newPassword = z
  .string()
  .min(least, `Must have at least ${least} characters.`)
  .max(most, `Must have at most ${most} characters.`)
/** A password to verify. Without rules, so that every wrong one gets the same response. */
const password = z.string().max(1024)

/** The response to a sign-in. */
export const SignedInSchema = z
  .object({ object: z.literal('session'), account: AccountSchema })
  .openapi('SignedIn')
const SessionSchema = z
  .object({
    object: z.literal('session'),
    setup_required: z.boolean().openapi({
      description:
        'The first account has no password yet: follow the link that the server printed.',
    }),
    // Not `.nullable()`, which would make the named schema nullable everywhere in /openapi.json.
    account: z.union([AccountSchema, z.null()]).openapi({
      description:
        'The account of the session, or of a token with the scope "manage"; otherwise null.',
    }),
  })
  .openapi('Session')

/** Starts a session and sets its cookie. @returns the response, a `SignedIn` */
export async function startSession(
  c: ApiContext,
  store: Store,
  plans: Plans,
  { account, cookie }: SignedIn,
  now: number,
) {
  setCookie(c, SESSION_COOKIE, cookie, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: c.get('client').secure,
    maxAge: SESSION_MS / 1000,
  })
  return { object: 'session' as const, account: await showAccount(store, plans, account, now) }
}

const SetUp = strictObject({ token: z.string().max(200), email, password: newPassword })
const SignIn = strictObject({
  email: z
    .string()
    .trim()
    .max(1024)
    .transform((text) => text.toLowerCase())
    .openapi({ type: 'string' }),
  password,
})

/** The routes of sessions and of the first account. @param token the setup link's */
export function sessionRoutes(store: Store, plans: Plans, clock: () => number, token: string): Api {
  return routes(store, clock, [
    readRoute(store, plans),
    setUpRoute(store, plans, clock, token),
    signInRoute(store, plans, clock),
    signOutRoute(store),
    passwordRoute(store),
  ])
}

function readRoute(store: Store, plans: Plans): Route {
  return route({
    method: 'get',
    path: '/api/v1/session',
    summary: 'Read the current session',
    access: 'public',
    response: ok('The session, signed in or not', SessionSchema),
    act: async ({ now, context }) => {
      const caller = await authenticateCaller(context, store, now).catch((error: unknown) => {
        if (error instanceof Problem) return undefined
        throw error
      })
      context.set('caller', caller)
      const account = caller?.scopes.includes('manage')
        ? await showAccount(store, plans, caller.account, now)
        : null
      return { object: 'session' as const, setup_required: await setupRequired(store), account }
    },
  })
}

function setUpRoute(store: Store, plans: Plans, clock: () => number, token: string): Route {
  return route({
    method: 'post',
    path: '/api/v1/setup',
    summary: 'Create the first account, with the token of the setup link',
    access: 'sign_in',
    body: SetUp,
    response: created('Signed in as the first account', SignedInSchema),
    problems: ['invalid_token', 'setup_closed'],
    act: async ({ body: { token: given, ...person }, now, context }) => {
      const who = { ...person, address: context.get('client').address }
      return startSession(
        context,
        store,
        plans,
        await setUpByLink(store, token, given, who, now),
        clock(),
      )
    },
  })
}

function signInRoute(store: Store, plans: Plans, clock: () => number): Route {
  return route({
    method: 'post',
    path: '/api/v1/session',
    summary: 'Sign in',
    access: 'sign_in',
    body: SignIn,
    response: created('Signed in', SignedInSchema),
    problems: ['invalid_credentials'],
    act: async ({ body, now, context }) => {
      const who = { ...body, address: context.get('client').address }
      return startSession(
        context,
        store,
        plans,
        await signIn(store, who, getCookie(context, SESSION_COOKIE), now),
        clock(),
      )
    },
  })
}

function signOutRoute(store: Store): Route {
  return route({
    method: 'delete',
    path: '/api/v1/session',
    summary: 'Sign out',
    access: 'manage',
    response: done('Signed out'),
    act: async ({ context }) => {
      await signOut(store, sessionOf(context))
      deleteCookie(context, SESSION_COOKIE, { path: '/' })
    },
  })
}

function passwordRoute(store: Store): Route {
  return route({
    method: 'post',
    path: '/api/v1/session/password',
    summary: 'Change the password, and end the other sessions of the account',
    access: 'manage',
    body: strictObject({ current: password, password: newPassword }),
    response: done('Changed'),
    problems: ['invalid_credentials', 'too_many_attempts'],
    act: async ({ body, caller: { account }, now, context }) => {
      const session = { account, sessionId: sessionOf(context) }
      await changePassword(store, session, { ...body, address: context.get('client').address }, now)
    },
  })
}

/** The session of a request. @throws Problem if it was authenticated by a token */
function sessionOf(c: ApiContext): string {
  const { sessionId } = requireCaller(c)
  if (sessionId === null)
    throw new Problem(
      'insufficient_scope',
      'This call is for signed-in browsers: an API token has no session and no password.',
    )
  return sessionId
}
