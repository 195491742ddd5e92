// Two accounts at the conversion door: what one of them sends, however much and however slowly,
// keeps nothing from the other.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { test, type TestContext } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import {
  responseOf,
  assertProblem,
  call,
  convert,
  start,
  startServer,
  type TestServer,
} from '../support/harness.ts'
import { ASYNC, finished, pagesOf, upload, type Job } from '../support/jobs.ts'
import { scratchFiles, until } from '../support/until.ts'

const GOOD = form(file('Page.html', PAGE))
const PLANS = { TOLLMARK_PLANS: '{"all":{"conversions_per_day":null}}' }
/** However busy the machine, no upload ends because it stalls. */
const PATIENT = { TOLLMARK_TRANSFER_IDLE: '1h', TOLLMARK_UPLOAD_GRACE: '1h' }
const tokens = async (server: TestServer) => ({
  many: await server.token({ account: 'many', plan: 'all' }),
  few: await server.token({ account: 'few', plan: 'all' }),
})

/** Begins an upload and sends a part of it. */
function begin(server: TestServer, token: string): ClientRequest {
  const outgoing = start(server.url, '/api/v1/convert', {
    token,
    headers: { 'content-type': GOOD.contentType, 'content-length': GOOD.body.length },
  })
  outgoing.on('error', () => {})
  outgoing.write(GOOD.body.subarray(0, 400))
  return outgoing
}

test("one account's unfinished uploads give way to another's: the newest end with 503", async (t) => {
  const server = await startServer(t, { ...PLANS, ...PATIENT, TOLLMARK_UPLOADS: '8' })
  const { many, few } = await tokens(server)
  const slow: ClientRequest[] = []
  for (let nth = 1; nth <= 8; nth++) {
    slow.push(begin(server, many))
    await until(() => scratchFiles(server.data).length === nth)
  }
  const refused = await convert(server.url, many, GOOD)
  assertProblem(refused, 429, 'too_many_uploads')
  assert.ok(Number(refused.headers['retry-after']) > 0)

  const newest = responseOf(slow[7]!)
  assert.equal((await convert(server.url, few, GOOD)).status, 200)
  const dropped = await newest
  assertProblem(dropped, 503, 'too_many_uploads')
  assert.ok(Number(dropped.headers['retry-after']) > 0)
  // The others are not touched, and go on.
  for (const outgoing of slow.slice(0, 7)) {
    outgoing.end(GOOD.body.subarray(400))
    assert.equal((await responseOf(outgoing)).status, 200)
  }
  await until(() => scratchFiles(server.data).length === 0)
})

test('trickling uploads end with 408 and free their slots', async (t) => {
  const server = await startServer(t, {
    ...PLANS,
    TOLLMARK_UPLOADS: '2',
    TOLLMARK_UPLOAD_GRACE: '300ms',
  })
  const { many } = await tokens(server)
  const slow = [begin(server, many), begin(server, many)]
  const timer = setInterval(() => slow.forEach((outgoing) => outgoing.write('x')), 20)
  t.after(() => {
    clearInterval(timer)
    for (const outgoing of slow) outgoing.destroy()
  })
  for (const response of await Promise.all(slow.map(responseOf)))
    assertProblem(response, 408, 'request_timeout')
  assert.equal((await convert(server.url, many, GOOD)).status, 200)
})

test("an account's first conversion does not wait for another account's ten", async (t) => {
  const server = await startServer(t, { ...PLANS, TOLLMARK_CONVERSIONS: '1' })
  const { many, few } = await tokens(server)
  const order: string[] = []
  const send = (token: string, name: string): Promise<number> =>
    convert(server.url, token, GOOD).then(({ status }) => order.push(`${name} ${status}`))
  // The first of ten runs until the test lets it go on, and the others wait for it.
  const converter = stopNextProcess(t)
  const theirs = Array.from({ length: 10 }, () => send(many, 'many'))
  await until(async () => (await countAdmitted(server)) === 10)
  await send(few, 'few')
  assert.deepEqual(order, ['few 200'])
  ;(await converter).kill('SIGCONT')
  await Promise.all(theirs)
  assert.deepEqual(order.slice(1), Array<string>(10).fill('many 200'))
})

/** Stops the next process that this one starts, before it runs. */
function stopNextProcess(t: TestContext): Promise<ChildProcess> {
  const { promise, resolve } = Promise.withResolvers<ChildProcess>()
  const stop = (message: unknown): void => {
    unsubscribe('child_process', stop)
    const { process: child } = message as { process: ChildProcess }
    child.once('spawn', () => {
      child.kill('SIGSTOP')
      resolve(child)
    })
  }
  subscribe('child_process', stop)
  t.after(() => unsubscribe('child_process', stop))
  return promise
}

/** Conversions of all accounts that wait or run. */
async function countAdmitted(server: TestServer): Promise<number> {
  const rows = await server.store.db.selectFrom('reservations').select('id').execute()
  return rows.length
}

test("an account has at most 20 jobs waiting, and another account's first job runs before them", async (t) => {
  const server = await startServer(t, {
    ...ASYNC,
    ...PLANS,
    TOLLMARK_ROLE: 'web',
    TOLLMARK_JOB_QUEUE: '20',
  })
  const { many, few } = await tokens(server)
  const small = upload(pagesOf(1))
  for (let nth = 0; nth < 20; nth++)
    assert.equal((await convert(server.url, many, small)).status, 202)
  assertProblem(await convert(server.url, many, small), 429, 'too_many_uploads')
  const accepted = await convert(server.url, few, small)
  assert.equal(accepted.status, 202)
  assertProblem(await convert(server.url, few, small), 503, 'too_many_uploads')
  // The request's own line says it all: no fault of the server's has to be found.
  const errors = server.lines.filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(
    errors.filter((line) => !line.includes('"msg":"request"')),
    [],
  )

  const worker = await startServer(t, { ...ASYNC, ...PLANS, TOLLMARK_DATA: server.data })
  const { id } = accepted.json<Job>()
  assert.equal((await finished(worker.url, few, id)).status, 'succeeded')
  const { data } = (await call(worker.url, '/api/v1/jobs?limit=100', { token: many })).json<{
    data: Job[]
  }>()
  assert.ok(
    data.filter(({ status }) => status === 'queued').length >= 15,
    data.map(({ status }) => status).join(),
  )
})
