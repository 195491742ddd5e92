import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { responseOf, assertProblem, convert, start, startServer } from '../support/harness.ts'
import { until, scratchFiles } from '../support/until.ts'

const GOOD = form(file('Page.html', PAGE))

test("uploads beyond an account's slots get 429 with Retry-After and cost nothing", async (t) => {
  // However busy the machine, no upload ends because it stalls.
  const server = await startServer(t, {
    TOLLMARK_UPLOADS: '2',
    TOLLMARK_TRANSFER_IDLE: '1h',
    TOLLMARK_UPLOAD_GRACE: '1h',
  })
  const token = await server.token()
  const headers = { 'content-type': GOOD.contentType, 'content-length': String(GOOD.body.length) }
  const slow = [0, 1].map(() => start(server.url, '/api/v1/convert', { token, headers }))
  for (const outgoing of slow) outgoing.write(GOOD.body.subarray(0, 400))
  await until(() => scratchFiles(server.data).length === 2)
  const refused = await convert(server.url, token, GOOD)
  assertProblem(refused, 429, 'too_many_uploads')
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
  for (const outgoing of slow) {
    outgoing.end(GOOD.body.subarray(400))
    assert.equal((await responseOf(outgoing)).status, 200)
  }
  const last = await convert(server.url, token, GOOD)
  assert.equal(last.status, 200)
  assert.match(String(last.headers['ratelimit']), /r=7;/)
})

test("conversions beyond an account's queue get 429, and the others finish", async (t) => {
  const server = await startServer(t, {
    TOLLMARK_CONVERSIONS: '1',
    TOLLMARK_CONVERSION_QUEUE: '2',
    TOLLMARK_FREE_CONVERSIONS: '1000',
  })
  const token = await server.token()
  const responses = await Promise.all(
    Array.from({ length: 30 }, () => convert(server.url, token, GOOD)),
  )
  const done = responses.filter(({ status }) => status === 200)
  assert.ok(done.length >= 1)
  for (const response of responses)
    if (response.status !== 200) assertProblem(response, 429, 'too_many_uploads')
  assert.equal(
    (await server.store.db.selectFrom('quota_days').select('used').executeTakeFirstOrThrow()).used,
    done.length,
  )
})

test('8 concurrent uploads of 5 MB all finish', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '8' })
  const token = await server.token()
  const large = form(file('Page.html', PAGE.replace('Be kind.', 'kind '.repeat(1_000_000))))
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => convert(server.url, token, large)),
  )
  assert.deepEqual(
    responses.map(({ status }) => status),
    Array.from({ length: 8 }, () => 200),
  )
  assert.deepEqual(scratchFiles(server.data), [])
})
