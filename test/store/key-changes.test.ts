import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openKeyCache, sharedName } from '../../server/keys/cache.ts'
import { createChild } from '../../server/keys/children.ts'
import { listKeys } from '../../server/keys/key-list.ts'
import { createKey, revokeKey, updateKey } from '../../server/keys/keys.ts'
import { rotateKey } from '../../server/keys/rotation.ts'
import { shareObject, unshareObject } from '../../server/keys/shared-objects.ts'
import type { Store } from '../../server/store/store.ts'
import { query } from '../support/postgres.ts'
import { onEveryStore, openAt, placeOn } from '../support/stores.ts'
import { until } from '../support/until.ts'
import { slowChange } from './slow-change.ts'

const wishes = { name: 'k', models: null, rpm: 1, allowed_origins: null, expires_at: null }

async function makeKeys(store: Store, count: number) {
  await store.db
    .insertInto('accounts')
    .values({
      id: 'acc',
      name: 'acc',
      email: null,
      plan: 'free',
      role: 'member',
      created_at: 0,
      disabled: 0,
    })
    .execute()
  return Promise.all(Array.from({ length: count }, () => createKey(store, 'acc', wishes, 0)))
}

const failed = (error: unknown): never => assert.fail(String(error))

const publicId = ({ secret }: { secret: string }): string => secret.split('_')[1]!

onEveryStore(
  'a key revoked in one process is soon refused in another, without a read per request',
  async (t, place) => {
    const [here, there] = [await openAt(t, place), await openAt(t, place)]
    const [key] = await makeKeys(here, 1)
    using cache = await openKeyCache(there, failed)
    assert.equal(cache.find(publicId(key!))?.key.revoked, false)
    await revokeKey(here, key!.id, null, 1)
    await until(() => cache.find(publicId(key!))?.key.revoked === true)
  },
)

/** TABLE of how a key ends, and its children with it. */
const ENDS: Record<string, (store: Store, id: string) => Promise<unknown>> = {
  revoked: (store, id) => revokeKey(store, id, null, 1),
  disabled: (store, id) => store.run(updateKey, { id, change: { disabled: 1 } }),
  expired: (store, id) => store.run(updateKey, { id, change: { expires_at: 1 } }),
  rotated: (store, id) => rotateKey(store, id, null, 0, 1),
}

onEveryStore(
  'a key that ends in one process ends its children in another within seconds',
  async (t, place) => {
    const [here, there] = [await openAt(t, place), await openAt(t, place)]
    using cache = await openKeyCache(there, failed)
    const keys = await makeKeys(here, Object.keys(ENDS).length)
    const input = { ttl: 60, models: null, rpm: null, allowed_origins: null, end_user: null }
    for (const [at, end] of Object.values(ENDS).entries()) {
      const { id } = keys[at]!
      const child = await createChild(here, id, null, input, 0)
      const found = () => cache.find(publicId(child))?.key
      await until(() => found()?.expiresAt === 60_000)
      assert.equal(found()?.id, id)
      await end(here, id)
      await until(() => {
        const key = found()
        return key?.revoked === true || key?.disabled === true || key?.expiresAt === 1
      })
    }
  },
)

onEveryStore('many concurrent changes by two processes all reach a third', async (t, place) => {
  const [one, two, third] = [await openAt(t, place), await openAt(t, place), await openAt(t, place)]
  const keys = await makeKeys(one, 10)
  using cache = await openKeyCache(third, failed)
  for (let round = 2; round < 6; round++) {
    await Promise.all(
      keys.map(({ id }, i) =>
        (i % 2 === 0 ? one : two).run(updateKey, { id, change: { rpm: round } }),
      ),
    )
    await until(() => keys.every((key) => cache.find(publicId(key))?.key.rpm === round))
  }
})

onEveryStore(
  'a replaced secret ends at its time or sooner, whatever changes later',
  async (t, place) => {
    const store = await openAt(t, place)
    const [key, other] = await makeKeys(store, 2)
    using cache = await openKeyCache(store, failed)
    const secrets = [key!]
    const rotate = async (grace: number, now: number) => {
      secrets.push(await rotateKey(store, key!.id, null, grace, now))
      await cache.refresh()
      return secrets.map((one) => cache.find(publicId(one))?.expiresAt)
    }
    assert.deepEqual(await rotate(100, 0), [100, null])
    assert.deepEqual(await rotate(1_000, 50), [100, 1_050, null])
    assert.deepEqual(await rotate(500, 100), [undefined, 600, 600, null])
    using afresh = await openKeyCache(store, failed)
    assert.equal(afresh.find(publicId(other!))?.expiresAt, null)
  },
)

test('postgres: no notification is needed', async (t) => {
  const place = await placeOn.postgres(t)
  const store = await openAt(t, place)
  const [key] = await makeKeys(store, 1)
  using cache = await openKeyCache(store, failed)
  await query(
    place.databaseUrl!,
    `alter table keys disable trigger tollmark_announce; update keys set disabled = 1, revision = revision + 1 where id = '${key!.id}'`,
  )
  await until(() => cache.find(publicId(key!))?.key.disabled === true)
})

test('postgres: a late commit is not skipped after a later change', async (t) => {
  const place = await placeOn.postgres(t)
  const [one, two, third] = [await openAt(t, place), await openAt(t, place), await openAt(t, place)]
  const [slow, quick] = await makeKeys(one, 2)
  using cache = await openKeyCache(third, failed)
  const late = one.run(slowChange, { id: slow!.id, change: { name: 'late' }, seconds: 0.7 })
  await until(
    async () =>
      (
        await query(
          place.databaseUrl!,
          `select 1 from pg_stat_activity where query like '%pg_sleep%' and state = 'active'`,
        )
      ).length > 1,
  )
  await Promise.all([late, two.run(updateKey, { id: quick!.id, change: { rpm: 7 } })])
  await until(() => cache.find(publicId(quick!))?.key.rpm === 7)
  const rows = await third.db
    .selectFrom('keys')
    .select(['id', 'revision'])
    .orderBy('revision')
    .execute()
  assert.deepEqual(
    rows.map(({ id }) => id),
    [slow!.id, quick!.id],
  )
  assert.equal(await one.run(updateKey, { id: slow!.id, change: { rpm: 9 } }), true)
  await until(() => cache.find(publicId(slow!))?.key.rpm === 9)
})

onEveryStore('sharing and unsharing in one process soon apply in another', async (t, place) => {
  const [here, there] = [await openAt(t, place), await openAt(t, place)]
  const [key, other] = await makeKeys(here, 2)
  using cache = await openKeyCache(there, failed)
  const shared = await shareObject(
    here,
    key!.id,
    { provider: 'openai', kind: 'file', object_id: 'file-1' },
    0,
  )
  const known = (one: typeof key) => [...cache.find(publicId(one!))!.key.shared]
  await until(() => known(key).length > 0)
  assert.deepEqual([known(key), known(other)], [[sharedName('openai', 'file', 'file-1')], []])
  await unshareObject(here, key!.id, shared.id)
  await until(() => known(key).length === 0)
})

onEveryStore(
  'a key from before object ownership can still name what it could',
  async (t, place) => {
    const store = await openAt(t, place)
    await makeKeys(store, 1)
    // The columns of a key before them.
    const old = {
      id: 'key_old',
      account_id: 'acc',
      name: 'old',
      public_id: 'old',
      models: null,
      rpm: null,
      allowed_origins: null,
      expires_at: null,
      disabled: 0,
      revoked_at: null,
      created_at: 0,
      revision: 99,
    }
    const names = Object.keys(old)
    await sql`insert into keys (${sql.join(names.map((name) => sql.ref(name)))}) values (${sql.join(Object.values(old))})`.execute(
      store.db,
    )
    const { keys } = await listKeys(store, { account: 'acc' }, 10, undefined, 0)
    assert.deepEqual(
      keys
        .map(({ name, objects, providers, read_only }) => [name, objects, providers, read_only])
        .sort(),
      [
        ['k', 'own', null, false],
        ['old', 'upstream', null, false],
      ],
    )
  },
)
