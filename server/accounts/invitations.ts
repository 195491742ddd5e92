// Invitations: a link that creates one account, once, within a week.
import { DAY, isoTime } from '../common/clock.ts'
import { Problem, invalidField } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import { createSecret, matchesHash, parsePublicId } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run } from '../store/procedure.ts'
import type { AccountRow, InvitationRow } from '../store/schema.ts'
import { hashPassword, queued } from './passwords.ts'
import { insertSession, createSession, type NewSession, type SignedIn } from './sessions.ts'

const OPEN_MS = 7 * DAY

/** An invitation as the API shows it. */
export interface Invitation {
  id: string
  object: 'invitation'
  /** Address of the invited person; the form suggests it. */
  email: string | null
  plan: string
  status: 'open' | 'accepted' | 'expired'
  created_at: string
  expires_at: string
  /** The account that was created with it. */
  account_id: string | null
}

/** Creates an invitation. The token is in its link and is not stored. */
export async function createInvitation(
  store: Store,
  wanted: { email: string | null; plan: string },
  now: number,
): Promise<{ invitation: Invitation; token: string }> {
  const { secret, publicId, hash } = createSecret('tmi')
  const row: InvitationRow = {
    id: newId('inv', now),
    public_id: publicId,
    hash,
    ...wanted,
    created_at: now,
    expires_at: now + OPEN_MS,
    account_id: null,
  }
  await store.db.insertInto('invitations').values(row).execute()
  return { invitation: show(row, now), token: secret }
}

/** Invitations, newest first, after `cursor` (the id of the last one seen). */
export async function listInvitations(
  store: Store,
  limit: number,
  cursor: string | undefined,
  now: number,
): Promise<Invitation[]> {
  let query = store.db.selectFrom('invitations').selectAll().orderBy('id', 'desc').limit(limit)
  if (cursor !== undefined) query = query.where('id', '<', cursor)
  return (await query.execute()).map((row) => show(row, now))
}

/** Number of invitations. */
export async function countInvitations(store: Store): Promise<number> {
  return Number(
    (
      await store.db
        .selectFrom('invitations')
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirst()
    )?.count ?? 0,
  )
}

/**
 * Revokes an invitation. An account created with it stays.
 *
 * @throws Problem `invitation_not_found`
 */
export async function deleteInvitation(store: Store, id: string): Promise<void> {
  const [deleted] = await store.write(store.db.deleteFrom('invitations').where('id', '=', id))
  if (deleted?.affected !== 1)
    throw new Problem(
      'invitation_not_found',
      'No invitation has this id. GET /api/v1/invitations lists them.',
    )
}

/**
 * The open invitation of a link.
 *
 * @throws Problem `invitation_not_found`, whether it was used, has expired or never existed
 */
export async function openInvitation(
  store: Store,
  token: string,
  now: number,
): Promise<Invitation> {
  return show(await findOpen(store, token, now), now)
}

async function findOpen(store: Store, token: string, now: number): Promise<InvitationRow> {
  const publicId = parsePublicId('tmi', token)
  const row =
    publicId === undefined
      ? undefined
      : await store.db
          .selectFrom('invitations')
          .selectAll()
          .where('public_id', '=', publicId)
          .executeTakeFirst()
  if (!row || !matchesHash(token, row.hash) || show(row, now).status !== 'open')
    throw linkNotFound()
  return row
}

type Acceptance = {
  id: string
  accountId: string
  email: string
  password: string
  session: NewSession
  now: number
}

/** Creates the account of an invitation, or returns the reason why not. */
export const acceptOnce = procedure(
  import.meta.url,
  'acceptOnce',
  function* (db, { id, accountId, email, password, session, now }: Acceptance) {
    const invitation = yield* first(
      db
        .selectFrom('invitations')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', 'is', null)
        .where('expires_at', '>', now),
    )
    if (!invitation) return 'gone' as const
    if (yield* first(db.selectFrom('accounts').select('id').where('email', '=', email)))
      return 'taken' as const
    const namesake = yield* first(db.selectFrom('accounts').select('id').where('name', '=', email))
    const account: AccountRow = {
      id: accountId,
      name: namesake ? `${email} (${accountId})` : email,
      email,
      plan: invitation.plan,
      role: 'member',
      created_at: now,
      disabled: 0,
    }
    yield* run(db.insertInto('accounts').values(account))
    yield* run(db.insertInto('passwords').values({ account_id: accountId, hash: password }))
    yield* run(db.updateTable('invitations').set({ account_id: accountId }).where('id', '=', id))
    yield* insertSession(db, session, accountId)
    return account
  },
)

/**
 * Creates the account of an invitation link, and signs it in.
 *
 * @throws Problem `invitation_not_found`; `invalid_field` if the e-mail has an account;
 *   `too_many_attempts` if too many callers wait
 */
export async function acceptInvitation(
  store: Store,
  token: string,
  { email, password, address }: { email: string; password: string; address: string },
  now: number,
): Promise<SignedIn> {
  const { id } = await findOpen(store, token, now)
  const hash = await queued({ address, owner: id }, () => hashPassword(password))
  const { cookie, session } = createSession(now)
  const accepted = await store.run(acceptOnce, {
    id,
    accountId: newId('acc', now),
    email,
    password: hash,
    session,
    now,
  })
  if (accepted === 'gone') throw linkNotFound()
  if (accepted === 'taken')
    throw invalidField(
      'email',
      'An account with this address already exists. Sign in with it, or use another address.',
    )
  return { account: accepted, cookie }
}

function linkNotFound(): Problem {
  return new Problem(
    'invitation_not_found',
    'This invitation was used, has expired or was revoked. Ask for a new link.',
  )
}

function show(row: InvitationRow, now: number): Invitation {
  const { id, email, plan, account_id } = row
  const status = account_id !== null ? 'accepted' : row.expires_at <= now ? 'expired' : 'open'
  return {
    id,
    object: 'invitation',
    email,
    plan,
    status,
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
    account_id,
  }
}
