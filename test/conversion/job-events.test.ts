import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem, call, convert, startServer } from '../support/harness.ts'
import { ASYNC, SLOW, finished, follow, jobWhen, pagesOf, slow, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'
import { until } from '../support/until.ts'

/** What every stream of events of a job that succeeds is. */
function assertWhole(jobs: Job[], last: Job): void {
  assert.deepEqual(jobs.at(-1), last)
  const order = ['queued', 'running', 'succeeded']
  for (const [index, job] of jobs.entries()) {
    const before = jobs[index - 1]
    if (!before) continue
    assert.ok(order.indexOf(job.status) >= order.indexOf(before.status), 'a status goes back')
    assert.ok(job.progress.pages_done >= before.progress.pages_done, 'progress goes back')
    assert.notDeepEqual(job, before, 'an event tells nothing new')
  }
}

test("a job's event stream sends each change as it happens, and ends when the job does", async (t) => {
  const server = await startServer(t, SLOW)
  const token = await server.token()
  const { id } = (await convert(server.url, token, slow())).json<Job>()
  const events = follow(t, server.port, token, id)
  await until(() =>
    events.jobs().some(({ status, progress }) => status === 'running' && progress.pages_done > 0),
  )
  assert.equal(
    (await jobWhen(server.url, token, id, () => true)).status,
    'running',
    'the events come while it runs',
  )
  await events.ended
  assert.match(events.text(), /^HTTP\/1\.1 200 /)
  assert.match(events.text(), /\r\ncontent-type: text\/event-stream\r\n/i)
  assert.match(events.text(), /\r\ncache-control: no-store\r\n/i)
  const jobs = events.jobs()
  assertWhole(jobs, await finished(server.url, token, id))
  assert.ok(jobs.length >= 4, `${jobs.length} events`)
})

test("a finished job's event stream is its last state; Last-Event-ID changes nothing", async (t) => {
  const server = await startServer(t, ASYNC)
  const token = await server.token()
  const { id } = (await convert(server.url, token, upload(pagesOf(1)))).json<Job>()
  const last = await finished(server.url, token, id)
  for (const head of ['', 'Last-Event-ID: 7\r\n', `Last-Event-ID: ${'x'.repeat(1000)}\r\n`]) {
    const events = follow(t, server.port, token, id, head)
    await events.ended
    assert.deepEqual(events.jobs(), [last])
  }
})

test('many callers can follow a job independently, and changes by other processes are seen', async (t) => {
  const web = await startServer(t, { ...ASYNC, TOLLMARK_ROLE: 'web' })
  const token = await web.token()
  const ids: string[] = []
  for (let round = 0; round < 3; round++)
    ids.push((await convert(web.url, token, upload(pagesOf(20)))).json<Job>().id)
  const all = Array.from({ length: 200 }, (_, index) => ({
    id: ids[index % 3]!,
    events: follow(t, web.port, token, ids[index % 3]!),
  }))
  await until(() => all.every(({ events }) => events.jobs().length === 1))
  for (const { events } of all.slice(0, 50)) events.close()
  await startServer(t, { TOLLMARK_DATA: web.data, TOLLMARK_ROLE: 'worker' })
  const last = new Map<string, Job>()
  for (const id of ids) last.set(id, await finished(web.url, token, id))
  for (const { id, events } of all.slice(50)) {
    await events.ended
    assertWhole(events.jobs(), last.get(id)!)
  }
})

test('too many event streams of an account are refused and give way to another account', async (t) => {
  const web = await startServer(t, {
    ...ASYNC,
    TOLLMARK_ROLE: 'web',
    TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '0',
  })
  const [token, other] = [await web.token(), await web.token({ account: 'other' })]
  const jobOf = async (token: string): Promise<string> =>
    (await convert(web.url, token, upload(pagesOf(2)))).json<Job>().id
  const [id, others] = [await jobOf(token), await jobOf(other)]
  // As many as there are places: what is free is for anybody.
  const all = Array.from({ length: 512 }, () => follow(t, web.port, token, id))
  await until(() => all.every((events) => events.jobs().length === 1))
  assertProblem(
    await call(web.url, `/api/v1/jobs/${id}/events`, { token }),
    429,
    'too_many_requests',
  )
  const events = follow(t, web.port, other, others)
  await until(() => events.jobs().length === 1)
  await Promise.race(all.map(({ ended }) => ended))
})

test('an idle event stream sends keep-alive comments', async (t) => {
  const web = await startServer(t, { ...ASYNC, TOLLMARK_ROLE: 'web', TOLLMARK_EVENTS_IDLE: '50ms' })
  const token = await web.token()
  const { id } = (await convert(web.url, token, upload(pagesOf(1)))).json<Job>()
  const events = follow(t, web.port, token, id)
  await until(() => (events.text().match(/^: .+\n\n/gm) ?? []).length >= 3)
  assert.equal(events.jobs().length, 1)
  await call(web.url, `/api/v1/jobs/${id}`, { method: 'DELETE', token })
  await events.ended
  assert.deepEqual(
    events.jobs().map(({ status }) => status),
    ['queued', 'canceled'],
  )
})

test('a server that shuts down ends event streams immediately', async (t) => {
  const web = await startServer(t, {
    ...ASYNC,
    TOLLMARK_ROLE: 'web',
    TOLLMARK_SHUTDOWN_TIMEOUT: '1h',
  })
  const token = await web.token()
  const { id } = (await convert(web.url, token, upload(pagesOf(1)))).json<Job>()
  const events = follow(t, web.port, token, id)
  await until(() => events.jobs().length === 1)
  await web[Symbol.asyncDispose]()
  await events.ended
})
