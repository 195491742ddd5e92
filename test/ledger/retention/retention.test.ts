import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { addHours } from '../../../server/ledger/rollups/coarser.ts'
import { deleteOldBatch, deleteOldRequests } from '../../../server/ledger/retention/retention.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { startMaintenance } from '../../../server/ledger/retention/maintenance.ts'
import { readUsage, usageOfKeys } from '../../../server/ledger/reports/usage.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import type { Store } from '../../../server/store/store.ts'
import { onEveryStore } from '../../support/stores.ts'
import { usedFolder } from '../../support/templates.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, settlement } from '../support/opened.ts'

const DAY = 86_400_000

/** Lets a key's requests through so many days ago, and ends them. */
async function passAgo(
  { ledger, clock }: Awaited<ReturnType<typeof openFor>>,
  days: number,
  count: number,
): Promise<void> {
  clock.wallBy = -days * DAY
  for (let i = 0; i < count; i++) {
    const asked = admissionRequest('k', 100)
    const admission = await ledger.admit(asked)
    assert.ok(admission.admitted)
    ledger.settle(settlement(asked, admission))
  }
  clock.wallBy = 0
}

onEveryStore(
  "retention deletes old requests, and keeps sums, requests in progress and each key's last use",
  async (t, place) => {
    const { store, ledger, clock } = await openFor(t, place)
    const now = clock.now()
    /** Lets requests through so many days ago, and ends them. */
    const pass = async (ago: number, key: string, count = 1): Promise<string[]> => {
      clock.wallBy = -ago * DAY
      const asked = Array.from({ length: count }, () => admissionRequest(key, 2000))
      for (const [i, admission] of (
        await Promise.all(asked.map((one) => ledger.admit(one)))
      ).entries()) {
        assert.ok(admission.admitted)
        ledger.settle(settlement(asked[i]!, admission))
      }
      return asked.map(({ id }) => id)
    }
    const hold = async (ago: number) => {
      clock.wallBy = -ago * DAY
      const asked = admissionRequest('held', null)
      const admission = await ledger.admit(asked)
      assert.ok(admission.admitted)
      return { id: asked.id, end: () => ledger.settle(settlement(asked, admission)) }
    }
    const ids = async () => {
      await store.run(flushJournal, null)
      return (await store.db.selectFrom('requests').select('id').orderBy('seq').execute()).map(
        ({ id }) => id,
      )
    }
    const ended = async () =>
      Number(
        (
          await store.db
            .selectFrom('usage_hours')
            .select((e) => e.fn.sum('requests').as('requests'))
            .executeTakeFirstOrThrow()
        ).requests,
      )
    const reports = async () => [
      await readUsage(store, {
        account: 'acc',
        by: ['day', 'key'],
        from: now - 30 * DAY,
        to: now + DAY,
      }),
      await readUsage(store, { account: null, by: ['hour'], from: now - 30 * DAY, to: now + DAY }),
      [...(await usageOfKeys(store, ['busy', 'idle', 'held']))],
    ]

    await pass(10, 'busy', 250)
    const [idle] = await pass(10, 'idle')
    await pass(7, 'busy', 2)
    const held = await hold(6)
    const afterHeld = await pass(5, 'busy', 2)
    const young = await pass(0.5, 'busy', 3)
    await until(async () => (await ended()) === 258)
    await addHours(store, now)
    const before = await reports()

    const old = { before: now - DAY, upTo: 10_000 }
    await deleteOldRequests(store, old, 0, () => false)
    await deleteOldRequests(store, { ...old, before: now - 20 * DAY })
    await deleteOldRequests(store, { ...old, upTo: 0 })
    let rounds = 0
    const forEver = startMaintenance(
      store,
      () => (rounds++, now),
      null,
      (error) => assert.fail(String(error)),
      1,
    )
    await until(() => rounds > 3)
    await forEver[Symbol.asyncDispose]()
    assert.equal((await ids()).length, 259)
    await deleteOldRequests(store, { ...old, upTo: 50 })
    assert.equal((await ids()).length, 209)
    await Promise.all([deleteOldRequests(store, old), deleteOldRequests(store, old)])
    assert.deepEqual(
      await ids(),
      [idle, held.id, ...afterHeld, ...young],
      'the days wait for what is under way, and so do the requests',
    )
    assert.deepEqual(await reports(), before)

    held.end()
    await until(async () => (await ended()) === 259)
    const upkeep = startMaintenance(
      store,
      () => now,
      DAY,
      (error) => assert.fail(String(error)),
      10,
    )
    await until(async () => (await ids()).length === 5)
    await upkeep[Symbol.asyncDispose]()
    assert.deepEqual(await ids(), [idle, held.id, ...young])

    // With a clock that was set back, a request can begin in an hour that was added long ago.
    const back = await hold(9)
    const newest = await pass(0, 'held')
    await deleteOldRequests(store, old)
    assert.deepEqual(await ids(), [idle, ...young, back.id, ...newest])
    assert.deepEqual((await verifyWindows(store)).violations, [])
  },
)

onEveryStore(
  'retention keeps requests that a limit still counts, even if the clock was years behind',
  async (t, place) => {
    const { store, ledger, clock } = await openFor(t, place)
    const now = clock.now()
    clock.wallBy = -1000 * DAY
    const asked = [1, 2, 3].map(() => admissionRequest('k', 3))
    for (const one of asked) {
      const admission = await ledger.admit(one)
      assert.ok(admission.admitted)
      ledger.settle(settlement(one, admission))
    }
    await until(async () => (await usageOfKeys(store, ['k'])).get('k')!.totals.requests === 3)
    clock.wallBy = 0
    await addHours(store, now)
    let rounds = 0
    const counted = Object.create(store, {
      run: {
        value: (...call: Parameters<Store['run']>) =>
          store.run(...call).finally(() => (rounds += Number(call[0] === flushJournal))),
      },
    }) as Store
    const upkeep = startMaintenance(
      counted,
      () => now,
      DAY,
      (error) => assert.fail(String(error)),
    )
    await until(() => rounds === 1)
    await upkeep[Symbol.asyncDispose]()
    const again = await openFor(t, place, clock)
    assert.equal((await again.ledger.admit(admissionRequest('k', 3))).admitted, false)
  },
)

onEveryStore(
  'maintenance examines requests from where it ended, and once a day all of them',
  async (t, place) => {
    const opened = await openFor(t, place)
    const { store, ledger, clock } = opened
    await passAgo(opened, 3, 3)
    await passAgo(opened, 0, 2)
    await ledger.close()
    let now = clock.now()
    const begun: number[] = []
    const watched = Object.create(store, {
      run: {
        value: (...call: Parameters<Store['run']>) => {
          if (call[0] === deleteOldBatch) begun.push((call[1] as { after: number }).after)
          return store.run(...call)
        },
      },
    }) as Store
    const upkeep = startMaintenance(
      watched,
      () => now,
      DAY,
      (error) => assert.fail(String(error)),
      1,
    )
    await until(() => begun.at(-1) === 3)
    assert.deepEqual(new Set(begun), new Set([0, 3]))
    const { rows } = await sql<{ seq: number }>`select seq from requests order by seq`.execute(
      store.db,
    )
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      [4, 5],
    )
    const today = begun.length
    now += DAY
    await until(() => begun.slice(today).includes(0))
    await upkeep[Symbol.asyncDispose]()
  },
)

test('on SQLite, new rows take the space of deleted ones', async (t) => {
  const { store } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  await sql`insert into usage_added (name, before) values ('days', ${100 * DAY})`.execute(store.db)
  const sizes: number[] = []
  for (let day = 1; day <= 8; day++) {
    const from = (day - 1) * 500
    await sql`
      insert into requests (seq, id, account_id, key_id, provider, endpoint, method, state, created_at, mono, instance, boot)
      with recursive n (n) as (select ${sql.lit(from + 1)} union all select n + 1 from n where n < ${sql.lit(from + 500)})
      select n, 'req_' || n, 'acc', 'key_' || (n % 9), 'openai', '/v1/chat/completions', 'POST', 'settled', ${sql.lit(day * DAY)}, n, 'i', 0 from n`.execute(
      store.db,
    )
    await deleteOldRequests(store, { before: (day - 1) * DAY, upTo: from })
    const { rows } = await sql<{
      page_count: number
    }>`select page_count from pragma_page_count`.execute(store.db)
    sizes.push(rows[0]!.page_count)
  }
  assert.ok(sizes.at(-1)! <= 1.05 * sizes[3]!, `pages of 4 KB: ${sizes.join(', ')}`)
})

onEveryStore('retention passes numbers without rows in short statements', async (t, place) => {
  const opened = await openFor(t, place)
  const { store, ledger, clock } = opened
  if (store.dialect === 'sqlite') return // A deleted row leaves nothing there that could be slow.
  await passAgo(opened, 3, 1)
  await sql`select setval('requests_seq_seq', 250000)`.execute(store.db)
  await passAgo(opened, 3, 1)
  await passAgo(opened, 0, 1)
  await ledger.close()
  await addHours(store, clock.now())
  const old = { before: clock.now() - DAY, upTo: 250_002 }
  const page = { ...old, rows: 10, span: 100_000 }
  const ends: unknown[] = []
  let after: number | null = 0
  while (after !== null) {
    const batch: { next: number | null } = await store.run(deleteOldBatch, { ...page, after })
    after = batch.next
    ends.push(after)
  }
  assert.deepEqual(ends, [1, 100_001, 200_001, null])
  assert.equal(await deleteOldRequests(store, old), 200_000, 'the youngest row is not passed')
})

test('maintenance reports errors and continues; disposing waits for the step in progress', async () => {
  const { promise: responded, resolve: respond } = Promise.withResolvers<void>()
  let [begun, ended] = [0, 0]
  const run = async () => {
    if (++begun === 3) await responded
    ended++
    throw new Error('the store is full')
  }
  const errors: string[] = []
  const upkeep = startMaintenance(
    { run } as unknown as Store,
    () => 0,
    null,
    (error) => errors.push(String(error)),
    1,
  )
  await until(() => begun === 3)
  const closing = Promise.resolve(upkeep[Symbol.asyncDispose]()).then(() => ended)
  await setTimeout(1)
  respond()
  assert.equal(await closing, 3)
  await setTimeout(10)
  assert.equal(begun, 3)
  assert.deepEqual(
    errors,
    Array.from({ length: 3 }, () => 'Error: the store is full'),
  )
})
