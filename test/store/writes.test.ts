import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { StoreError } from '../../server/store/store-error.ts'
import type { Store } from '../../server/store/store.ts'
import { onEveryStore, openAt, placeOn } from '../support/stores.ts'
import { end, fail, insertOrTell, names, rename } from './counter.ts'

const insert = (store: Store, id: string, name = id) =>
  store.db
    .insertInto('accounts')
    .values({ id, name, email: null, plan: 'free', role: 'member', created_at: 1, disabled: 0 })

const stored = async (store: Store): Promise<string[]> =>
  (await store.db.selectFrom('accounts').select('name').orderBy('name').execute()).map(
    (row) => row.name,
  )

onEveryStore(
  'a write can be read immediately, in this thread and in the reports thread',
  async (t, place) => {
    const store = await openAt(t, place)
    await insert(store, 'a').execute()
    assert.deepEqual(await stored(store), ['a'])
    assert.deepEqual(
      { ...(await store.reports.selectFrom('accounts').select('id').executeTakeFirst()) },
      { id: 'a' },
    )
  },
)

onEveryStore('a failing write fails only its own caller', async (t, place) => {
  const store = await openAt(t, place)
  const writes = ['a', 'b', 'a', 'c'].map((id) => insert(store, id).execute())
  const outcomes = await Promise.allSettled(writes)
  const [a, b, again, c] = outcomes.map((outcome) => outcome.status)
  assert.deepEqual([b, c], ['fulfilled', 'fulfilled'])
  assert.deepEqual([a, again].sort(), ['fulfilled', 'rejected'])
  assert.deepEqual(await stored(store), ['a', 'b', 'c'])
  await assert.rejects(
    insert(store, 'b').execute(),
    (error) => error instanceof StoreError && error.code === 'unique',
  )
})

onEveryStore('several statements are written together or not at all', async (t, place) => {
  const store = await openAt(t, place)
  await assert.rejects(store.write(insert(store, 'a'), insert(store, 'a')), { code: 'unique' })
  assert.deepEqual(await stored(store), [])
  const results = await store.write(
    insert(store, 'a'),
    insert(store, 'b'),
    store.db.updateTable('accounts').set({ plan: 'team' }),
  )
  assert.deepEqual(
    results.map((result) => result.affected),
    [1, 1, 2],
  )
})

onEveryStore('`returning` gives rows', async (t, place) => {
  const store = await openAt(t, place)
  assert.deepEqual(
    { ...(await insert(store, 'a').returning(['id', 'created_at']).executeTakeFirst()) },
    { id: 'a', created_at: 1 },
  )
})

onEveryStore('a procedure checks and writes atomically', async (t, place) => {
  const store = await openAt(t, place)
  await insert(store, 'a').execute()
  const won = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      store.run(rename, { id: 'a', from: 'a', to: `winner ${index}` }),
    ),
  )
  assert.deepEqual(won.filter(Boolean).length, 1)
  assert.deepEqual(await store.run(names, { plan: 'free' }), [`winner ${won.indexOf(true)}`])
})

onEveryStore(
  'a procedure that throws writes nothing and fails only its own caller',
  async (t, place) => {
    const store = await openAt(t, place)
    await insert(store, 'a').execute()
    const make = (id: string) => store.run(insertOrTell, { id, name: id })
    const [told, failed, inserted, made] = await Promise.allSettled([
      make('b'),
      store.run(fail, { id: 'a' }),
      insert(store, 'b').execute(),
      make('c'),
    ])
    // On PostgreSQL either of the two that want the same row may be the first.
    const value = inserted.status === 'rejected' ? 'made' : 'taken'
    assert.deepEqual(
      [told, made],
      [
        { status: 'fulfilled', value },
        { status: 'fulfilled', value: 'made' },
      ],
    )
    assert.equal(failed.status, 'rejected')
    assert.deepEqual(await stored(store), ['a', 'b', 'c'])
  },
)

/**
 * TABLE of what ends a transaction of SQLite without anybody's write: how it comes to a write of
 * `bad`, as a full disk does it.
 */
const ENDINGS: [what: string, sql: string][] = [
  [
    'a commit that fails',
    `create table others (id text references accounts (id) deferrable initially deferred);
     create trigger refer after insert on accounts when new.id = 'bad' begin insert into others values ('nobody'); end`,
  ],
  [
    'a statement that undoes all',
    `create trigger undo after insert on accounts when new.id = 'bad' begin select raise(rollback, 'no room'); end`,
  ],
]

for (const [what, sql] of ENDINGS) {
  test(`${what} fails every write in its batch, stores none of them, and fails no later one`, async (t) => {
    const place = await placeOn.sqlite(t)
    const store = await openAt(t, place)
    using database = new DatabaseSync(join(place.data, 'tollmark.db'), { timeout: 10_000 })
    database.exec(sql)
    for (const bad of [
      () => insert(store, 'bad').execute(),
      () => store.run(insertOrTell, { id: 'bad', name: 'bad' }),
    ]) {
      const outcomes = await Promise.allSettled([
        insert(store, 'a').execute(),
        bad(),
        insert(store, 'b').execute(),
      ])
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['rejected', 'rejected', 'rejected'],
      )
      assert.deepEqual(await stored(store), [])
    }
    await insert(store, 'c').execute()
    assert.deepEqual(await stored(store), ['c'])
  })
}

test('a write after the writer has ended fails immediately', async (t) => {
  const store = await openAt(t, await placeOn.sqlite(t))
  for (const outcome of await Promise.allSettled([
    insert(store, 'a').execute(),
    store.run(end, null),
  ])) {
    assert.ok(outcome.status === 'rejected' && outcome.reason.code === 'closed')
  }
  await assert.rejects(insert(store, 'b').execute(), { code: 'closed' })
  assert.deepEqual(await stored(store), [])
  await store.close()
})

onEveryStore('a procedure can catch a failing statement', async (t, place) => {
  const store = await openAt(t, place)
  assert.equal(await store.run(insertOrTell, { id: 'a', name: 'a' }), 'made')
  assert.equal(await store.run(insertOrTell, { id: 'a', name: 'a' }), 'taken')
})

onEveryStore('a transaction that would stay open is refused', async (t, place) => {
  const store = await openAt(t, place)
  await assert.rejects(
    store.db.transaction().execute(async () => {}),
    /procedure/,
  )
})

onEveryStore("changes by another process are noticed; this one's own are not", async (t, place) => {
  const [here, there] = [await openAt(t, place), await openAt(t, place)]
  let own = 0
  t.after(there.onChange(() => own++))
  const noticed = new Promise<void>((resolve) => {
    t.after(here.onChange(resolve))
  })
  await insert(there, 'a').execute()
  await noticed
  assert.deepEqual(await stored(here), ['a'])
  assert.equal(own, 0)
})

onEveryStore('closing waits for earlier calls and refuses later ones', async (t, place) => {
  const store = await openAt(t, place)
  const writes = Array.from({ length: 50 }, (_, index) => insert(store, `row ${index}`).execute())
  await new Promise(setImmediate)
  await store.close()
  await Promise.all(writes)
  await assert.rejects(insert(store, 'late').execute(), { code: 'closed' })
  assert.equal((await stored(await openAt(t, place))).length, 50)
})
