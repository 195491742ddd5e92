// /api/v1/invitations: links that create an account. Administrators make them; no sign-in is needed
// to use one.
import { z } from '@hono/zod-openapi'
import {
  acceptInvitation,
  countInvitations,
  createInvitation,
  deleteInvitation,
  listInvitations,
  openInvitation,
} from '../accounts/invitations.ts'
import { FREE, type Plans } from '../accounts/plans.ts'
import { PageQuery, countedListOf, page, type Api } from './api.ts'
import { strictObject } from './request/strict.ts'
import { created, done, ok, route, routes, type Route } from './route.ts'
import type { Store } from '../store/store.ts'
import { planError } from './accounts.ts'
import { SignedInSchema, email, newPassword, startSession } from './session.ts'

const InvitationSchema = z
  .object({
    id: z.string(),
    object: z.literal('invitation'),
    email: z
      .string()
      .nullable()
      .openapi({ description: 'The invited person; the form suggests this address.' }),
    plan: z.string(),
    status: z.enum(['open', 'accepted', 'expired']),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    account_id: z
      .string()
      .nullable()
      .openapi({ description: 'The account that was created with it.' }),
  })
  .openapi('Invitation')

const NewInvitationSchema = InvitationSchema.extend({
  link: z.url().openapi({ description: 'Send it to the invited person. It is not shown again.' }),
}).openapi('NewInvitation')

const OpenSchema = z.object({
  object: z.literal('invitation'),
  email: z.string().nullable(),
  expires_at: z.iso.datetime(),
})
const Wanted = strictObject({
  email: email.nullable().default(null),
  plan: z.string().default(FREE),
})
const Accepted = strictObject({ token: z.string().max(200), email, password: newPassword })

/** The routes of invitations. */
export function invitationRoutes(store: Store, plans: Plans, clock: () => number): Api {
  return routes(store, clock, [
    listRoute(store),
    createRoute(store, plans),
    readOpenRoute(store),
    acceptRoute(store, plans, clock),
    deleteRoute(store),
  ])
}

function listRoute(store: Store): Route {
  return route({
    method: 'get',
    path: '/api/v1/invitations',
    summary: 'List invitations, newest first (administrators)',
    access: 'admin',
    query: PageQuery,
    response: ok('A page of invitations', countedListOf(InvitationSchema)),
    act: async ({ query: { limit, cursor }, now }) => {
      const [rows, total] = await Promise.all([
        listInvitations(store, limit + 1, cursor, now),
        countInvitations(store),
      ])
      return { ...page(rows, limit), total }
    },
  })
}

function createRoute(store: Store, plans: Plans): Route {
  return route({
    method: 'post',
    path: '/api/v1/invitations',
    summary: 'Create an invitation link (administrators)',
    access: 'admin',
    body: Wanted,
    check: (_, { plan }) => [planError(plans, plan)],
    response: created('The invitation, with its link', NewInvitationSchema),
    act: async ({ body, now, context }) => {
      const { invitation, token } = await createInvitation(store, body, now)
      return { ...invitation, link: `${context.get('client').origin}/invite?token=${token}` }
    },
  })
}

function readOpenRoute(store: Store): Route {
  return route({
    method: 'get',
    path: '/api/v1/invitations/open',
    summary: 'Read the invitation that a link is for',
    access: 'public',
    query: strictObject({ token: z.string().max(200) }),
    response: ok('An invitation that can be accepted', OpenSchema),
    problems: ['invitation_not_found'],
    act: async ({ query, now }) => {
      const { object, email, expires_at } = await openInvitation(store, query.token, now)
      return { object, email, expires_at }
    },
  })
}

function acceptRoute(store: Store, plans: Plans, clock: () => number): Route {
  return route({
    method: 'post',
    path: '/api/v1/invitations/accept',
    summary: 'Accept an invitation: create the account and sign in',
    access: 'sign_in',
    body: Accepted,
    response: created('Signed in as the new account', SignedInSchema),
    problems: ['invitation_not_found'],
    act: async ({ body: { token, ...person }, now, context }) => {
      const who = { ...person, address: context.get('client').address }
      return startSession(
        context,
        store,
        plans,
        await acceptInvitation(store, token, who, now),
        clock(),
      )
    },
  })
}

function deleteRoute(store: Store): Route {
  return route({
    method: 'delete',
    path: '/api/v1/invitations/{id}',
    summary: 'Revoke an invitation (administrators)',
    access: 'admin',
    response: done('Revoked'),
    problems: ['invitation_not_found'],
    act: ({ params }) => deleteInvitation(store, params.id),
  })
}
