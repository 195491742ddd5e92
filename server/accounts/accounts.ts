// Accounts: who owns tokens, quota, jobs and keys.
import { sql } from 'kysely'
import { isoTime } from '../common/clock.ts'
import { Problem, invalidField } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { AccountRow } from '../store/schema.ts'
import type { Partly, QueryBuilder } from '../store/statement.ts'
import type { Plans } from './plans.ts'
import { nextReset, usedToday } from './quota.ts'

/** Default name of the first account. */
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

/**
 * Selects an account by name, or (null) the first one. It is created on `plan` if it does not
 * exist.
 */
export interface NewAccount {
  name: string | null
  plan: string
  /** Id and time for a new account. */
  newId: string
  now: number
}

/**
 * Finds or creates an account, inside a procedure. The very first one becomes an administrator;
 * "the first account" is the oldest administrator.
 */
export function* findOrCreateAccount(
  db: QueryBuilder,
  { name, plan, newId, now }: NewAccount,
): Steps<AccountRow> {
  const admin = yield* first(
    db
      .selectFrom('accounts')
      .selectAll()
      .where('role', '=', 'admin')
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .limit(1),
  )
  const found =
    name === null
      ? admin
      : yield* first(db.selectFrom('accounts').selectAll().where('name', '=', name))
  if (found) return found
  const role = admin ? 'member' : 'admin'
  const row: AccountRow = {
    id: newId,
    name: name ?? FIRST_NAME,
    email: null,
    plan,
    role,
    created_at: now,
    disabled: 0,
  }
  yield* run(db.insertInto('accounts').values(row))
  return row
}

/** Creates an account; undefined if the name is taken. */
export const insertAccountOnce = procedure(
  import.meta.url,
  'insertAccountOnce',
  function* (db, wanted: NewAccount & { name: string }) {
    const account = yield* findOrCreateAccount(db, wanted)
    return account.id === wanted.newId ? account : undefined
  },
)

/**
 * Creates an account.
 *
 * @throws Problem `invalid_field` if the name is taken
 */
export async function createAccount(
  store: Store,
  name: string,
  plan: string,
  now: number,
): Promise<AccountRow> {
  const created = await store.run(insertAccountOnce, { name, plan, newId: newId('acc', now), now })
  if (!created)
    throw invalidField('name', 'An account with this name already exists. Choose another name.')
  return created
}

/**
 * Accounts after `cursor` (the id of the last one seen), oldest first.
 *
 * @param search part of the name or e-mail
 */
export async function listAccounts(
  store: Store,
  limit: number,
  cursor: string | undefined,
  search = '',
): Promise<AccountRow[]> {
  let query = existing(store, search).selectAll().orderBy('id').limit(limit)
  if (cursor !== undefined) query = query.where('id', '>', cursor)
  return query.execute()
}

/** Number of accounts that match a search, or of all. */
export async function countAccounts(store: Store, search = ''): Promise<number> {
  return Number(
    (
      await existing(store, search)
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirst()
    )?.count ?? 0,
  )
}

function existing(store: Store, search: string) {
  const query = store.db.selectFrom('accounts').where('deleted_at', 'is', null)
  if (search === '') return query
  const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&').toLowerCase()}%`
  const has = (column: 'name' | 'email') =>
    sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`
  return query.where((e) => e.or([has('name'), has('email')]))
}

/** @throws Problem `account_not_found` */
export async function getAccount(store: Store, id: string): Promise<AccountRow> {
  const row = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) throw accountNotFound()
  return row
}

/** The fields of an account that can be changed; undefined keeps a field. */
export type AccountChange = Partly<{
  name: string
  plan: string
  role: AccountRow['role']
  disabled: boolean
}>

/**
 * Changes an account. Disabling it ends its sessions, and its tokens and keys stop working until it
 * is enabled again.
 *
 * @throws Problem `account_not_found`; `invalid_field` if the name is taken; `last_administrator`
 */
export async function changeAccount(
  store: Store,
  id: string,
  { disabled, ...plain }: AccountChange,
): Promise<AccountRow> {
  const set = { ...plain, disabled: disabled === undefined ? undefined : Number(disabled) }
  if (Object.values(set).some((value) => value !== undefined))
    refuseLastAdmin(await store.run(updateAccount, { id, set }))
  return getAccount(store, id)
}

/**
 * Deletes an account permanently, with its tokens and sessions. Its keys stop working; the caller
 * of this function must also revoke them. Its usage stays in the ledger under its id. Its name and
 * e-mail can be used again.
 *
 * @throws Problem `account_not_found`, `last_administrator`
 */
export async function deleteAccount(store: Store, id: string, now: number): Promise<void> {
  refuseLastAdmin(await store.run(deleteAccountRows, { id, now }))
}

/** Why an account was not changed; null if it was. */
type ChangeRefusal = 'missing' | 'last' | 'taken' | null

/** @throws Problem */
function refuseLastAdmin(refusal: ChangeRefusal): void {
  if (refusal === 'missing') throw accountNotFound()
  if (refusal === 'taken')
    throw invalidField('name', 'An account with this name already exists. Choose another name.')
  if (refusal === 'last')
    throw new Problem(
      'last_administrator',
      'This is the last administrator who can sign in. Make another account an administrator first.',
    )
}

/**
 * Whether this is the last administrator. Others count if they are enabled and, if this one has a
 * password, have one too.
 */
function* isLastAdmin(db: QueryBuilder, { id, role, disabled }: AccountRow): Steps<boolean> {
  if (role !== 'admin' || disabled === 1) return false
  const others = db
    .selectFrom('accounts')
    .select('accounts.id')
    .where('role', '=', 'admin')
    .where('disabled', '=', 0)
    .where('deleted_at', 'is', null)
    .where('accounts.id', '!=', id)
  const signsIn = yield* first(
    db.selectFrom('passwords').select('account_id').where('account_id', '=', id),
  )
  const able =
    signsIn === undefined
      ? others
      : others.innerJoin('passwords', 'passwords.account_id', 'accounts.id')
  return (yield* first(able.limit(1))) === undefined
}

const unlessDeleted = (db: QueryBuilder, id: string) =>
  db.selectFrom('accounts').selectAll().where('id', '=', id).where('deleted_at', 'is', null)

/** Whether an account other than `id` has this e-mail or this name. */
export function* isTaken(
  db: QueryBuilder,
  column: 'email' | 'name',
  value: string,
  id: string,
): Steps<boolean> {
  const other = yield* first(
    db.selectFrom('accounts').select('id').where(column, '=', value).where('id', '!=', id),
  )
  return other !== undefined
}

/** Changes an account. Disabling it also ends its sessions, even one that is being created. */
export const updateAccount = procedure(
  import.meta.url,
  'updateAccount',
  function* (
    db,
    {
      id,
      set,
    }: { id: string; set: Partly<Pick<AccountRow, 'name' | 'plan' | 'role' | 'disabled'>> },
  ): Steps<ChangeRefusal> {
    const account = yield* first(unlessDeleted(db, id))
    if (account === undefined) return 'missing'
    if (set.name !== undefined && (yield* isTaken(db, 'name', set.name, id))) return 'taken'
    if ((set.role === 'member' || set.disabled === 1) && (yield* isLastAdmin(db, account)))
      return 'last'
    yield* run(db.updateTable('accounts').set(set).where('id', '=', id))
    if (set.disabled === 1) yield* run(db.deleteFrom('sessions').where('account_id', '=', id))
    return null
  },
)

/** Deletes an account; its row stays, marked as deleted. */
export const deleteAccountRows = procedure(
  import.meta.url,
  'deleteAccountRows',
  function* (db, { id, now }: { id: string; now: number }): Steps<ChangeRefusal> {
    const account = yield* first(unlessDeleted(db, id))
    if (account === undefined) return 'missing'
    if (yield* isLastAdmin(db, account)) return 'last'
    for (const table of ['sessions', 'tokens', 'passwords', 'password_resets'] as const)
      yield* run(db.deleteFrom(table).where('account_id', '=', id))
    yield* run(
      db
        .updateTable('accounts')
        .set({ name: `deleted ${id}`, email: null, disabled: 1, deleted_at: now })
        .where('id', '=', id),
    )
    return null
  },
)

/** An account's row as the API shows it, with today's quota. */
export async function showAccount(
  store: Store,
  plans: Plans,
  row: AccountRow,
  now: number,
): Promise<Account> {
  const quota = {
    conversions_per_day: plans.of(row.plan).conversionsPerDay,
    used_today: await usedToday(store, row.id, now),
    resets_at: isoTime(nextReset(now)),
  }
  const { id, name, email, role, plan } = row
  return {
    id,
    object: 'account',
    name,
    email,
    role,
    plan,
    disabled: row.disabled === 1,
    quota,
    created_at: isoTime(row.created_at),
  }
}

function accountNotFound(): Problem {
  return new Problem(
    'account_not_found',
    'No account has this id. GET /api/v1/accounts lists the accounts that you can see.',
  )
}

/** Finds or creates the selected account. */
export const ensureAccount = procedure(
  import.meta.url,
  'ensureAccount',
  function* (db, choice: NewAccount) {
    return yield* findOrCreateAccount(db, choice)
  },
)
