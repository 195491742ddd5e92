import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { cancelAdmission, countConversion } from '../../server/conversion/admission.ts'
import { admit } from '../../server/conversion/admit.ts'
import { createJobNotifications } from '../../server/conversion/jobs/notifications.ts'
import type { Admission } from '../../server/conversion/admission.ts'
import { usedToday } from '../../server/accounts/quota.ts'
import { bootId } from '../../server/common/clock.ts'
import { openLog } from '../../server/common/log.ts'
import { sweepBlobs } from '../../server/store/blobs/blobs.ts'
import { folderBlobs } from '../../server/store/blobs/folder.ts'
import { enterInstance, processSpace, signer } from '../../server/store/instance.ts'
import type { Store } from '../../server/store/store.ts'
import type { Place } from '../support/place.ts'
import { onEveryStore, openAt } from '../support/stores.ts'
import { until } from '../support/until.ts'
import { take } from './blob-steps.ts'

const NOW = Date.UTC(2026, 10, 3, 12)
const PLAN = { name: 'free', conversionsPerDay: 2 }

async function open(t: TestContext, place: Place): Promise<Store> {
  const store = await openAt(t, place, NOW)
  await store.db
    .insertInto('accounts')
    .values({
      id: 'acc',
      name: 'a',
      email: null,
      plan: 'free',
      role: 'member',
      created_at: 0,
      disabled: 0,
    })
    .execute()
  return store
}

const enter = (store: Store, now = NOW) =>
  enterInstance(
    store,
    () => now,
    (error) => assert.fail(String(error)),
  )
/** Lets a request of this instance in. */
async function letIn(store: Store, instance: string): Promise<Admission> {
  const admission = await admit(
    store,
    { account: 'acc', plan: PLAN, key: undefined, fingerprint: '', instance },
    () => NOW,
    new AbortController().signal,
    createJobNotifications(store),
    openLog('silent'),
  )
  assert.ok('reservation' in admission)
  return admission
}

/** An id that no process has: the kernel's largest is 2²². */
const NO_PROCESS = 2 ** 30

/**
 * TABLE of other instances: what they are, their row (seen when, from now), and whether what they
 * hold is given back when another one starts.
 */
const OTHERS: [what: string, row: { host: string; pid: number; seen_at: number }, gone: boolean][] =
  [
    [
      'a process of this machine that runs',
      { host: processSpace(), pid: process.ppid, seen_at: 0 },
      false,
    ],
    [
      'a process of this machine that has ended',
      { host: processSpace(), pid: NO_PROCESS, seen_at: 0 },
      true,
    ],
    [
      'this process before it was started again in a container',
      { host: processSpace(), pid: process.pid, seen_at: 0 },
      true,
    ],
    [
      'a process of another machine that has the same name, seen lately',
      {
        host: processSpace().replace(bootId(), 'another boot'),
        pid: NO_PROCESS,
        seen_at: -20_000,
      },
      false,
    ],
    [
      'a process of another machine, seen lately',
      { host: 'elsewhere', pid: NO_PROCESS, seen_at: -20_000 },
      false,
    ],
    [
      'a process of another machine, not seen for long',
      { host: 'elsewhere', pid: NO_PROCESS, seen_at: -40_000 },
      true,
    ],
  ]

for (const [what, row, gone] of OTHERS) {
  onEveryStore(`rows held by ${what} are ${gone ? 'released' : 'kept'}`, async (t, place) => {
    const store = await open(t, place)
    await store.db
      .insertInto('instances')
      .values({ id: 'ins_other', ...row, seen_at: (await store.time(NOW)) + row.seen_at })
      .execute()
    await letIn(store, 'ins_other')
    assert.equal(await usedToday(store, 'acc', NOW), 1)
    await using instance = await enter(store)
    assert.ok(instance.id.startsWith('ins_'))
    assert.equal(await usedToday(store, 'acc', NOW), gone ? 0 : 1)
  })
}

/**
 * A process that has ended and that its parent never asks about. The parent is a shell which has
 * become another program.
 */
async function zombie(t: TestContext): Promise<number> {
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => parent.kill('SIGKILL'))
  const [said] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(said.toString())
  await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '))
  return pid
}

// Where the system tells: elsewhere such a process counts as one that runs until its parent ends.
if (process.platform === 'linux') {
  onEveryStore('rows held by a finished process of this machine are released', async (t, place) => {
    const store = await open(t, place)
    await store.db
      .insertInto('instances')
      .values({
        id: 'ins_other',
        host: processSpace(),
        pid: await zombie(t),
        seen_at: await store.time(NOW),
      })
      .execute()
    await letIn(store, 'ins_other')
    await using instance = await enter(store)
    assert.ok(instance.id.startsWith('ins_'))
    assert.equal(await usedToday(store, 'acc', NOW), 0)
  })
}

/**
 * TABLE of when a process signs, by the store's time in milliseconds, while another one has not
 * signed since 0; and whether that one is taken for dead.
 */
const SIGNS: [what: string, signs: number[], gone: boolean][] = [
  ['all the time', [5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000], true],
  ['not for as long itself', [0, 35_000, 40_000, 45_000], false],
  [
    'not for as long itself, and again for a while since',
    [0, 35_000, 40_000, 45_000, 50_000],
    true,
  ],
  ['at another time, because a clock was set', [0, 3_600_000, 3_605_000], false],
  ['at an earlier time, because a clock was set', [-3_600_000, -3_595_000], false],
  [
    'for a while after a clock was set back',
    [-3_600_000, -3_595_000, -3_590_000, -3_585_000],
    true,
  ],
]

onEveryStore(
  'an instance without a heartbeat is expired by live ones, but not after a clock change or an outage',
  async (t, place) => {
    const store = await open(t, place)
    for (const [what, signs, gone] of SIGNS) {
      const sign = signer({ role: 'all', id: `ins_mine ${what}`, host: 'here', pid: 1 })
      await store.db.deleteFrom('instances').execute()
      await sign(store, 0, [])
      await store.db
        .insertInto('instances')
        .values({ id: 'ins_other', host: 'elsewhere', pid: NO_PROCESS, seen_at: 0 })
        .execute()
      for (const now of signs) await sign(store, now, [])
      const left = await store.db
        .selectFrom('instances')
        .select('id')
        .where('id', '=', 'ins_other')
        .execute()
      assert.equal(left.length === 0, gone, what)
    }
  },
)

onEveryStore('a process that ends during a heartbeat leaves no row', async (t, place) => {
  const store = await open(t, place)
  const instance = await enter(store)
  const beat = instance.beat()
  await instance[Symbol.asyncDispose]()
  await beat
  assert.deepEqual(await store.db.selectFrom('instances').selectAll().execute(), [])
})

onEveryStore('two instances in one process leave each other alone', async (t, place) => {
  const store = await open(t, place)
  await using first = await enter(store)
  await letIn(store, first.id)
  await using _second = await enter(store)
  assert.equal(await usedToday(store, 'acc', NOW), 1)
})

onEveryStore(
  'a closing instance releases what it holds and keeps what was counted',
  async (t, place) => {
    const store = await open(t, place)
    {
      await using instance = await enter(store)
      const admission = await letIn(store, instance.id)
      await letIn(store, instance.id)
      await countConversion(store, admission, undefined, 0, NOW)
      await cancelAdmission(store, admission, false, openLog('silent'))
      assert.equal(await usedToday(store, 'acc', NOW), 2)
    }
    assert.equal(await usedToday(store, 'acc', NOW), 1)
  },
)

onEveryStore('an expired process cannot exceed the quota', async (t, place) => {
  const store = await open(t, place)
  await using lost = await enter(store)
  const [first, second] = [await letIn(store, lost.id), await letIn(store, lost.id)]
  await store.db.deleteFrom('instances').where('id', '=', lost.id).execute()
  await using other = await enter(store)
  await countConversion(store, await letIn(store, other.id), undefined, 0, NOW)
  // One place is left for the two that were lost.
  await countConversion(store, first, undefined, 0, NOW)
  await assert.rejects(countConversion(store, second, undefined, 0, NOW), {
    code: 'quota_exceeded',
  })
  assert.equal(await usedToday(store, 'acc', NOW), 2)
})

onEveryStore(
  'a blob of an expired process is either kept or cannot be taken over',
  async (t, place) => {
    const store = await openAt(t, place)
    const blobs = folderBlobs(join(place.data, 'blobs'))
    const path = join(place.data, 'file')
    writeFileSync(path, 'x')
    await store.db
      .insertInto('blobs')
      .values({ id: 'blob_x', expires_at: 1000, instance_id: 'ins_gone' })
      .execute()
    await blobs.put('blob_x', path)
    let taking: Promise<boolean> | undefined
    const db = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        taking ??= store.run(take, { id: 'blob_x', instance: 'ins_gone', until: 1000 }).then(
          () => true,
          () => false,
        )
        await taking
        return result
      },
    })
    await sweepBlobs({ ...store, db }, blobs, 100)
    const opened = await blobs.open('blob_x').catch(() => undefined)
    opened?.stream.destroy()
    assert.equal(opened !== undefined, await taking)
  },
)

onEveryStore(
  "work that needs an expired process's row or blob is retried and is not an error",
  async (t, place) => {
    const store = await open(t, place)
    await assert.rejects(letIn(store, 'ins_gone'), { name: 'StoreError', code: 'busy' })
    await assert.rejects(store.run(take, { id: 'blob_gone', instance: 'ins_gone', until: 1000 }), {
      name: 'StoreError',
      code: 'blobs',
    })
  },
)
