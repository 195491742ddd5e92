// A process that starts among others: nobody may think that it is alone once another one admits.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { openLog } from '../../../server/common/log.ts'
import {
  exchangeCounts,
  joinProcesses,
  UNCOUNTED_MS,
} from '../../../server/ledger/admission/web-processes.ts'
import { enterInstance } from '../../../server/store/instance.ts'
import type { Store } from '../../../server/store/store.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { movedClock, openFor } from '../support/opened.ts'

async function entered(t: TestContext, store: Store, role = 'web'): Promise<string> {
  const instance = await enterInstance(store, Date.now, () => {}, role)
  t.after(() => instance[Symbol.asyncDispose]())
  return instance.id
}

function joined(store: Store, instance: string) {
  const lines: string[] = []
  const clock = movedClock()
  const log = openLog('warn', { write: (line) => void lines.push(line) })
  const joining: { known: string[] | null; lines: string[]; moveBy: (ms: number) => void } = {
    known: null,
    lines,
    moveBy: (ms) => (clock.monoBy += ms),
  }
  const end = joinProcesses({ store, clock, log, instance }).then((ids) => (joining.known = ids))
  return { joining, end }
}

onEveryStore('a process starts once every other one counts it', async (t, place) => {
  const store = await openAt(t, place, Date.now())
  const one = await entered(t, store)
  const worker = await entered(t, store, 'worker')
  assert.deepEqual(await joined(store, one).end, [one], 'a worker admits nothing')
  const two = await entered(t, store, 'all')
  const { joining, end } = joined(store, two)
  const knownBy = async (instance: string): Promise<readonly string[]> => {
    const processes = await store.run(exchangeCounts, { instance: one, known: null })
    return processes.find(({ id }) => id === instance)?.known ?? []
  }
  await until(async () => (await knownBy(two)).includes(one))
  await store.run(exchangeCounts, { instance: one, known: [one] })
  await until(async () => (await knownBy(one)).includes(one))
  assert.equal(joining.known, null, 'its count is one of before')
  await store.run(exchangeCounts, { instance: one, known: [one, two] })
  assert.deepEqual(await end, [one, two])
  assert.deepEqual(joining.lines, [])
  assert.deepEqual(await joined(store, worker).end, [one, two], 'nobody counts a worker')
})

onEveryStore('a proof that the database can be written writes to it', async (t, place) => {
  const store = await openAt(t, place, Date.now())
  // Its process sends no heartbeats, which would also be writes.
  const instance = 'ins_quiet'
  const seen_at = Date.now()
  const row = { id: instance, host: 'h', pid: 1, role: 'web', seen_at, known: null }
  await store.write(store.db.insertInto('instances').values(row))
  const files = new DatabaseSync(':memory:')
  t.after(() => files.close())
  if (store.dialect === 'sqlite') files.exec(`attach '${join(place.data, 'tollmark.db')}' as them`)
  const version = async (): Promise<unknown> =>
    store.dialect === 'sqlite'
      ? files.prepare('pragma them.data_version').get()?.['data_version']
      : (await sql<{ at: string }>`select xmin::text as at from instances`.execute(store.db))
          .rows[0]?.at
  const before = await version()
  await store.run(exchangeCounts, { instance, known: null })
  assert.equal(await version(), before)
  await store.run(exchangeCounts, { instance, known: null, isProof: true })
  assert.notEqual(await version(), before)
  const after = await store.db.selectFrom('instances').select('seen_at').executeTakeFirstOrThrow()
  assert.equal(after.seen_at, seen_at)
})

onEveryStore('processes that start together wait for each other', async (t, place) => {
  const store = await openAt(t, place, Date.now())
  const some = [await entered(t, store), await entered(t, store), await entered(t, store)]
  const ends = some.map((instance) => joined(store, instance).end)
  for (const end of ends) assert.deepEqual(await end, some.toSorted())
})

onEveryStore('a running process counts a new one as soon as it starts', async (t, place) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  await openFor(t, place)
  const store = await openAt(t, place)
  const { joining, end } = joined(store, await entered(t, store))
  assert.equal((await end).length, 2)
  assert.deepEqual(joining.lines, [], 'no look by the clock was needed')
})

onEveryStore(
  'a new process waits for a hanging one as long as the count of that one is valid',
  async (t, place) => {
    const store = await openAt(t, place, Date.now())
    const hanging = await entered(t, store)
    const { joining, end } = joined(store, await entered(t, store))
    joining.moveBy(UNCOUNTED_MS + 1)
    assert.equal((await end).length, 2)
    assert.equal(joining.lines.length, 1)
    assert.match(joining.lines[0] ?? '', new RegExp(hanging))
  },
)
