// Accounts: who owns tokens, quota, jobs and keys.
import { isoTime } from '../clock.ts'
import { Problem, invalidField } from '../errors.ts'
import { newId } from '../id.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { AccountRow } from '../store/schema.ts'
import type { Partly, QueryBuilder } from '../store/statement.ts'
import type { Plans } from './plans.ts'
import { resetOf, usedToday } from './quota.ts'

/** The name of the first account where nobody gives one. */
const FIRST_NAME = 'admin'

/** An account as the API shows it. */
export interface Account {
  id: string
  object: 'account'
  name: string
  email: string | null
  role: 'admin' | 'member'
  plan: string
  disabled: boolean
  quota: { conversions_per_day: number | null; used_today: number; resets_at: string }
  created_at: string
}

/** Which account is meant: the one of that name, or (null) the first one. Made on `plan` where there is none. */
export interface AccountChoice {
  name: string | null
  plan: string
  /** Id and time for the account that may have to be made. */
  newId: string
  now: number
}

/** Finds or makes the account, as part of a procedure. The very first one becomes the administrator, by which it is known: a clock may be set back. */
export function* findOrMakeAccount(db: QueryBuilder, { name, plan, newId, now }: AccountChoice): Steps<AccountRow> {
  const admin = yield* first(db.selectFrom('accounts').selectAll().where('role', '=', 'admin'))
  const found = name === null ? admin : yield* first(db.selectFrom('accounts').selectAll().where('name', '=', name))
  if (found) return found
  const role = admin ? 'member' : 'admin'
  const row: AccountRow = { id: newId, name: name ?? FIRST_NAME, email: null, plan, role, created_at: now, disabled: 0 }
  yield* run(db.insertInto('accounts').values(row))
  return row
}

/** Makes an account; undefined where the name is taken. */
export const makeAccountOnce = procedure(import.meta.url, 'makeAccountOnce', function* (db, wanted: AccountChoice & { name: string }) {
  const account = yield* findOrMakeAccount(db, wanted)
  return account.id === wanted.newId ? account : undefined
})

/**
 * Makes an account.
 *
 * @throws Problem `invalid_field` where the name is taken
 */
export async function createAccount(store: Store, name: string, plan: string, now: number): Promise<AccountRow> {
  const made = await store.run(makeAccountOnce, { name, plan, newId: newId('acc', now), now })
  if (!made) throw invalidField('name', `There is an account named ${JSON.stringify(name)} already. Choose another name.`)
  return made
}

/** Accounts after `cursor` (the id of the last one seen) in the order in which they were made. */
export async function listAccounts(store: Store, limit: number, cursor: string | undefined): Promise<AccountRow[]> {
  let query = store.db.selectFrom('accounts').selectAll().orderBy('id').limit(limit)
  if (cursor !== undefined) query = query.where('id', '>', cursor)
  return query.execute()
}

/** @throws Problem `account_not_found` */
export async function getAccount(store: Store, id: string): Promise<AccountRow> {
  const row = await store.db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw accountNotFound()
  return row
}

/**
 * Changes an account's plan, or disables it and enables it again. Its tokens and keys stop and start working with it; its sessions end.
 *
 * @throws Problem `account_not_found`
 */
export async function changeAccount(store: Store, id: string, { plan, disabled }: Partly<{ plan: string; disabled: boolean }>): Promise<AccountRow> {
  const set = { plan, disabled: disabled === undefined ? undefined : Number(disabled) }
  if (plan !== undefined || disabled !== undefined) await store.run(updateAccount, { id, set })
  return getAccount(store, id)
}

/** Changes an account; where that disables it, its sessions end, and so does one that is being entered. */
export const updateAccount = procedure(import.meta.url, 'updateAccount', function* (db, { id, set }: { id: string; set: Partly<Pick<AccountRow, 'plan' | 'disabled'>> }) {
  yield* run(db.updateTable('accounts').set(set).where('id', '=', id))
  if (set.disabled === 1) yield* run(db.deleteFrom('sessions').where('account_id', '=', id))
})

/** An account's row as the API shows it, with today's quota. */
export async function showAccount(store: Store, plans: Plans, row: AccountRow, now: number): Promise<Account> {
  const quota = {
    conversions_per_day: plans.of(row.plan).conversionsPerDay,
    used_today: await usedToday(store, row.id, now),
    resets_at: isoTime(resetOf(now)),
  }
  const { id, name, email, role, plan } = row
  return { id, object: 'account', name, email, role, plan, disabled: row.disabled === 1, quota, created_at: isoTime(row.created_at) }
}

function accountNotFound(): Problem {
  return new Problem('account_not_found', 'No account has this id. GET /api/v1/accounts lists those that you may see.')
}

/** The chosen account, made where it does not exist. */
export const provideAccount = procedure(import.meta.url, 'provideAccount', function* (db, choice: AccountChoice) {
  return yield* findOrMakeAccount(db, choice)
})
