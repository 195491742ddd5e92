import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { call, convert, startServer } from '../support/harness.ts'
import { ASYNC, finished, getJob, pagesOf, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'
import { storedFiles, until } from '../support/until.ts'

test('a large archive gets 202 with a job, whose result is the same document', async (t) => {
  const [jobs, requests] = [await startServer(t, ASYNC), await startServer(t)]
  const [token, other] = [await jobs.token(), await requests.token()]
  // The last one is large enough to be shared out to several converters.
  for (const [archive, ...fields] of [
    [pagesOf(5)],
    [pagesOf(5), { name: 'format', content: 'json' }],
    [pagesOf(5), { name: 'format', content: 'chunks' }],
    [
      pagesOf(40, 1000),
      { name: 'format', content: 'json' },
      { name: 'include_metadata', content: 'true' },
    ],
    [
      pagesOf(40, 1000),
      { name: 'format', content: 'json' },
      { name: 'include_metadata', content: 'false' },
      { name: 'source_map', content: 'true' },
    ],
  ] as const) {
    const form = upload(archive, ...fields)
    const accepted = await convert(jobs.url, token, form)
    assert.equal(accepted.status, 202, accepted.text)
    const job = accepted.json<Job>()
    assert.equal(accepted.headers['location'], `/api/v1/jobs/${job.id}`)
    assert.match(String(accepted.headers['retry-after']), /^[1-9]\d*$/)
    assert.match(job.id, /^job_\w+$/)
    const { created_at, ...rest } = job
    assert.ok(Math.abs(Date.parse(created_at) - jobs.clock()) < 60_000)
    const pages = archive.length > 100_000 ? 40 : 5
    const shown = {
      id: job.id,
      object: 'job',
      status: 'queued',
      format: fields[0]?.content ?? 'markdown',
      include_metadata: fields[1]?.content === 'true',
      ...(fields[2] && { source_map: true }),
      file: { name: 'Export.zip', size: archive.length },
      error: null,
    }
    const times = { started_at: null, finished_at: null, expires_at: null }
    assert.deepEqual(rest, {
      ...shown,
      ...times,
      progress: { pages_done: 0, pages_total: null },
      result_url: null,
    })

    const { started_at, finished_at, expires_at, certificate, ...done } = await finished(
      jobs.url,
      token,
      job.id,
    )
    assert.equal(certificate?.in.pages, pages)
    const result_url = `/api/v1/jobs/${job.id}/result`
    assert.deepEqual(done, {
      ...shown,
      created_at,
      status: 'succeeded',
      progress: { pages_done: pages, pages_total: pages },
      result_url,
    })
    assert.ok(created_at <= started_at! && started_at! <= finished_at!)
    assert.equal(Date.parse(expires_at!) - Date.parse(finished_at!), 86_400_000)
    assert.equal((await getJob(jobs.url, token, job.id)).headers['retry-after'], undefined)

    const result = await call(jobs.url, result_url, { token })
    const direct = await convert(requests.url, other, form)
    assert.deepEqual([result.status, direct.status], [200, 200])
    assert.equal(result.headers['content-type'], direct.headers['content-type'])
    assert.equal(result.headers['content-length'], direct.headers['content-length'])
    // The time of the upload is nowhere in them: the entries of the archive have one.
    assert.ok(result.bytes.equals(direct.bytes))
  }
})

test("a finished job's upload is deleted and its result kept", async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  for (let round = 0; round < 3; round++) {
    const { id } = (await convert(server.url, token, upload(pagesOf(2)))).json<Job>()
    assert.equal((await finished(server.url, token, id)).status, 'succeeded')
  }
  const rows = await server.store.db.selectFrom('jobs').select('result_blob').execute()
  await until(() =>
    isDeepStrictEqual(
      storedFiles(server.data).sort(),
      rows.map(({ result_blob }) => result_blob).sort(),
    ),
  )
})

test('jobs are listed newest first, a page at a time', async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_ROLE: 'web' })
  const token = await server.token()
  const ids: string[] = []
  for (let round = 0; round < 5; round++)
    ids.push((await convert(server.url, token, upload(pagesOf(1)))).json<Job>().id)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const response = await call(
      server.url,
      `/api/v1/jobs?limit=2${cursor && `&cursor=${cursor}`}`,
      {
        token,
      },
    )
    const list: { object: string; data: Job[]; next_cursor: string | null } = response.json()
    assert.equal(list.object, 'list')
    seen.push(...list.data.map(({ id }) => id))
    cursor = list.next_cursor
  }
  assert.deepEqual(seen, ids.reverse())
})

test("jobs beyond the queue's limit get 503 with Retry-After and cost nothing", async (t) => {
  const server = await startServer(t, { ...ASYNC, TOLLMARK_ROLE: 'web', TOLLMARK_JOB_QUEUE: '2' })
  const token = await server.token()
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => convert(server.url, token, upload(pagesOf(1)))),
  )
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [202, 202, 503, 503])
  const last = await convert(server.url, token, upload(pagesOf(1)))
  assert.match(String(last.headers['retry-after']), /^[1-9]\d*$/)
  assert.match(String(last.headers['ratelimit']), /r=8;/)
})
