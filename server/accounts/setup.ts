// First run: until an administrator has a password, a link (or two settings) sets one for the first
// account.
import { createHmac } from 'node:crypto'
import { Problem, invalidField, SetupError } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import { isSecret } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run } from '../store/procedure.ts'
import type { AccountRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { findOrCreateAccount, isTaken, type NewAccount } from './accounts.ts'
import { hashPassword, queued } from './passwords.ts'
import { FREE } from './plans.ts'
import { insertSession, createSession, type NewSession, type SignedIn } from './sessions.ts'

/** TABLE of rules for e-mail addresses and passwords. */
export const SIGN_IN = {
  /**
   * Stricter than mail servers, because no mail is sent: one @, no invisible characters,
   * case-insensitive.
   */
  email: { form: /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u, most: 254 },
  password: { least: 10, most: 256 },
} as const

/**
 * The token of the setup link, derived from the master key: the same in every process and at every
 * start, and never stored.
 */
export function setupToken(master: Buffer): string {
  return createHmac('sha256', master).update('tollmark first account').digest('base64url')
}

/** An administrator who can sign in. */
function anyAdmin(db: QueryBuilder) {
  return db
    .selectFrom('passwords')
    .innerJoin('accounts', 'accounts.id', 'passwords.account_id')
    .select('account_id')
    .where('role', '=', 'admin')
    .limit(1)
}

/** Whether the first account still has to be set up. */
export async function setupRequired(store: Store): Promise<boolean> {
  return (await anyAdmin(store.db).executeTakeFirst()) === undefined
}

type SetupInput = {
  choice: NewAccount
  email: string
  password: string
  session: NewSession | null
}

/**
 * Sets e-mail and password of the first account, which it creates if needed. Undefined if an
 * administrator has a password; `taken` if the e-mail is another account's.
 */
export const setUpFirst = procedure(
  import.meta.url,
  'setUpFirst',
  function* (db, { choice, email, password, session }: SetupInput) {
    if (yield* first(anyAdmin(db))) return undefined
    const account: AccountRow = yield* findOrCreateAccount(db, choice)
    if (yield* isTaken(db, 'email', email, account.id)) return 'taken' as const
    yield* run(db.updateTable('accounts').set({ email, disabled: 0 }).where('id', '=', account.id))
    yield* run(db.insertInto('passwords').values({ account_id: account.id, hash: password }))
    if (session) yield* insertSession(db, session, account.id)
    return { ...account, email, disabled: 0 }
  },
)

/**
 * Sets up the first account through the link, and signs it in.
 *
 * @param expected the token of the link; `given`: the one in the request
 * @throws Problem `setup_closed`; `invalid_token`; `invalid_field` if the e-mail has an account;
 *   `too_many_attempts` if too many callers wait
 */
export async function setUpByLink(
  store: Store,
  expected: string,
  given: string,
  who: { email: string; password: string; address: string },
  now: number,
): Promise<SignedIn> {
  if (!(await setupRequired(store))) throw setupClosed()
  if (!isSecret(given, expected))
    throw new Problem(
      'invalid_token',
      'This is not the link that the server printed. Look for it in the output of the server: in its terminal, "journalctl" or "docker logs".',
    )
  const { cookie, session } = createSession(now)
  const account = await setUp(store, who, session, now)
  if (!account) throw setupClosed()
  if (account === 'taken')
    throw invalidField('email', 'An account with this address already exists. Use another address.')
  return { account, cookie }
}

/**
 * Sets up the first account from the settings, if it is not set up yet.
 *
 * @throws SetupError if one of the two settings is missing or not valid
 */
export async function setUpBySettings(
  store: Store,
  { adminEmail, adminPassword }: { adminEmail: string | null; adminPassword: string | null },
  now: number,
): Promise<void> {
  if (adminEmail === null && adminPassword === null) return
  if (adminEmail === null || adminPassword === null)
    throw new SetupError('Set both TOLLMARK_ADMIN_EMAIL and TOLLMARK_ADMIN_PASSWORD, or neither.')
  const { email, password } = SIGN_IN
  if (!email.form.test(adminEmail) || adminEmail.length > email.most)
    throw new SetupError('TOLLMARK_ADMIN_EMAIL must be an e-mail address.')
  if (adminPassword.length < password.least || adminPassword.length > password.most) {
    throw new SetupError(
      `TOLLMARK_ADMIN_PASSWORD must have ${password.least} to ${password.most} characters.`,
    )
  }
  if (!(await setupRequired(store))) return
  const account = await setUp(
    store,
    { email: adminEmail.toLowerCase(), password: adminPassword, address: 'settings' },
    null,
    now,
  )
  if (account === 'taken')
    throw new SetupError(
      'TOLLMARK_ADMIN_EMAIL belongs to an account that is not an administrator. Set it to another address.',
    )
}

async function setUp(
  store: Store,
  { email, password, address }: { email: string; password: string; address: string },
  session: NewSession | null,
  now: number,
): Promise<AccountRow | 'taken' | undefined> {
  const hash = await queued({ address, owner: 'setup' }, () => hashPassword(password))
  return store.run(setUpFirst, {
    choice: { name: null, plan: FREE, newId: newId('acc', now), now },
    email,
    password: hash,
    session,
  })
}

function setupClosed(): Problem {
  return new Problem(
    'setup_closed',
    'The first account already exists. Sign in, or ask an administrator for an invitation.',
  )
}
