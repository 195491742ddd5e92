// How jobs end other than well, and what is left of them.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sweepJobs } from '../../server/conversion/jobs/end-job.ts'
import { sweepBlobs } from '../../server/store/blobs/blobs.ts'
import { folderBlobs } from '../../server/store/blobs/folder.ts'
import { file, form } from '../support/form.ts'
import { assertProblem, call, convert, startServer } from '../support/harness.ts'
import type { ReceivedResponse, TestServer } from '../support/harness.ts'
import {
  ASYNC,
  SLOW,
  damaged,
  finished,
  getJob,
  jobWhen,
  pagesOf,
  slow,
  upload,
} from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'
import { scratchFiles, storedFiles, until } from '../support/until.ts'
import { zip } from '../support/zip.ts'

const HOUR = 3_600_000

async function newJob(
  server: TestServer,
  token: string,
  form = upload(pagesOf(1)),
): Promise<string> {
  return (await convert(server.url, token, form)).json<Job>().id
}

const cancel = (server: TestServer, token: string, id: string): Promise<ReceivedResponse> =>
  call(server.url, `/api/v1/jobs/${id}`, { method: 'DELETE', token })
const resultOf = (server: TestServer, token: string, id: string): Promise<ReceivedResponse> =>
  call(server.url, `/api/v1/jobs/${id}/result`, { token })

test('a waiting job is canceled: nothing is stored, no worker runs it, and it stays canceled', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_ROLE: 'web' })
  const token = await server.token()
  const id = await newJob(server, token)
  assertProblem(await resultOf(server, token, id), 409, 'job_not_finished')
  for (let round = 0; round < 2; round++) {
    const response = await cancel(server, token, id)
    assert.deepEqual([response.status, response.text], [204, ''])
  }
  const { status, finished_at, error } = (await getJob(server.url, token, id)).json<Job>()
  assert.deepEqual([status, error], ['canceled', null])
  assert.ok(finished_at)
  assertProblem(await resultOf(server, token, id), 410, 'result_expired')
  assert.deepEqual(storedFiles(server.data), [])
  // Its worker would be the first to take it.
  const worker = await startServer(t, { TOLLMARK_DATA: server.data, TOLLMARK_ROLE: 'worker' })
  const next = await newJob(server, token)
  assert.equal((await finished(server.url, token, next)).status, 'succeeded')
  const { status: now, claims } = await worker.store.db
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assert.deepEqual([now, claims], ['canceled', 0])
})

test('a running job is canceled: its conversion ends and nothing is stored', async (t) => {
  const server = await startServer(t, SLOW)
  const token = await server.token()
  const id = await newJob(server, token, slow())
  await jobWhen(server.url, token, id, ({ progress }) => progress.pages_done > 0)
  assert.equal((await cancel(server, token, id)).status, 204)
  await until(() => scratchFiles(server.data).length === 0)
  assert.equal((await getJob(server.url, token, id)).json<Job>().status, 'canceled')
  assert.deepEqual(storedFiles(server.data), [])
  assert.deepEqual(await server.store.db.selectFrom('blobs').selectAll().execute(), [])
  assert.equal((await finished(server.url, token, await newJob(server, token))).status, 'succeeded')
})

test('deleting a finished job deletes its result', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const id = await newJob(server, token)
  await finished(server.url, token, id)
  assert.equal((await resultOf(server, token, id)).status, 200)
  assert.equal((await cancel(server, token, id)).status, 204)
  assert.deepEqual(storedFiles(server.data), [])
  const { status, result_url } = (await getJob(server.url, token, id)).json<Job>()
  assert.deepEqual([status, result_url], ['expired', null])
  assertProblem(await resultOf(server, token, id), 410, 'result_expired')
  assert.equal((await cancel(server, token, id)).status, 204)
})

test('a result that fails while it is read resets only its own connection', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const id = await newJob(server, token)
  await finished(server.url, token, id)
  await until(() => storedFiles(server.data).length === 1)
  // A folder opens as a file does, and cannot be read.
  const [blob = ''] = storedFiles(server.data)
  const path = join(server.data, 'blobs', blob.slice(-2), blob)
  rmSync(path)
  mkdirSync(path)
  const written = t.mock.method(console, 'error', () => {})
  await assert.rejects(resultOf(server, token, id))
  await until(() =>
    server.lines.some(
      (line) => line.includes('/result"') && line.includes('"code":"store_unavailable"'),
    ),
  )
  assert.equal(written.mock.callCount(), 0)
})

test('a result expires after 24 hours and is deleted', async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const id = await newJob(server, token)
  await finished(server.url, token, id)
  server.step(24 * HOUR - 60_000)
  assert.equal((await resultOf(server, token, id)).status, 200)
  server.step(60_000)
  // Also before anything has swept.
  assert.equal((await getJob(server.url, token, id)).json<Job>().status, 'expired')
  assertProblem(await resultOf(server, token, id), 410, 'result_expired')
  await server.store.run(sweepJobs, { now: server.clock() })
  await sweepBlobs(server.store, folderBlobs(join(server.data, 'blobs')), server.clock() + 2 * HOUR)
  assert.deepEqual(storedFiles(server.data), [])
  assert.equal((await getJob(server.url, token, id)).json<Job>().status, 'expired')
  assert.equal((await cancel(server, token, id)).status, 204)
})

test('a failed job has the same error as a request', async (t) => {
  const [jobs, requests] = [await startServer(t, ASYNC), await startServer(t)]
  const [token, other] = [await jobs.token(), await requests.token()]
  for (const archive of [
    damaged(pagesOf(2)),
    zip({ 'Page.html': `<html><body>${'<p>'.repeat(1_550_000)}</body></html>` }),
  ]) {
    const direct = await convert(requests.url, other, upload(archive))
    assertProblem(direct, 400, 'invalid_file')
    const id = await newJob(jobs, token, upload(archive))
    const { status, error, result_url, expires_at } = await finished(jobs.url, token, id)
    const { code, detail } = direct.json<{ code: string; detail: string }>()
    assert.deepEqual(
      { status, error, result_url, expires_at },
      { status: 'failed', error: { code, detail }, result_url: null, expires_at: null },
    )
    assertProblem(await resultOf(jobs, token, id), 400, 'invalid_file')
    await until(() => storedFiles(jobs.data).length === 0)
  }
})

test('a file whose result would be too large is refused, and so is its job', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_MAX_PAGES: '20KB' })
  const token = await server.token()
  const sentence = /^The result would have more than 40,960 bytes/
  const html = `<h1>${'long '.repeat(800)}</h1>${'<h2>a</h2><p>b</p>'.repeat(40)}`
  const chunks = { name: 'format', content: 'chunks' }
  const page = await convert(server.url, token, form(file('Page.html', html), chunks))
  assertProblem(page, 400, 'invalid_file')
  assert.match(page.json<{ detail: string }>().detail, sentence)
  const archive = file('Export.zip', zip({ 'Page.html': html, 'fill.bin': Buffer.alloc(100_000) }))
  const { id } = (await convert(server.url, token, form(archive, chunks))).json<Job>()
  const { status, error } = await finished(server.url, token, id)
  assert.deepEqual([status, error?.code], ['failed', 'invalid_file'])
  assert.match(error?.detail ?? '', sentence)
  const { bytes } = await convert(server.url, token, form(file('Page.html', html)))
  assert.match(bytes.toString(), /^# Page\n\n## long /)
})

test('other accounts cannot see a job', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_ROLE: 'web' })
  const [token, other] = [
    await server.token({ account: 'a' }),
    await server.token({ account: 'b' }),
  ]
  const id = await newJob(server, token)
  for (const [method, path] of [
    ['GET', `/api/v1/jobs/${id}`],
    ['GET', `/api/v1/jobs/${id}/events`],
    ['GET', `/api/v1/jobs/${id}/result`],
    ['DELETE', `/api/v1/jobs/${id}`],
  ] as const) {
    assertProblem(await call(server.url, path, { method, token: other }), 404, 'job_not_found')
    for (const none of ['job_none', 'x'.repeat(101)])
      assertProblem(
        await call(server.url, path.replace(id, none), { method, token }),
        404,
        'job_not_found',
      )
    assertProblem(await call(server.url, path, { method }), 401, 'invalid_token')
    assertProblem(
      await call(server.url, path, {
        method,
        token: await server.token({ account: 'a', scopes: ['manage'] }),
      }),
      403,
      'insufficient_scope',
    )
  }
  assert.deepEqual((await call(server.url, '/api/v1/jobs', { token: other })).json()['data'], [])
  // Another token of the same account sees it, unharmed.
  assert.equal(
    (await getJob(server.url, await server.token({ account: 'a' }), id)).json<Job>().status,
    'queued',
  )
})
