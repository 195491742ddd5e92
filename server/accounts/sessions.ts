// Dashboard sessions, from sign-in to sign-out: a random cookie whose hash is stored.
import { DAY } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { createSecret, matchesHash, parsePublicId } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { AccountRow, SessionRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { admitAttempt, withAttempt } from './attempts.ts'
import { hashPassword, queued, matchesPassword } from './passwords.ts'
import { SCOPES, type Caller, type Scope } from './tokens.ts'

/** How long a session lasts, in milliseconds: 30 days. */
export const SESSION_MS = 30 * DAY

/** A new session, without its account. */
export type NewSession = Omit<SessionRow, 'account_id'>

/** An account with the cookie of its new session. */
export interface SignedIn {
  account: AccountRow
  cookie: string
}

/** Creates the cookie of a session, and the row to store. */
export function createSession(now: number): { cookie: string; session: NewSession } {
  const { secret, publicId, hash } = createSecret('tms')
  return {
    cookie: secret,
    session: { public_id: publicId, hash, created_at: now, expires_at: now + SESSION_MS },
  }
}

/** Stores a session, inside a procedure. */
export function* insertSession(
  db: QueryBuilder,
  session: NewSession,
  account: string,
): Steps<void> {
  yield* run(db.insertInto('sessions').values({ ...session, account_id: account }))
}

/**
 * Signs a person in with a new cookie, and ends the session of the browser's old one.
 *
 * @param who e-mail in lower case, password as typed, client address
 * @param old the cookie that the browser sent, valid or not
 * @throws Problem `invalid_credentials`, with the same sentence and timing whether the e-mail or
 *   the password was wrong; only the right password learns that an account is disabled;
 *   `too_many_attempts`
 */
export async function signIn(
  store: Store,
  who: { email: string; password: string; address: string },
  old: string | undefined,
  now: number,
): Promise<SignedIn> {
  const found = await store.db
    .selectFrom('accounts')
    .innerJoin('passwords', 'passwords.account_id', 'accounts.id')
    .selectAll('accounts')
    .select('passwords.hash')
    .where('accounts.email', '=', who.email)
    .executeTakeFirst()
  const isKnown = await admitAttempt(store, who, now)
  const right = await queued({ address: who.address, owner: isKnown ? who.email : null }, () =>
    withAttempt(store, who, now, () => matchesPassword(who.password, found?.hash ?? null)),
  )
  if (!right || !found) throw invalidCredentials('E-mail or password is wrong.')
  if (found.disabled === 1)
    throw invalidCredentials('This account is disabled. Ask an administrator.')
  const { cookie, session } = createSession(now)
  const { hash: password, ...account } = found
  const replaced = (old && (await callerBySession(store, old, now))?.sessionId) || null
  if (
    !(await store.run(insertIfUnchanged, { account: account.id, password, session, replaced, now }))
  )
    throw invalidCredentials('E-mail or password is wrong.')
  return { account, cookie }
}

type SignInInput = {
  account: string
  password: string
  session: NewSession
  replaced: string | null
  now: number
}

/** Stores a session unless the password was changed, or the account disabled, during the check. */
export const insertIfUnchanged = procedure(
  import.meta.url,
  'insertIfUnchanged',
  function* (db, { account, password, session, replaced, now }: SignInInput) {
    const unchanged = yield* first(
      db
        .selectFrom('passwords')
        .innerJoin('accounts', 'accounts.id', 'passwords.account_id')
        .select('account_id')
        .where('account_id', '=', account)
        .where('hash', '=', password)
        .where('disabled', '=', 0),
    )
    if (!unchanged) return false
    yield* run(db.deleteFrom('sessions').where('expires_at', '<=', now))
    if (replaced !== null) yield* run(db.deleteFrom('sessions').where('public_id', '=', replaced))
    yield* insertSession(db, session, account)
    return true
  },
)

/**
 * The caller that a cookie belongs to, or undefined if it is not valid. A malformed cookie costs no
 * query.
 */
export async function callerBySession(
  store: Store,
  cookie: string,
  now: number,
): Promise<Caller | undefined> {
  const publicId = parsePublicId('tms', cookie)
  const row =
    publicId === undefined
      ? undefined
      : await store.db
          .selectFrom('sessions')
          .selectAll()
          .where('public_id', '=', publicId)
          .executeTakeFirst()
  if (!row || !matchesHash(cookie, row.hash) || row.expires_at <= now) return undefined
  const account = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', row.account_id)
    .executeTakeFirstOrThrow()
  if (account.disabled === 1) return undefined
  return {
    account,
    tokenId: null,
    sessionId: row.public_id,
    scopes: Object.keys(SCOPES) as Scope[],
  }
}

/** Ends a session. */
export async function signOut(store: Store, sessionId: string): Promise<void> {
  await store.db.deleteFrom('sessions').where('public_id', '=', sessionId).execute()
}

/**
 * Changes the password of an account and ends its other sessions.
 *
 * @throws Problem `invalid_credentials` if the current password is wrong or has just been changed;
 *   `too_many_attempts`
 */
export async function changePassword(
  store: Store,
  { account, sessionId }: { account: AccountRow; sessionId: string },
  { current, password, address }: { current: string; password: string; address: string },
  now: number,
): Promise<void> {
  const stored = await store.db
    .selectFrom('passwords')
    .select('hash')
    .where('account_id', '=', account.id)
    .executeTakeFirst()
  const who = { email: account.email ?? account.id, address }
  await admitAttempt(store, who, now)
  const hash = await queued({ address, owner: who.email }, async () => {
    if (!(await withAttempt(store, who, now, () => matchesPassword(current, stored?.hash ?? null))))
      throw invalidCredentials('The current password is wrong.')
    return hashPassword(password)
  })
  const replacing = { account: account.id, sessionId, old: stored?.hash ?? '', hash }
  if (!(await store.run(replaceIfUnchanged, replacing)))
    throw invalidCredentials('The session has ended, or the password has been changed since.')
}

type PasswordChange = { account: string; sessionId: string; old: string; hash: string }

/**
 * Replaces a password and ends the other sessions, unless this session ended or the password
 * changed during the check.
 */
export const replaceIfUnchanged = procedure(
  import.meta.url,
  'replaceIfUnchanged',
  function* (db, { account, sessionId, old, hash }: PasswordChange) {
    if (
      !(yield* first(
        db.selectFrom('sessions').select('public_id').where('public_id', '=', sessionId),
      ))
    )
      return false
    if (
      (yield* run(
        db
          .updateTable('passwords')
          .set({ hash })
          .where('account_id', '=', account)
          .where('hash', '=', old),
      )) === 0
    )
      return false
    yield* run(
      db
        .deleteFrom('sessions')
        .where('account_id', '=', account)
        .where('public_id', '!=', sessionId),
    )
    return true
  },
)

function invalidCredentials(detail: string): Problem {
  return new Problem('invalid_credentials', detail)
}
