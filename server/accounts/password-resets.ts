// Links to set a new or first password. An administrator creates one, or the command line on the
// server's own store.
import { DAY } from '../common/clock.ts'
import { Problem, invalidField } from '../common/errors.ts'
import { createSecret, matchesHash, parsePublicId } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run } from '../store/procedure.ts'
import type { AccountRow, PasswordResetRow } from '../store/schema.ts'
import { getAccount, isTaken } from './accounts.ts'
import { hashPassword, queued } from './passwords.ts'
import { insertSession, createSession, type NewSession, type SignedIn } from './sessions.ts'

/** How long a link works. */
const OPEN_MS = DAY

/** A new link. */
export interface PasswordReset {
  account: AccountRow
  /** The secret in the link; not stored. See `passwordResetPath`. */
  token: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/**
 * Creates the link of an account and replaces an older one. The password stays valid until the link
 * is used.
 *
 * @throws Problem `account_not_found`; `invalid_field` if the account is disabled
 */
export async function createPasswordReset(
  store: Store,
  accountId: string,
  now: number,
): Promise<PasswordReset> {
  const account = await getAccount(store, accountId)
  if (account.disabled === 1)
    throw new Problem('invalid_field', 'The account is disabled. Enable it first.')
  const { secret, publicId, hash } = createSecret('tmr')
  const row: PasswordResetRow = {
    account_id: accountId,
    public_id: publicId,
    hash,
    created_at: now,
    expires_at: now + OPEN_MS,
  }
  await store.db
    .insertInto('password_resets')
    .values(row)
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute()
  return { account, token: secret, expiresAt: row.expires_at }
}

/** Path of the page that a link opens. */
export function passwordResetPath(token: string): string {
  return `/reset-password?token=${token}`
}

/**
 * The account of a link.
 *
 * @throws Problem `reset_not_found`, whether it was used, has expired or never existed
 */
export async function openPasswordReset(
  store: Store,
  token: string,
  now: number,
): Promise<{ account: AccountRow; expiresAt: number; publicId: string }> {
  const publicId = parsePublicId('tmr', token)
  const row =
    publicId === undefined
      ? undefined
      : await store.db
          .selectFrom('password_resets')
          .selectAll()
          .where('public_id', '=', publicId)
          .executeTakeFirst()
  if (!row || !matchesHash(token, row.hash) || row.expires_at <= now) throw linkNotFound()
  const account = await getAccount(store, row.account_id)
  if (account.disabled === 1) throw linkNotFound()
  return { account, expiresAt: row.expires_at, publicId: row.public_id }
}

type ResetInput = {
  publicId: string
  email: string | null
  password: string
  session: NewSession
  now: number
}

/**
 * Uses a link: sets the password of its account and ends its sessions, or returns the reason why
 * not.
 */
export const resetOnce = procedure(
  import.meta.url,
  'resetOnce',
  function* (db, { publicId, email, password, session, now }: ResetInput) {
    const link = yield* first(
      db
        .selectFrom('password_resets')
        .selectAll()
        .where('public_id', '=', publicId)
        .where('expires_at', '>', now),
    )
    const account =
      link &&
      (yield* first(
        db
          .selectFrom('accounts')
          .selectAll()
          .where('id', '=', link.account_id)
          .where('disabled', '=', 0),
      ))
    if (!account) return 'gone' as const
    const address = account.email ?? email
    if (address === null) return 'nameless' as const
    if (yield* isTaken(db, 'email', address, account.id)) return 'taken' as const
    yield* run(db.deleteFrom('password_resets').where('account_id', '=', account.id))
    yield* run(db.deleteFrom('sessions').where('account_id', '=', account.id))
    yield* run(db.updateTable('accounts').set({ email: address }).where('id', '=', account.id))
    const row = { account_id: account.id, hash: password }
    yield* run(
      db
        .insertInto('passwords')
        .values(row)
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row)),
    )
    yield* insertSession(db, session, account.id)
    return { ...account, email: address }
  },
)

/**
 * Sets the password of a link's account, and signs it in. All its sessions end.
 *
 * @param email for an account without one; otherwise ignored
 * @throws Problem `reset_not_found`; `invalid_field` if an e-mail is missing or belongs to another
 *   account; `too_many_attempts`
 */
export async function acceptPasswordReset(
  store: Store,
  token: string,
  { email, password, address }: { email: string | null; password: string; address: string },
  now: number,
): Promise<SignedIn> {
  const { account, publicId } = await openPasswordReset(store, token, now)
  if (account.email === null && email === null) throw emailWanted()
  const hash = await queued({ address, owner: account.id }, () => hashPassword(password))
  const { cookie, session } = createSession(now)
  const changed = await store.run(resetOnce, { publicId, email, password: hash, session, now })
  if (changed === 'gone') throw linkNotFound()
  if (changed === 'nameless') throw emailWanted()
  if (changed === 'taken')
    throw invalidField('email', 'An account with this address already exists. Use another address.')
  return { account: changed, cookie }
}

function emailWanted(): Problem {
  return invalidField(
    'email',
    'This field is required: the account has no e-mail address yet and needs one to sign in.',
  )
}

function linkNotFound(): Problem {
  return new Problem(
    'reset_not_found',
    'This link was used, has expired or was replaced by a newer one. Ask an administrator for another one.',
  )
}
