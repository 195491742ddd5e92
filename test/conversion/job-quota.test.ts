import assert from 'node:assert/strict'
import { test } from 'node:test'
import { file, form } from '../support/form.ts'
import { assertProblem, call, convert, startServer, type TestServer } from '../support/harness.ts'
import { ASYNC, damaged, finished, pagesOf, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'

const keyed = { 'idempotency-key': 'a' }

test('50 concurrent archives on a fresh free account become exactly 10 jobs, all of which finish', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => convert(server.url, token, upload(pagesOf(2)))),
  )
  const accepted = responses.filter(({ status }) => status === 202)
  assert.equal(accepted.length, 10)
  for (const response of responses)
    if (response.status !== 202) assertProblem(response, 429, 'quota_exceeded')
  for (const response of accepted)
    assert.equal((await finished(server.url, token, response.json<Job>().id)).status, 'succeeded')
  assert.equal(
    (await server.store.db.selectFrom('quota_days').select('used').executeTakeFirstOrThrow()).used,
    10,
  )
  assert.equal(
    (await call(server.url, '/api/v1/jobs?limit=100', { token })).json<{ data: Job[] }>().data
      .length,
    10,
  )
})

const used = async (server: TestServer): Promise<number> =>
  (await server.store.db.selectFrom('quota_days').select('used').executeTakeFirstOrThrow()).used

test('a failed job refunds its conversion, at most as often a day as the plan has conversions', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_FREE_CONVERSIONS: '2' })
  const token = await server.token()
  const left: number[] = []
  for (let round = 0; round < 4; round++) {
    const failing = (await convert(server.url, token, upload(damaged(pagesOf(2))))).json<Job>()
    assert.equal((await finished(server.url, token, failing.id)).status, 'failed')
    left.push(await used(server))
  }
  assert.deepEqual(left, [0, 0, 1, 2])
  assertProblem(await convert(server.url, token, upload(pagesOf(2))), 429, 'quota_exceeded')
})

test('a job canceled before it ran is refunded within the same limit; one that ran is not', async (t) => {
  const server = await startServer(t, {
    ...ASYNC,
    TOLLMARK_ROLE: 'web',
    TOLLMARK_FREE_CONVERSIONS: '2',
  })
  const token = await server.token()
  const cancel = async (status: 'queued' | 'running'): Promise<number> => {
    const { id } = (await convert(server.url, token, upload(pagesOf(2)))).json<Job>()
    await server.store.db.updateTable('jobs').set({ status }).where('id', '=', id).execute()
    assert.equal(
      (await call(server.url, `/api/v1/jobs/${id}`, { method: 'DELETE', token })).status,
      204,
    )
    return used(server)
  }
  assert.equal(await cancel('queued'), 0)
  assert.equal(await cancel('running'), 1)
  assert.equal(await cancel('queued'), 1)
  assert.equal(await cancel('queued'), 2)
  assertProblem(await convert(server.url, token, upload(pagesOf(2))), 429, 'quota_exceeded')
})

test('a conversion that fails in its request is refunded within the same limit; a refused upload always is', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '2' })
  const token = await server.token()
  for (let round = 0; round < 5; round++)
    assertProblem(
      await convert(server.url, token, form(file('Page.txt', 'no page'))),
      400,
      'unsupported_file_type',
    )
  const broken = upload(pagesOf(2).subarray(0, -30))
  const statuses = []
  for (let round = 0; round < 5; round++)
    statuses.push((await convert(server.url, token, broken)).status)
  assert.deepEqual(statuses, [400, 400, 400, 400, 429])
})

test('the same Idempotency-Key gives the same job, even after it finished, and costs nothing', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => convert(server.url, token, upload(pagesOf(2)), keyed)),
  )
  const first = responses[0]!
  const { id } = first.json<Job>()
  await finished(server.url, token, id)
  responses.push(await convert(server.url, token, upload(pagesOf(2)), keyed))
  for (const { status, text, headers } of responses) {
    assert.deepEqual([status, text, headers['location']], [202, first.text, `/api/v1/jobs/${id}`])
  }
  assertProblem(
    await convert(server.url, token, upload(pagesOf(3)), keyed),
    422,
    'idempotency_conflict',
  )
  assertProblem(await convert(server.url, token, upload(pagesOf(2))), 429, 'quota_exceeded')
})
