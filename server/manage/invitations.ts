// /api/v1/invitations: links that make an account. Administrators make them; whoever holds one uses it.
import { z } from '@hono/zod-openapi'
import { acceptInvitation, countInvitations, createInvitation, deleteInvitation, listInvitations, openInvitation } from '../accounts/invitations.ts'
import { FREE, type Plans } from '../accounts/plans.ts'
import { IdParams, PageQuery, answers, countedListOf, createRoute, done, guarded, json, jsonContent, newApi, page, problems, type Api } from '../api.ts'
import { strictObject } from '../request/strict.ts'
import type { Store } from '../store/open.ts'
import { knownPlan } from './accounts.ts'
import { SignedInSchema, UNGUARDED_PROBLEMS, email, newPassword, unguarded, welcome } from './session.ts'

const InvitationSchema = z
  .object({
    id: z.string(),
    object: z.literal('invitation'),
    email: z.string().nullable().openapi({ description: 'The person it is meant for; the form suggests this address.' }),
    plan: z.string(),
    status: z.enum(['open', 'accepted', 'expired']),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    account_id: z.string().nullable().openapi({ description: 'The account that was made with it.' }),
  })
  .openapi('Invitation')

const NewInvitationSchema = InvitationSchema.extend({ link: z.url().openapi({ description: 'For the invited person to open. It is not shown again.' }) }).openapi('NewInvitation')

/** The routes of invitations. */
export function invitationRoutes(store: Store, plans: Plans, clock: () => number): Api {
  const api = newApi()
  const guard = guarded(store, clock, 'admin')

  const list = createRoute({
    method: 'get',
    path: '/api/v1/invitations',
    summary: 'List invitations, newest first (administrators)',
    ...guard,
    request: { query: PageQuery },
    responses: answers(200, 'A page of invitations', countedListOf(InvitationSchema)),
  })
  api.openapi(list, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [rows, total] = await Promise.all([listInvitations(store, limit + 1, cursor, clock()), countInvitations(store)])
    return c.json({ ...page(rows, limit), total }, 200)
  })

  const create = createRoute({
    method: 'post',
    path: '/api/v1/invitations',
    summary: 'Invite somebody by a link (administrators)',
    ...guard,
    request: { body: jsonContent(strictObject({ email: email.nullable().default(null), plan: z.string().default(FREE) })) },
    responses: answers(201, 'The invitation, with its link', NewInvitationSchema),
  })
  api.openapi(create, async (c) => {
    const { email, plan } = c.req.valid('json')
    const { invitation, token } = await createInvitation(store, { email, plan: knownPlan(plans, plan) }, clock())
    return c.json({ ...invitation, link: `${c.get('client').origin}/invite?token=${token}` }, 201)
  })

  const open = createRoute({
    method: 'get',
    path: '/api/v1/invitations/open',
    summary: 'Read the invitation that a link is for',
    request: { query: strictObject({ token: z.string().max(200) }) },
    responses: {
      200: json('An invitation that can be accepted', z.object({ object: z.literal('invitation'), email: z.string().nullable(), expires_at: z.iso.datetime() })),
      ...problems('invalid_field', 'invitation_not_found', 'internal_error', 'store_unavailable'),
    },
  })
  api.openapi(open, async (c) => {
    const { object, email, expires_at } = await openInvitation(store, c.req.valid('query').token, clock())
    return c.json({ object, email, expires_at }, 200)
  })

  const accept = createRoute({
    method: 'post',
    path: '/api/v1/invitations/accept',
    summary: 'Make the account that a link is for, and sign in',
    ...unguarded,
    request: { body: jsonContent(strictObject({ token: z.string().max(200), email, password: newPassword })) },
    responses: { 201: json('Signed in as the new account', SignedInSchema), ...problems('invitation_not_found', ...UNGUARDED_PROBLEMS) },
  })
  api.openapi(accept, async (c) => {
    const { token, ...person } = c.req.valid('json')
    const who = { ...person, address: c.get('client').address }
    return c.json(await welcome(c, store, plans, await acceptInvitation(store, token, who, clock()), clock()), 201)
  })

  const remove = createRoute({
    method: 'delete',
    path: '/api/v1/invitations/{id}',
    summary: 'Take an invitation back (administrators)',
    ...guard,
    request: { params: IdParams },
    responses: done('Taken back', 'invitation_not_found'),
  })
  api.openapi(remove, async (c) => {
    await deleteInvitation(store, c.req.valid('param').id)
    return c.body(null, 204)
  })

  return api
}
