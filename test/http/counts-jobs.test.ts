import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem, call, convert, startServer } from '../harness.ts'
import { ASYNC, finished, pagesOf, upload } from '../jobs.ts'
import type { Job } from '../jobs.ts'

const keyed = { 'idempotency-key': 'a' }

test('50 archives at once on a fresh free account are exactly 10 jobs, and all of them are done', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const answers = await Promise.all(Array.from({ length: 50 }, () => convert(server.url, token, upload(pagesOf(2)))))
  const accepted = answers.filter(({ status }) => status === 202)
  assert.equal(accepted.length, 10)
  for (const answer of answers) if (answer.status !== 202) assertProblem(answer, 429, 'quota_exceeded')
  for (const answer of accepted) assert.equal((await finished(server.url, token, answer.json<Job>().id)).status, 'succeeded')
  assert.equal((await server.store.db.selectFrom('quota_days').select('used').executeTakeFirstOrThrow()).used, 10)
  assert.equal((await call(server.url, '/api/v1/jobs?limit=100', { token })).json<{ data: Job[] }>().data.length, 10)
})

test('a job counts once, whatever becomes of it', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_FREE_CONVERSIONS: '2' })
  const token = await server.token()
  const failing = (await convert(server.url, token, upload(pagesOf(2).subarray(0, -30)))).json<Job>()
  assert.equal((await finished(server.url, token, failing.id)).status, 'failed')
  const canceled = (await convert(server.url, token, upload(pagesOf(2)))).json<Job>()
  await call(server.url, `/api/v1/jobs/${canceled.id}`, { method: 'DELETE', token })
  assertProblem(await convert(server.url, token, upload(pagesOf(2))), 429, 'quota_exceeded')
})

test('the same Idempotency-Key gives the same job, also when it is done, and costs nothing', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const answers = await Promise.all(Array.from({ length: 10 }, () => convert(server.url, token, upload(pagesOf(2)), keyed)))
  const first = answers[0]!
  const { id } = first.json<Job>()
  await finished(server.url, token, id)
  answers.push(await convert(server.url, token, upload(pagesOf(2)), keyed))
  for (const { status, text, headers } of answers) {
    assert.deepEqual([status, text, headers['location']], [202, first.text, `/api/v1/jobs/${id}`])
  }
  assertProblem(await convert(server.url, token, upload(pagesOf(3)), keyed), 422, 'idempotency_conflict')
  assertProblem(await convert(server.url, token, upload(pagesOf(2))), 429, 'quota_exceeded')
})
