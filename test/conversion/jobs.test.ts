import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  claimJob,
  requeueJob,
  isClaimed,
  hasClaimableJob,
  reportProgress,
} from '../../server/conversion/jobs/claim-job.ts'
import { cancelJob, failJob, succeedJob, sweepJobs } from '../../server/conversion/jobs/end-job.ts'
import { TRANSITIONS } from '../../server/conversion/jobs/states.ts'
import type { ClaimedJob } from '../../server/conversion/jobs/claim-job.ts'
import type { JobStatus } from '../../server/conversion/jobs/states.ts'
import { keepBlob } from '../../server/store/blobs/blobs.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { openQueue } from './job-queue.ts'
import type { Queue } from './job-queue.ts'

async function claim(
  { store }: Queue,
  instance: string,
  name: string,
  now = Date.now(),
): Promise<ClaimedJob | undefined> {
  const { job } = await store.run(claimJob, { claim: name, instance, now, running: [] })
  return job
}

const STATES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const satisfies JobStatus[]

test('no transition leaves a final state, except that results expire', () => {
  for (const [name, { from, to }] of Object.entries(TRANSITIONS)) {
    for (const state of from)
      assert.ok(
        ['queued', 'running'].includes(state) || (state === 'succeeded' && to === 'expired'),
        `${name} leads from ${state} to ${to}`,
      )
  }
})

/**
 * TABLE of what can be done to a job: in every state, only what TRANSITIONS allows has an effect.
 */
const DEEDS: {
  name: keyof typeof TRANSITIONS
  deed: (
    queue: Queue,
    job: ClaimedJob,
    instance: string,
    t: Parameters<typeof temporaryFolder>[0],
  ) => Promise<unknown>
}[] = [
  { name: 'claim', deed: (queue, _, instance) => claim(queue, instance, 'again') },
  {
    name: 'succeed',
    deed: async ({ store, blobs }, job, instance, t) => {
      const path = join(temporaryFolder(t), 'document')
      writeFileSync(path, 'document')
      const result = await keepBlob(store, blobs, path, instance, Date.now())
      await store.run(succeedJob, {
        job,
        result,
        issues: { warnings: 0, failedPages: 0 },
        instance,
        expiresAt: 1,
        now: 0,
      })
    },
  },
  {
    name: 'fail',
    deed: ({ store }, job) =>
      store.run(failJob, { job, code: 'internal_error', detail: 'x', now: 0 }),
  },
  {
    name: 'cancel',
    deed: ({ store }, job) => store.run(cancelJob, { id: job.id, account: 'acc', now: 0 }),
  },
  { name: 'expire', deed: ({ store }) => store.run(sweepJobs, { now: 2 }) },
]

test('in every state, only transitions in the table have an effect', async (t) => {
  const queue = await openQueue(t)
  const { id: instance } = await queue.instance()
  const id = await queue.add('x')
  const fresh = await queue.job(id)
  for (const state of STATES) {
    for (const { name, deed } of DEEDS) {
      const row = {
        ...fresh,
        status: state,
        claim: 'held',
        instance_id: null,
        finished_at: null,
        expires_at: state === 'succeeded' ? 1 : null,
      }
      await queue.store.db.updateTable('jobs').set(row).where('id', '=', id).execute()
      await queue.store.db
        .updateTable('blobs')
        .set({ instance_id: null, expires_at: 1e15 })
        .where('id', '=', fresh.upload_blob!)
        .execute()
      await deed(queue, { ...row, claim: 'held', upload_blob: fresh.upload_blob! }, instance, t)
      const { from, to } = TRANSITIONS[name]
      // Deleting a job lets its result expire.
      const after = (from as readonly JobStatus[]).includes(state)
        ? to
        : name === 'cancel' && state === 'succeeded'
          ? 'expired'
          : state
      assert.equal((await queue.job(id)).status, after, `${name} in ${state}`)
    }
  }
})

test('a worker that lost its claim can neither report on, finish nor return the job', async (t) => {
  const queue = await openQueue(t)
  const [slow, quick] = [(await queue.instance()).id, (await queue.instance()).id]
  const id = await queue.add('x')
  const lost = await claim(queue, slow, 'lost')
  assert.ok(lost)
  assert.equal(await claim(queue, quick, 'too early'), undefined, 'it is held')
  // What happens to the row of a process that is taken for dead, and comes back when it wakes.
  const row = await queue.store.db
    .selectFrom('instances')
    .selectAll()
    .where('id', '=', slow)
    .executeTakeFirstOrThrow()
  await queue.store.db.deleteFrom('instances').where('id', '=', slow).execute()
  await queue.store.db.insertInto('instances').values(row).execute()
  const held = await claim(queue, quick, 'held')
  assert.equal(held?.id, id)
  assert.equal(await isClaimed(queue.store, lost), false)
  assert.equal(await reportProgress(queue.store, lost, 7, 8), false)
  assert.equal(
    await queue.store.run(failJob, { job: lost, code: 'internal_error', detail: 'x', now: 0 }),
    false,
  )
  assert.equal(
    await queue.store.run(succeedJob, {
      job: lost,
      result: 'blob_x',
      issues: { warnings: 0, failedPages: 0 },
      instance: slow,
      expiresAt: 0,
      now: 0,
    }),
    false,
  )
  await requeueJob(queue.store, lost, 0, {})
  const { status, claim: by, pages_done, instance_id } = await queue.job(id)
  assert.deepEqual([status, by, pages_done, instance_id], ['running', 'held', 0, quick])
})

test('the oldest job is claimed first; a returned job keeps its turn, and a retry waits for its time', async (t) => {
  const queue = await openQueue(t)
  const { id: instance } = await queue.instance()
  const ids: string[] = []
  for (let index = 0; index < 3; index++) {
    const before = Date.now()
    ids.push(await queue.add('x', `account ${index}`))
    // Each is made in a millisecond of its own.
    await until(() => Date.now() > before)
  }
  const now = Date.now()
  const [first, second] = [
    await claim(queue, instance, 'one', now),
    await claim(queue, (await queue.instance()).id, 'two', now),
  ]
  assert.deepEqual([first?.id, second?.id], ids.slice(0, 2))
  await requeueJob(queue.store, first!, now + 1000, { failures: 1 })
  await requeueJob(queue.store, second!, second!.created_at, { claims: 0 })
  assert.equal((await claim(queue, instance, 'three', now))?.id, ids[1])
  assert.equal((await claim(queue, (await queue.instance()).id, 'four', now))?.id, ids[2])
  const last = (await queue.instance()).id
  assert.equal(
    await hasClaimableJob(queue.store, { instance: last, now: now + 999, running: [] }),
    false,
  )
  assert.equal((await claim(queue, last, 'five', now + 1000))?.failures, 1)
})

test('a worker whose clock is behind can still claim a job', async (t) => {
  const queue = await openQueue(t)
  const { id: instance } = await queue.instance()
  await queue.add('x')
  const now = Date.now()
  const job = await claim(queue, instance, 'one', now - 3_600_000)
  assert.ok(job)
  await requeueJob(queue.store, job, now + 30_000, { failures: 1 })
  assert.equal(await hasClaimableJob(queue.store, { instance, now, running: [] }), false)
  assert.equal((await claim(queue, instance, 'two', now - 3_600_000))?.id, job.id)
})

test('a job that was started 100 times fails, and counts', async (t) => {
  const queue = await openQueue(t)
  const id = await queue.add('x')
  await queue.store.db
    .updateTable('jobs')
    .set({ status: 'running', claims: 100 })
    .where('id', '=', id)
    .execute()
  await queue.worker()
  await until(async () => (await queue.job(id)).status === 'failed')
  const { error_code, error_detail, upload_blob } = await queue.job(id)
  assert.deepEqual([error_code, upload_blob], ['internal_error', null])
  assert.match(error_detail!, /started 100 times/)
  await until(() => queue.ended.failed === 1)
})

test('concurrent claims give each job to one worker', async (t) => {
  const queue = await openQueue(t)
  for (let index = 0; index < 20; index++) await queue.add('x', `account ${index % 10}`)
  const instances = await Promise.all(Array.from({ length: 40 }, () => queue.instance()))
  const claimed = await Promise.all(
    instances.map(({ id }, index) => claim(queue, id, `claim ${index}`)),
  )
  const ids = claimed.flatMap((job) => (job ? [job.id] : []))
  assert.deepEqual([ids.length, new Set(ids).size], [20, 20])
})
