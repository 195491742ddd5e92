import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { locksOf, reserveGroups } from '../../../server/ledger/admission/postgres-reserve.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { NODE_FLAGS } from '../../support/node.ts'
import { argumentsOf } from '../../support/place.ts'
import { emptyPlaceOn, onEveryStore, openAt } from '../../support/stores.ts'
import { usedFolder } from '../../support/templates.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, movedClock, openFor } from '../support/opened.ts'

/**
 * What is asked for, and how many can pass: `p` has two children, which use up less than it has.
 */
const LIMITS: Record<string, number> = {
  'a:37': 37,
  'b:1': 1,
  'c:1000': 1000,
  'p:50:one:7': 7,
  'p:50:two:13': 13,
}
const PROCESSES = 4
const ASKED = 10_000

onEveryStore(
  `${ASKED} concurrent requests over ${PROCESSES} processes: exactly as many as each key allows`,
  async (t, place) => {
    const store = await openAt(t, place)
    const args = [
      ...NODE_FLAGS,
      join(import.meta.dirname, 'asker-process.ts'),
      ...argumentsOf(place),
      String(ASKED / PROCESSES),
      ...Object.keys(LIMITS),
    ]
    const askers = await Promise.all(
      Array.from({ length: PROCESSES }, async () => {
        const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
        t.after(() => child.kill('SIGKILL'))
        const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
        assert.equal((await lines.next()).value, 'ready')
        return { child, lines }
      }),
    )
    for (const { child } of askers) child.stdin.write('go\n')
    const sums: Record<string, number> = {}
    for (const { child, lines } of askers) {
      const counts = JSON.parse((await lines.next()).value ?? '{}') as Record<string, number>
      for (const [key, count] of Object.entries(counts)) sums[key] = (sums[key] ?? 0) + count
      if (child.exitCode === null) await once(child, 'exit')
    }
    assert.deepEqual(sums, { a: 37, b: 1, c: 1000, one: 7, two: 13 })
    const total = Object.values(LIMITS).reduce((sum, limit) => sum + limit, 0)
    assert.deepEqual(await verifyWindows(store), {
      keys: 4,
      requests: total,
      limited: total,
      outage: 0,
      missing: 0,
      sealed: 0,
      changed: [],
      violations: [],
    })
  },
)

test('a request that waits its turn does not count room that its window gains meanwhile', async (t) => {
  const place = { data: usedFolder(t), databaseUrl: null }
  const clock = movedClock()
  const [one, other] = [await openFor(t, place, clock), await openFor(t, place, clock)]
  const ask = async ({ ledger }: typeof one): Promise<boolean> =>
    (await ledger.admit(admissionRequest('k', 3))).admitted
  assert.ok(await ask(one))
  clock.monoBy += 20_000
  assert.ok(await ask(one))
  clock.monoBy += 30_000
  assert.ok(await ask(other))
  // The first process does not know of that yet. Both requests travel to the store together;
  // between them the oldest admission expires.
  const early = ask(one)
  clock.monoBy += 15_000
  const late = ask(one)
  assert.deepEqual([await early, await late].filter(Boolean).length, 1)
  assert.deepEqual((await verifyWindows(one.store)).violations, [])
})

test('admissions of a delayed unit count by their time, wherever they are in the ledger', async (t) => {
  const place = { data: usedFolder(t), databaseUrl: null }
  const [{ ledger, store, clock }, other] = [await openFor(t, place), await openFor(t, place)]
  for (let i = 0; i < 3; i++) assert.ok((await ledger.admit(admissionRequest('k', 3))).admitted)
  // The second one waited for 6 s, and is over by now: two lie in the last minute.
  const seconds = [55, 61, 1]
  await store.run(flushJournal, null)
  const rows = await store.db.selectFrom('requests').select('seq').orderBy('seq').execute()
  await store.write(
    ...rows.map(({ seq }, at) =>
      store.db
        .updateTable('requests')
        .set({ mono: Math.floor((clock.mono() - seconds[at]! * 1000) * 1000) })
        .where('seq', '=', seq),
    ),
  )
  assert.equal((await other.ledger.admit(admissionRequest('k', 2))).admitted, false)
})

test("a request admitted before other processes' admissions arrive is checked again", async (t) => {
  const place = { data: usedFolder(t), databaseUrl: null }
  const [one, other] = [await openFor(t, place), await openFor(t, place)]
  const ask = async ({ ledger }: typeof one): Promise<boolean> =>
    (await ledger.admit(admissionRequest('k', 3))).admitted
  assert.ok(await ask(one))
  assert.ok((await ask(other)) && (await ask(other)))
  // The first process hears of those two with the response to this unit, which is on its way when
  // the next request is decided.
  const unit = one.ledger.admit(admissionRequest('free', null))
  await new Promise(setImmediate)
  assert.equal(await ask(one), false)
  await unit
  assert.deepEqual((await verifyWindows(one.store)).violations, [])
})

test("another process's admission that is reported twice counts once", async (t) => {
  const place = { data: usedFolder(t), databaseUrl: null }
  const [one, other] = [await openFor(t, place), await openFor(t, place)]
  const ask = async ({ ledger }: typeof one, key: string, rpm: number | null): Promise<boolean> =>
    (await ledger.admit(admissionRequest(key, rpm))).admitted
  assert.ok((await ask(one, 'k', 3)) && (await ask(other, 'k', 3)))
  // The second unit sets out while the first one is under way: a key's window is read behind
  // everything that waits.
  const first = ask(one, 'free', null)
  await new Promise(setImmediate)
  assert.deepEqual(await Promise.all([first, ask(one, 'free', null), ask(one, 'new', 1)]), [
    true,
    true,
    true,
  ])
  assert.ok(await ask(one, 'k', 3))
})

onEveryStore(
  'two processes admit exactly as many as each key allows while keys become full at any moment',
  async (t, place) => {
    const ledgers = [(await openFor(t, place)).ledger, (await openFor(t, place)).ledger]
    const store = await openAt(t, place)
    const [KEYS, ASKERS, ASKS, LIMIT] = [120, 16, 150, 5]
    const admitted = new Map<string, number>()
    // At each moment a few keys are in use, and all askers go on to the next ones together.
    const asker = async (_: unknown, place: number): Promise<void> => {
      for (let i = 0; i < ASKS; i++) {
        const key = `k${Math.floor((i / ASKS) * (KEYS - 8)) + ((i * 7 + place * 3) % 8)}`
        if ((await ledgers[place % 2]!.admit(admissionRequest(key, LIMIT))).admitted)
          admitted.set(key, (admitted.get(key) ?? 0) + 1)
        await sleep((i * 5 + place) % 4)
      }
    }
    await Promise.all(Array.from({ length: ASKERS }, asker))
    assert.deepEqual(
      [...admitted].filter(([, count]) => count > LIMIT),
      [],
    )
    assert.deepEqual((await verifyWindows(store)).violations, [])
    assert.ok([...admitted.values()].filter((count) => count === LIMIT).length > KEYS / 2)
  },
)

test('postgres: waiting for another process happens before the stamp, and makes no admission late', async (t) => {
  const place = await emptyPlaceOn.postgres(t)
  const { store } = await openFor(t, place)
  const { id } = await store.db.selectFrom('instances').select('id').executeTakeFirstOrThrow()
  const other = new Client({ connectionString: place.databaseUrl!.href })
  await other.connect()
  t.after(() => other.end())
  const ask = async (text: string): Promise<number> =>
    Number((await other.query<{ value: string }>(`select ${text} as value`)).rows[0]!.value)
  const [lock] = locksOf(['k'])
  await other.query(`select pg_advisory_lock(${lock})`)
  const request = admissionRequest('k', 5)
  const pending = {
    request,
    patience: 0,
    superseded: false,
    callerLeft: false,
    resolve: () => {},
    reject: () => {},
  }
  const group = { key_id: 'k', rpm: 5, child_id: null, child_rpm: null, pending: [pending] }
  const reserving = reserveGroups(store, id, [group], 0, null, 0)
  const waiters = `(select count(*) from pg_locks join pg_database on oid = database and datname = current_database()
    where locktype = 'advisory' and not granted)`
  await until(async () => (await ask(waiters)) > 0)
  const waiting = await ask('tollmark_ledger_time()')
  const released = await ask('tollmark_ledger_time()')
  await other.query(`select pg_advisory_unlock(${lock})`)
  const response = await reserving
  assert.ok(response.kind === 'decided')
  assert.ok(response.waited >= (released - waiting) / 1000)
  const stamp = await ask('(select mono from admission_stamps)')
  assert.ok(stamp >= released)
})
