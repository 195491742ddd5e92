import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, call, convert, startServer, tollmark } from '../support/harness.ts'
import { ASYNC, finished, getJob, jobWhen, pagesOf, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'
import { S3_CREDENTIALS, startS3 } from '../store/s3-server.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const GOOD = form(file('Page.html', PAGE))
const keyed = (key: string) => ({ 'idempotency-key': key })

test('with S3 only scratch files are on disk, and an outage affects only what needs S3', async (t) => {
  const s3 = await startS3(t)
  const settings = {
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: 'tollmark',
    S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  }
  const server = await startServer(t, {
    ...ASYNC,
    ...settings,
    TOLLMARK_ROLE: 'web',
    TOLLMARK_FREE_CONVERSIONS: '100',
  })
  const token = await server.token()
  const archive = upload(pagesOf(30, 300))
  const first = await convert(server.url, token, GOOD, keyed('a'))
  assert.equal(first.status, 200)
  const waiting = (await convert(server.url, token, archive)).json<Job>()
  assert.ok(!existsSync(join(server.data, 'blobs')))
  assert.deepEqual((await call(server.url, '/readyz')).json(), { status: 'ok', troubles: [] })

  await s3.stop()
  const ready = await call(server.url, '/readyz')
  assert.equal(ready.status, 200)
  assert.deepEqual(ready.json(), {
    status: 'degraded',
    troubles: ['files cannot be stored'],
  })
  for (const response of [
    await convert(server.url, token, archive),
    await convert(server.url, token, GOOD, keyed('b')),
    await convert(server.url, token, GOOD, keyed('a')),
  ]) {
    assertProblem(response, 503, 'store_unavailable')
    assert.match(response.json<{ detail: string }>().detail, /file store/)
    assert.ok(response.headers['retry-after'])
  }
  assert.equal((await convert(server.url, token, GOOD)).status, 200)
  // The job waits for it, at a worker that was started meanwhile.
  await startServer(t, { ...settings, TOLLMARK_DATA: server.data, TOLLMARK_ROLE: 'worker' })
  await until(
    async () =>
      (await server.store.db.selectFrom('jobs').select('claims').executeTakeFirst())?.claims === 2,
  )
  assert.equal((await jobWhen(server.url, token, waiting.id, () => true)).status, 'running')

  await s3.start()
  await until(async () => (await call(server.url, '/readyz')).status === 200)
  assert.equal((await finished(server.url, token, waiting.id)).status, 'succeeded')
  const direct = await startServer(t)
  const document = (await convert(direct.url, await direct.token(), archive)).bytes
  assert.ok(
    (await call(server.url, `/api/v1/jobs/${waiting.id}/result`, { token })).bytes.equals(document),
  )
  assert.deepEqual((await convert(server.url, token, GOOD, keyed('a'))).bytes, first.bytes)
  // What failed has cost nothing: two pages and the job.
  assert.match(String((await getJob(server.url, token, waiting.id)).headers['ratelimit']), /r=97;/)
})

test('a stored document that was deleted in the bucket is reported as gone, and logged', async (t) => {
  const s3 = await startS3(t)
  const server = await startServer(t, {
    ...ASYNC,
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: 'tollmark',
    S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  })
  const token = await server.token()
  assert.equal((await convert(server.url, token, GOOD, keyed('a'))).status, 200)
  const { id } = (await convert(server.url, token, upload(pagesOf(30, 300)))).json<Job>()
  await finished(server.url, token, id)
  for (const name of readdirSync(join(s3.directory, 'tollmark')))
    rmSync(join(s3.directory, 'tollmark', name), { recursive: true })
  for (const response of [
    await call(server.url, `/api/v1/jobs/${id}/result`, { token }),
    await call(server.url, `/api/v1/jobs/${id}/result`, { token, headers: { range: 'bytes=0-1' } }),
    await convert(server.url, token, GOOD, keyed('a')),
  ]) {
    assertProblem(response, 410, 'result_expired')
    assert.match(response.json<{ detail: string }>().detail, /Upload the file again/)
  }
})

test('incomplete S3 settings give one sentence and exit code 1', async (t) => {
  for (const [env, sentence] of [
    [{ S3_ENDPOINT: 'http://localhost:9' }, /S3_BUCKET is not/],
    [{ S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'x' }, /go together/],
  ] as const) {
    const { code, err } = await tollmark(['serve'], {
      PORT: '0',
      TOLLMARK_DATA: temporaryFolder(t),
      ...env,
    })
    assert.deepEqual([code, err.trim().split('\n').length], [1, 1])
    assert.match(err, sentence)
  }
})
