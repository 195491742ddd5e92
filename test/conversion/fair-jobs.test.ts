// Jobs of several accounts: they take turns, over several workers, and no account has more than two
// running or twenty waiting.
import assert from 'node:assert/strict'
import {
  claimJob,
  requeueJob,
  hasClaimableJob,
  type JobClaimant,
  type ClaimedJob,
} from '../../server/conversion/jobs/claim-job.ts'
import { cancelJob } from '../../server/conversion/jobs/end-job.ts'
import { newJob } from '../../server/conversion/jobs/enter-job.ts'
import { jobQueueRefusal } from '../../server/conversion/jobs/queue-limits.ts'
import { newId } from '../../server/common/ids.ts'
import { enterInstance } from '../../server/store/instance.ts'
import type { Store } from '../../server/store/store.ts'
import type { TestContext } from 'node:test'
import type { Place } from '../support/place.ts'
import { onEveryStore, openAt } from '../support/stores.ts'
import { enterJobAlone } from './job-queue.ts'

const NOW = 1_000_000

async function opened(t: TestContext, place: Place, accounts: readonly string[]) {
  const store = await openAt(t, place, NOW)
  for (const id of accounts)
    await store.db
      .insertInto('accounts')
      .values({
        id,
        name: id,
        email: null,
        plan: 'free',
        role: 'member',
        created_at: 0,
        disabled: 0,
      })
      .execute()
  const instance = async (): Promise<string> => {
    const entered = await enterInstance(
      store,
      () => NOW,
      () => {},
    )
    t.after(() => entered[Symbol.asyncDispose]())
    return entered.id
  }
  // One after another: PostgreSQL may take seconds to open five connections on a busy machine, and
  // a connection that takes two is an error.
  const instances = async (count: number): Promise<string[]> => {
    const ids: string[] = []
    while (ids.length < count) ids.push(await instance())
    return ids
  }
  const own = await instance()
  let made = NOW
  const add = async (account_id: string): Promise<string> => {
    const upload_blob = newId('blob', NOW)
    await store.db
      .insertInto('blobs')
      .values({ id: upload_blob, instance_id: own, expires_at: NOW * 2 })
      .execute()
    const given = {
      id: newId('job', made++),
      account_id,
      format: 'markdown',
      include_metadata: 0,
      source_map: 0,
      certify: 0,
      file_name: 'x',
      file_size: 1,
      upload_blob,
    } as const
    await store.run(enterJobAlone, { job: newJob(given, NOW), instance: own })
    return given.id
  }
  const end = (job: ClaimedJob): Promise<unknown> =>
    store.run(cancelJob, { id: job.id, account: job.account_id, now: NOW })
  return { store, instance, instances, add, end }
}

async function claim(
  store: Store,
  instance: string,
  running: JobClaimant['running'] = [],
): Promise<ClaimedJob | undefined> {
  const name = newId('clm', NOW)
  const { job } = await store.run(claimJob, { claim: name, instance, now: NOW, running })
  return job
}

onEveryStore(
  'accounts take turns, whatever their order of arrival and number of jobs',
  async (t, place) => {
    const { store, instance, add, end } = await opened(t, place, ['a', 'b', 'c'])
    for (const account of 'aaaaaaabbc') await add(account)
    const worker = await instance()
    const order: string[] = []
    for (let nth = 0; nth < 10; nth++) {
      const job = await claim(store, worker)
      order.push(job?.account_id ?? 'none')
      if (job) await end(job)
      // One that comes while others wait stands beside the next one, not behind all.
      if (nth === 4) await add('c')
    }
    assert.equal(order.join(''), 'abcabcaaaa')
  },
)

onEveryStore(
  'across many workers an account has two jobs running, and others have theirs',
  async (t, place) => {
    const { store, instance, instances, add, end } = await opened(t, place, ['a', 'b'])
    for (const account of 'aaaaab') await add(account)
    const workers = await instances(6)
    const jobs = (await Promise.all(workers.map((worker) => claim(store, worker)))).filter(
      (job) => job !== undefined,
    )
    assert.equal(
      jobs
        .map(({ account_id }) => account_id)
        .sort()
        .join(''),
      'aab',
    )
    const idle = await instance()
    assert.equal(
      await hasClaimableJob(store, { instance: idle, now: NOW, running: [] }),
      false,
      'what may not begin wakes no worker',
    )
    await end(jobs.find(({ account_id }) => account_id === 'a')!)
    assert.equal(await hasClaimableJob(store, { instance: idle, now: NOW, running: [] }), true)
    assert.equal((await claim(store, idle))?.account_id, 'a')
  },
)

onEveryStore('a returned job keeps its turn', async (t, place) => {
  const { store, instance, add } = await opened(t, place, ['a', 'b'])
  for (const account of 'aab') await add(account)
  const first = await claim(store, await instance())
  assert.ok(first)
  await requeueJob(store, first, first.created_at, { claims: 0 })
  assert.equal((await claim(store, await instance()))?.id, first.id)
})

onEveryStore(
  "an account's 21st waiting job is refused, and a full queue accepts another account's first",
  async (t, place) => {
    const { store, add } = await opened(t, place, ['a', 'b', 'c'])
    for (let nth = 0; nth < 19; nth++) await add('a')
    assert.equal(await jobQueueRefusal(store, 'a', 1000), null)
    await add('a')
    assert.equal(await jobQueueRefusal(store, 'a', 1000), 'share')
    assert.equal(await jobQueueRefusal(store, 'b', 20), null)
    await add('b')
    assert.equal(await jobQueueRefusal(store, 'b', 20), 'full')
    assert.equal(await jobQueueRefusal(store, 'c', 20), null)
    assert.equal(await jobQueueRefusal(store, 'c', 10), 'full')
  },
)

onEveryStore("conversions in requests count among an account's two", async (t, place) => {
  const { store, instances, add } = await opened(t, place, ['a', 'b', 'c'])
  for (const account of 'aaabbbc') await add(account)
  const workers = await instances(6)
  // Two of a run beside the jobs, one of b, none of c.
  const claimed: string[] = []
  for (const worker of workers)
    claimed.push(
      (
        await claim(store, worker, [
          ['a', 2],
          ['b', 1],
        ])
      )?.account_id ?? 'none',
    )
  assert.deepEqual(claimed.toSorted(), ['b', 'c', 'none', 'none', 'none', 'none'])
  assert.equal(
    await hasClaimableJob(store, {
      instance: workers[5]!,
      now: NOW,
      running: [
        ['a', 2],
        ['b', 1],
      ],
    }),
    false,
  )
  assert.equal((await claim(store, workers[5]!))?.account_id, 'a')
})
