import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { StoreError } from '../../server/store/store-error.ts'
import { until } from '../support/until.ts'
import { openQueue } from './job-queue.ts'
import type { Queue } from './job-queue.ts'

const isDone = async (queue: Queue, id: string): Promise<boolean> =>
  !['queued', 'running'].includes((await queue.job(id)).status)

test('a job that kills its converter every time fails in the end, and later jobs finish', async (t) => {
  const queue = await openQueue(t)
  const [bad, good] = [await queue.add('exit'), await queue.add('write a document')]
  await queue.worker()
  await until(() => isDone(queue, bad))
  const { status, error_code, error_detail, failures, upload_blob } = await queue.job(bad)
  assert.deepEqual(
    [status, error_code, failures, upload_blob],
    ['failed', 'internal_error', 2, null],
  )
  assert.match(error_detail!, /3 times/)
  assert.equal((await queue.job(good)).status, 'succeeded')
  assert.equal(queue.lines.filter((line) => line.includes('the converter ended with 3')).length, 3)
  const stored = async (): Promise<unknown[]> =>
    (await queue.store.db.selectFrom('blobs').select('id').execute()).map(({ id }) => id)
  const { result_blob } = await queue.job(good)
  await until(async () => isDeepStrictEqual(await stored(), [result_blob]))
})

test('while files cannot be stored or read, a job is retried, and then finishes', async (t) => {
  const queue = await openQueue(t)
  let isDown = true
  const down = () => Promise.reject(new StoreError('blobs', 'connection refused'))
  await queue.worker((blobs) => ({
    ...blobs,
    put: (id, path) => (isDown ? down() : blobs.put(id, path)),
    remove: (id) => (isDown ? down() : blobs.remove(id)),
  }))
  const id = await queue.add('write a document')
  await until(async () => (await queue.job(id)).claims >= 2)
  assert.equal((await queue.job(id)).failures, 0)
  isDown = false
  await until(() => isDone(queue, id))
  assert.equal((await queue.job(id)).status, 'succeeded')
})

test('a job whose uploaded file was deleted fails at once, and says what to do', async (t) => {
  const queue = await openQueue(t)
  const id = await queue.add('write a document')
  await queue.blobs.remove((await queue.job(id)).upload_blob!)
  await queue.worker()
  await until(() => isDone(queue, id))
  const { status, claims, error_code, error_detail } = await queue.job(id)
  assert.deepEqual([status, claims, error_code], ['failed', 1, 'internal_error'])
  assert.match(error_detail!, /gone from the server's file store\. Upload it again/)
  assert.ok(queue.lines.some((line) => line.includes('gone from the file store')))
})

test('a job without an uploaded file fails, and the next one runs', async (t) => {
  const queue = await openQueue(t)
  const [bad, good] = [await queue.add('write a document'), await queue.add('write a document')]
  await queue.store.db
    .updateTable('jobs')
    .set({ upload_blob: null })
    .where('id', '=', bad)
    .execute()
  await queue.worker()
  await until(() => isDone(queue, good))
  assert.equal((await queue.job(good)).status, 'succeeded')
  const { status, claims, error_code, error_detail } = await queue.job(bad)
  assert.deepEqual([status, claims, error_code], ['failed', 0, 'internal_error'])
  assert.match(error_detail!, /Upload it again/)
})

test('a stopping worker hands its job back, and another claims it immediately', async (t) => {
  const queue = await openQueue(t)
  const first = await queue.worker()
  const id = await queue.add('run for ever')
  await until(async () => (await queue.job(id)).instance_id !== null)
  await first[Symbol.asyncDispose]()
  const { status, claim, claims, instance_id } = await queue.job(id)
  assert.deepEqual([status, claim, claims, instance_id], ['running', null, 0, null])
  await queue.store.db
    .updateTable('jobs')
    .set({ file_name: 'write a document' })
    .where('id', '=', id)
    .execute()
  await queue.worker()
  await until(() => isDone(queue, id))
  assert.equal((await queue.job(id)).status, 'succeeded')
})

test('a worker that lost its claim ends the conversion and takes the next job', async (t) => {
  const queue = await openQueue(t)
  await queue.worker()
  const [lost, next] = [await queue.add('run for ever'), await queue.add('write a document')]
  await until(async () => (await queue.job(lost)).claim !== null)
  const other = await queue.instance()
  await queue.store.db
    .updateTable('jobs')
    .set({ claim: 'of another', instance_id: other.id })
    .where('id', '=', lost)
    .execute()
  await until(() => isDone(queue, next))
  const { status, claim } = await queue.job(lost)
  assert.deepEqual([status, claim], ['running', 'of another'])
})

test('a worker retries a job whose end could not be written', async (t) => {
  const queue = await openQueue(t)
  const worker = await queue.worker()
  const id = await queue.add('run for ever')
  await until(async () => (await queue.job(id)).claim !== null)
  // The worker is told that it has lost the job; the store goes on saying that it is the one who
  // holds it.
  await queue.store.db
    .updateTable('jobs')
    .set({ claim: 'an older one', file_name: 'write a document' })
    .where('id', '=', id)
    .execute()
  await until(() => isDone(queue, id))
  assert.equal((await queue.job(id)).status, 'succeeded')
  await worker[Symbol.asyncDispose]()
})
