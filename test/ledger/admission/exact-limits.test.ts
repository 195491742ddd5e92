import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { readRefusals } from '../../../server/ledger/refusals/limit-counts.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { WINDOW_MS } from '../../../server/ledger/admission/sliding-window.ts'
import { onEveryStore } from '../../support/stores.ts'
import { usedFolder } from '../../support/templates.ts'
import {
  admissionRequest,
  movedClock,
  openFor,
  openOn,
  pass,
  type Opened,
} from '../support/opened.ts'

onEveryStore(
  '10,000 concurrent requests on a key of 5 a minute: exactly 5 pass, with any wall clock and across a restart',
  async (t, place) => {
    const { ledger, clock, close } = await openOn(place)
    const responses = await Promise.all(
      Array.from({ length: 10_000 }, (_, i) => {
        clock.wallBy = [0, 90_000, -90_000][i % 3]!
        return ledger.admit(admissionRequest('k', 5))
      }),
    )
    assert.equal(responses.filter(({ admitted }) => admitted).length, 5)
    for (const response of responses) {
      if (!response.admitted)
        assert.ok(response.wait > WINDOW_MS - 10_000 && response.wait < WINDOW_MS)
    }
    await close()

    const restarted = await openFor(t, place, clock)
    clock.wallBy = 90_000
    const again = await Promise.all(
      Array.from({ length: 100 }, () => restarted.ledger.admit(admissionRequest('k', 5))),
    )
    assert.equal(again.filter(({ admitted }) => admitted).length, 0)
    await pass(place, WINDOW_MS, clock)
    const later = await Promise.all(
      Array.from({ length: 100 }, () => restarted.ledger.admit(admissionRequest('k', 5))),
    )
    assert.equal(later.filter(({ admitted }) => admitted).length, 5)
    await restarted.ledger.close()
    assert.deepEqual(await verifyWindows(restarted.store), {
      keys: 1,
      requests: 10,
      limited: 10,
      outage: 0,
      missing: 0,
      sealed: 0,
      changed: [],
      violations: [],
    })
  },
)

onEveryStore('a caller that waits for Retry-After-Ms passes', async (t, place) => {
  const { ledger, clock } = await openFor(t, place)
  for (let i = 0; i < 3; i++) {
    assert.ok((await ledger.admit(admissionRequest('k', 1))).admitted)
    const refused = await ledger.admit(admissionRequest('k', 1))
    assert.ok(!refused.admitted)
    await pass(place, refused.wait, clock)
  }
})

onEveryStore(
  'refused requests do not count, each key has its own window, and refusals by limit are counted',
  async (t, place) => {
    const { ledger, store, clock } = await openFor(t, place)
    const from = clock.now()
    const verdicts = []
    for (let i = 0; i < 20; i++)
      for (const key of ['a', 'b']) verdicts.push(await ledger.admit(admissionRequest(key, 3)))
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 6)
    for (let i = 0; i < 50; i++)
      assert.ok((await ledger.admit(admissionRequest('free', null))).admitted)
    await store.run(flushJournal, null)
    assert.equal((await store.db.selectFrom('requests').select('id').execute()).length, 56)

    await ledger.close()
    const again = await openFor(t, place, clock)
    assert.equal((await again.ledger.admit(admissionRequest('a', 3))).admitted, false)
    await again.ledger.close()
    const refused = async (filter: { account: string | null; key?: string }) =>
      [...(await readRefusals(store, { ...filter, from }))].sort()
    assert.deepEqual(await refused({ account: null }), [
      ['a', 18],
      ['b', 17],
    ])
    assert.deepEqual(await refused({ account: 'acc', key: 'b' }), [['b', 17]])
    assert.deepEqual(await refused({ account: 'other' }), [])
  },
)

/** How many of so many requests at once are let through. */
async function passing(
  { ledger }: Pick<Opened, 'ledger'>,
  key: string,
  rpm: number | null,
  times: number,
): Promise<number> {
  return (
    await Promise.all(Array.from({ length: times }, () => ledger.admit(admissionRequest(key, rpm))))
  ).filter(({ admitted }) => admitted).length
}

test('requests behind one that is held for a few milliseconds are decided after it', async (t) => {
  const opened = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  assert.ok((await opened.ledger.admit(admissionRequest('k', 1))).admitted)
  const refused = await opened.ledger.admit(admissionRequest('k', 1))
  assert.ok(!refused.admitted)
  opened.clock.monoBy += refused.wait - 3
  assert.equal(await passing(opened, 'k', 1, 3), 1)
})

onEveryStore('a changed limit applies at once, including earlier admissions', async (t, place) => {
  const opened = await openFor(t, place)
  const passed = (rpm: number | null, times: number) => passing(opened, 'k', rpm, times)
  assert.equal(await passed(null, 4), 4)
  assert.equal(await passed(5, 10), 1)
  assert.equal(await passed(8, 10), 3)
  assert.equal(await passed(3, 10), 0)
  assert.equal(await passed(null, 2), 2)
  assert.equal(await passed(11, 10), 1)
  // The same limit again, with room left, after a time without one.
  assert.equal(await passed(20, 2), 2)
  assert.equal(await passed(null, 5), 5)
  assert.equal(await passed(20, 10), 2)
})

onEveryStore('each concurrent request is judged by the limit it arrived with', async (t, place) => {
  const opened = await openFor(t, place)
  const passed = (key: string, rpm: number | null, times: number) =>
    passing(opened, key, rpm, times)
  assert.deepEqual(await Promise.all([passed('a', null, 4), passed('a', 3, 10)]), [4, 0])
  const [limited, free] = await Promise.all([passed('b', 3, 10), passed('b', null, 4)])
  assert.ok(limited <= 3)
  assert.equal(free, 4)
  assert.deepEqual((await verifyWindows(opened.store)).violations, [])
})

onEveryStore('two servers on one store share the window', async (t, place) => {
  const [one, two] = [await openFor(t, place), await openFor(t, place)]
  for (const rounds of [1, 2, 3]) {
    const responses = await Promise.all(
      Array.from({ length: 400 }, (_, i) =>
        (i % 2 === 0 ? one : two).ledger.admit(admissionRequest('k', 7)),
      ),
    )
    assert.equal(responses.filter(({ admitted }) => admitted).length, 7, `round ${rounds}`)
    await pass(place, WINDOW_MS + 1, one.clock, two.clock)
  }
  // One at a time, the other one having rested.
  let passed = 0
  for (let i = 0; i < 30; i++)
    if ((await (i % 10 < 5 ? one : two).ledger.admit(admissionRequest('s', 7))).admitted) passed++
  assert.equal(passed, 7)
  assert.deepEqual((await verifyWindows(one.store)).violations, [])
})

onEveryStore(
  "another server's admissions count once, and requests without room are not in the ledger",
  async (t, place) => {
    const [one, two] = [await openFor(t, place), await openFor(t, place)]
    const passed: string[] = []
    const ask = async ({ ledger }: Opened, key: string, rpm: number | null) => {
      const asked = admissionRequest(key, rpm)
      if ((await ledger.admit(asked)).admitted) passed.push(asked.id)
    }
    // The window of the first is read after what the second lets through, and that of the second
    // before what the first does.
    await ask(one, 'other', null)
    for (let i = 0; i < 3; i++) await ask(two, 'k', 8)
    await Promise.all(Array.from({ length: 3 }, () => ask(one, 'k', 8)))
    assert.equal(passed.length, 7)
    await Promise.all(Array.from({ length: 6 }, () => ask(two, 'k', 8)))
    assert.equal(passed.length, 9)
    await one.store.run(flushJournal, null)
    assert.deepEqual(
      (await one.store.db.selectFrom('requests').select('id').execute()).map(({ id }) => id).sort(),
      passed.sort(),
    )
  },
)

test('an idle server that missed many admissions of another reads its windows again', async (t) => {
  const place = { data: usedFolder(t), databaseUrl: null }
  const [one, two] = [await openFor(t, place), await openFor(t, place)]
  for (const { ledger } of [one, two])
    assert.ok((await ledger.admit(admissionRequest('k', 2))).admitted)
  await two.store.run(flushJournal, null)
  // Many of another key, as copies of the newest.
  const [row] = await two.store.db
    .selectFrom('requests')
    .selectAll()
    .orderBy('seq', 'desc')
    .limit(1)
    .execute()
  const copied = (column: string): string =>
    ({ seq: 'seq + i', id: 'id || i', key_id: `'free'`, rpm: 'null' })[column] ?? column
  using database = new DatabaseSync(join(place.data, 'tollmark.db'), { timeout: 10_000 })
  database.exec(
    `with recursive many(i) as (select 1 union all select i + 1 from many where i < 10001)
     insert into requests (${Object.keys(row!).join()}) select ${Object.keys(row!).map(copied).join()} from requests, many where seq = ${row!.seq}`,
  )
  assert.equal((await one.ledger.admit(admissionRequest('k', 2))).admitted, false)
})

/**
 * A ledger on a machine that has been up for 20 s, and in the boot before let through the one
 * request a minute that key `k` has.
 */
async function afterBoot(t: TestContext, wallBy: number): Promise<Opened> {
  const place = { data: usedFolder(t), databaseUrl: null }
  const before = await openOn(place, { ...movedClock(), boot: 1 })
  assert.ok((await before.ledger.admit(admissionRequest('k', 1))).admitted)
  await before.close()
  const clock = movedClock()
  return openFor(t, place, { ...clock, monoBy: 20_000 - clock.mono(), wallBy })
}

test('an admission of an earlier boot is at least as old as this boot', async (t) => {
  const { ledger, clock } = await afterBoot(t, 0)
  const refused = await ledger.admit(admissionRequest('k', 1))
  assert.ok(!refused.admitted && refused.wait > 30_000 && refused.wait <= 40_000)
  clock.monoBy += refused.wait
  assert.ok((await ledger.admit(admissionRequest('k', 1))).admitted)
})

test('an admission hours ago in another boot has expired, however recent this boot is', async (t) => {
  const { ledger } = await afterBoot(t, 2 * 3_600_000)
  assert.ok((await ledger.admit(admissionRequest('k', 1))).admitted)
})

onEveryStore('verify finds an exceeded window', async (_, place) => {
  const { ledger, store, close } = await openOn(place)
  for (let i = 0; i < 3; i++) await ledger.admit(admissionRequest('k', 3))
  await store.run(flushJournal, null)
  await store.write(store.db.updateTable('requests').set({ rpm: 2 }))
  const { violations } = await verifyWindows(store)
  assert.deepEqual(
    violations.map(({ key_id, rpm, count }) => ({ key_id, rpm, count })),
    [{ key_id: 'k', rpm: 2, count: 3 }],
  )
  await close()
})

onEveryStore('verify finds a window exceeded by a late row', async (_, place) => {
  const { ledger, store, close } = await openOn(place)
  for (let i = 0; i < 3; i++) await ledger.admit(admissionRequest('k', 3))
  await store.run(flushJournal, null)
  const rows = await store.db.selectFrom('requests').select('seq').orderBy('seq').execute()
  // The minute up to the last row holds nothing else; that from it on does.
  for (const [at, mono] of [0, 200_000_000, 150_000_000].entries())
    await store.write(
      store.db
        .updateTable('requests')
        .set({ rpm: 1, mono: 1 + mono })
        .where('seq', '=', rows[at]!.seq),
    )
  assert.deepEqual(
    (await verifyWindows(store)).violations.map(({ count }) => count),
    [2],
  )
  await close()
})
