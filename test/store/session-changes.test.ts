import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeAccount, ensureAccount } from '../../server/accounts/accounts.ts'
import { hashPassword, matchesPassword } from '../../server/accounts/passwords.ts'
import { changePassword, createSession } from '../../server/accounts/sessions.ts'
import type { Store } from '../../server/store/store.ts'
import { query } from '../support/postgres.ts'
import { onEveryStore, openAt, placeOn } from '../support/stores.ts'
import { until } from '../support/until.ts'
import { slowEntry } from './slow-change.ts'

const NOW = 1_000
const CURRENT = 'the current password'

/** An account with its password and two sessions, and another one with a session. */
async function prepare(store: Store) {
  const account = await store.run(ensureAccount, {
    name: null,
    plan: 'free',
    newId: 'acc_a',
    now: NOW,
  })
  // The last administrator could not be disabled.
  await store.db
    .updateTable('accounts')
    .set({ role: 'member' })
    .where('id', '=', account.id)
    .execute()
  const hash = await hashPassword(CURRENT)
  await store.db.insertInto('passwords').values({ account_id: account.id, hash }).execute()
  const sessions = [createSession(NOW).session, createSession(NOW).session]
  for (const session of sessions)
    await store.db
      .insertInto('sessions')
      .values({ ...session, account_id: account.id })
      .execute()
  const stranger = await store.run(ensureAccount, {
    name: 'stranger',
    plan: 'free',
    newId: 'acc_b',
    now: NOW,
  })
  await store.db
    .insertInto('sessions')
    .values({ ...createSession(NOW).session, public_id: 'stranger', account_id: stranger.id })
    .execute()
  const stored = async () =>
    (await store.db.selectFrom('passwords').select('hash').executeTakeFirstOrThrow()).hash
  const open = async () =>
    (await store.db.selectFrom('sessions').select('public_id').execute()).map(
      ({ public_id }) => public_id,
    )
  const change = (sessionId: string, password: string) =>
    changePassword(
      store,
      { account, sessionId },
      { current: CURRENT, password, address: '::1' },
      NOW,
    )
  return { account, hash, ids: sessions.map(({ public_id }) => public_id), stored, open, change }
}

onEveryStore(
  'of two sessions that change the password at once, one succeeds and ends the other',
  async (t, place) => {
    const { ids, stored, open, change } = await prepare(await openAt(t, place))
    const outcomes = await Promise.allSettled(ids.map((id) => change(id, `a password of ${id}`)))
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled')
    assert.deepEqual(
      outcomes
        .map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'changed'))
        .toSorted(),
      ['changed', 'invalid_credentials'],
    )
    assert.deepEqual((await open()).toSorted(), [ids[winner], 'stranger'].toSorted())
    assert.ok(await matchesPassword(`a password of ${ids[winner]}`, await stored()))
  },
)

onEveryStore(
  'a session that ends while it changes the password changes nothing',
  async (t, place) => {
    const store = await openAt(t, place)
    const { account, hash, ids, stored, change } = await prepare(store)
    const changing = assert.rejects(change(ids[0]!, 'another password'), {
      code: 'invalid_credentials',
    })
    await changeAccount(store, account.id, { disabled: true })
    await changing
    assert.equal(await stored(), hash)
  },
)

/** TABLE of what ends all other sessions of an account. */
const ENDS: [
  what: string,
  end: (store: Store, prepared: Awaited<ReturnType<typeof prepare>>) => Promise<unknown>,
][] = [
  ['the password is changed', (_, { ids, change }) => change(ids[0]!, 'another password')],
  [
    'the account is disabled',
    (store, { account }) => changeAccount(store, account.id, { disabled: true }),
  ],
]

for (const [what, end] of ENDS) {
  test(`postgres: a sign-in not yet committed when ${what} leaves no session`, async (t) => {
    const place = await placeOn.postgres(t)
    const [here, there] = [await openAt(t, place), await openAt(t, place)]
    const prepared = await prepare(here)
    const { session } = createSession(NOW)
    const entering = there.run(slowEntry, {
      account: prepared.account.id,
      password: prepared.hash,
      session,
      replaced: null,
      now: NOW,
      seconds: 1.5,
    })
    await until(
      async () =>
        (
          await query(
            place.databaseUrl!,
            `select 1 from pg_stat_activity where query like '%pg_sleep%' and state = 'active'`,
          )
        ).length > 1,
    )
    await Promise.all([end(here, prepared), entering])
    assert.ok(!(await prepared.open()).includes(session.public_id))
  })
}
