// Processes with roles over one data folder: who answers, who works, and how jobs pass from one to
// the other.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openStore } from '../../server/store/open.ts'
import { convert, getToken, spawnServer } from '../support/harness.ts'
import { ASYNC, SLOW, finished, getJob, jobWhen, pagesOf, slow, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'
import { placeOf } from '../support/store-settings.ts'
import { usedFolder } from '../support/templates.ts'

test('a worker serves only its health', async (t) => {
  const worker = await spawnServer(t, { TOLLMARK_DATA: usedFolder(t) }, '--role', 'worker')
  for (const path of ['/livez', '/readyz']) {
    const answer = await fetch(worker.url + path)
    assert.deepEqual(
      [answer.status, await answer.json(), answer.headers.get('cache-control')],
      [200, { status: 'ok', troubles: [] }, 'no-store'],
    )
  }
  for (const path of [
    '/api/v1/jobs',
    '/api/v1/convert',
    '/openapi.json',
    '/proxy?url=https://api.openai.com/v1/models',
  ]) {
    assert.equal((await fetch(worker.url + path)).status, 404)
  }
  worker.kill('SIGTERM')
  assert.equal(await worker.exited, 0)
})

/** A process that answers, and a worker that has begun a job. */
async function atWork(t: TestContext) {
  const env = { ...SLOW, TOLLMARK_DATA: usedFolder(t) }
  const token = await getToken(env)
  const [web, first] = [
    await spawnServer(t, env, '--role', 'web'),
    await spawnServer(t, env, '--role', 'worker'),
  ]
  const { id } = (await convert(web.url, token, slow())).json<Job>()
  await jobWhen(web.url, token, id, ({ progress }) => progress.pages_done > 0)
  return { env, token, web, first, id }
}

test('SIGTERM hands the job back, and another worker claims it immediately and finishes it', async (t) => {
  const { env, token, web, first, id } = await atWork(t)
  first.kill('SIGTERM')
  assert.equal(await first.exited, 0)
  assert.equal((await getJob(web.url, token, id)).json<Job>().status, 'running')
  await using store = await openStore({ ...(await placeOf(env.TOLLMARK_DATA)), now: 0 })
  const row = await store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([row.claim, row.instance_id, row.claims], [null, null, 0])
  await spawnServer(t, env, '--role', 'worker')
  assert.equal((await finished(web.url, token, id)).status, 'succeeded')
})

test("a killed worker's job is taken over by a running worker", async (t) => {
  const { env, token, web, first, id } = await atWork(t)
  await spawnServer(t, env, '--role', 'worker')
  first.kill('SIGKILL')
  assert.equal((await finished(web.url, token, id)).status, 'succeeded')
})

test('two processes with all roles share the jobs of one folder', async (t) => {
  const env = { ...ASYNC, TOLLMARK_DATA: usedFolder(t), TOLLMARK_FREE_CONVERSIONS: '12' }
  const token = await getToken(env)
  const [one, other] = [await spawnServer(t, env), await spawnServer(t, env)]
  const form = upload(pagesOf(5, 100))
  const accepted = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      convert((index % 2 === 0 ? one : other).url, token, form),
    ),
  )
  for (const { text, status } of accepted) {
    assert.equal(status, 202, text)
    // Whoever is asked knows it.
    assert.equal(
      (await finished(other.url, token, (JSON.parse(text) as Job).id)).status,
      'succeeded',
    )
  }
  await using store = await openStore({ ...(await placeOf(env.TOLLMARK_DATA)), now: 0 })
  const rows = await store.db.selectFrom('jobs').select(['claims']).execute()
  assert.deepEqual(
    rows.map(({ claims }) => claims),
    Array.from({ length: 12 }, () => 1),
  )
})
