// Processes with roles over one data folder: who responds, who works, and how jobs pass from one to
// the other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from '../../server/store/open.ts'
import { convert, getToken, spawnServer, type Process } from '../support/harness.ts'
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
import { placeOf } from '../support/store-settings.ts'
import { usedFolder } from '../support/templates.ts'
import { until } from '../support/until.ts'

const metric = async ({ url }: Process, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^tollmark_${name} (.+)$`, 'm').exec(text)?.[1] ?? 'no such metric')
}

async function assertOnlyHealth(worker: Process): Promise<void> {
  for (const path of ['/livez', '/readyz']) {
    const response = await fetch(worker.url + path)
    assert.deepEqual(
      [response.status, await response.json(), response.headers.get('cache-control')],
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
}

test("another worker takes over a worker's job after SIGTERM and after SIGKILL", async (t) => {
  const env = { ...SLOW, TOLLMARK_DATA: usedFolder(t), TOLLMARK_FREE_CONVERSIONS: '2' }
  const token = await getToken(env)
  const web = await spawnServer(t, env, '--role', 'web')
  const startWorker = (): Promise<Process> => spawnServer(t, env, '--role', 'worker')
  const beginJob = async (): Promise<string> => {
    const { id } = (await convert(web.url, token, slow())).json<Job>()
    await jobWhen(web.url, token, id, ({ progress }) => progress.pages_done > 0)
    return id
  }
  const first = await startWorker()

  await t.test('a worker serves only its health', () => assertOnlyHealth(first))

  let second: Process
  await t.test(
    'SIGTERM hands the job back, and another worker claims it immediately and finishes it',
    async () => {
      const id = await beginJob()
      first.kill('SIGTERM')
      assert.equal(await first.exited, 0)
      assert.equal((await getJob(web.url, token, id)).json<Job>().status, 'running')
      await using store = await openStore({ ...(await placeOf(env.TOLLMARK_DATA)), now: 0 })
      const row = await store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()
      assert.deepEqual([row.claim, row.instance_id, row.claims], [null, null, 0])
      second = await startWorker()
      assert.equal((await finished(web.url, token, id)).status, 'succeeded')
    },
  )

  await t.test("a killed worker's job is taken over by a running worker", async () => {
    const id = await beginJob()
    await startWorker()
    second.kill('SIGKILL')
    assert.equal((await finished(web.url, token, id)).status, 'succeeded')
  })
})

test('every process reports the waiting jobs, and a worker those that it has ended', async (t) => {
  const env = { ...ASYNC, TOLLMARK_DATA: usedFolder(t) }
  const token = await getToken(env)
  const web = await spawnServer(t, env, '--role', 'web')
  assert.deepEqual(
    [await metric(web, 'jobs_waiting'), await metric(web, 'jobs_oldest_waiting_seconds')],
    [0, 0],
  )
  const archive = pagesOf(2)
  for (const bytes of [archive, damaged(archive)])
    assert.equal((await convert(web.url, token, upload(bytes))).status, 202)
  await until(async () => (await metric(web, 'jobs_waiting')) === 2)
  assert.ok((await metric(web, 'jobs_oldest_waiting_seconds')) > 0)
  assert.ok(Number.isNaN(await metric(web, 'jobs_succeeded_total')), 'a web process runs no jobs')

  const worker = await spawnServer(t, env, '--role', 'worker')
  await until(async () => (await metric(worker, 'jobs_failed_total')) === 1)
  await until(async () => (await metric(worker, 'jobs_succeeded_total')) === 1)
  await until(async () => (await metric(worker, 'jobs_waiting')) === 0)
  assert.equal(await metric(worker, 'jobs_oldest_waiting_seconds'), 0)
  assert.equal(await metric(worker, 'conversions_running'), 0)
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
