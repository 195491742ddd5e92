import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { responseOf, assertProblem, convert, start, startServer } from '../support/harness.ts'
import type { ReceivedResponse } from '../support/harness.ts'
import { scratchFiles, until } from '../support/until.ts'
import { zip } from '../support/zip.ts'

const GOOD = form(file('Page.html', PAGE))
const BAD = form(file('Page.html', PAGE), { name: 'format', content: 'docx' })

function tally(responses: ReceivedResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/**
 * Uploads until the store has decided. On a busy machine it may not respond in time: that is a 503,
 * which must not count.
 */
async function convertDecided(url: string, token: string): Promise<ReceivedResponse> {
  for (;;) {
    const response = await convert(url, token, GOOD)
    if (response.status !== 503) return response
    assertProblem(response, 503, 'store_unavailable')
  }
}

test('50 concurrent uploads on a fresh free account give exactly 10 successes', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => convertDecided(server.url, token)),
  )
  assert.deepEqual(tally(responses), { 200: 10, 429: 40 })
  for (const response of responses.filter(({ status }) => status === 429)) {
    assertProblem(response, 429, 'quota_exceeded')
    const seconds = Number(response.headers['retry-after'])
    assert.ok(
      seconds > 43_000 && seconds <= 43_200,
      `it is noon, and the quota comes back in ${seconds} s`,
    )
  }
})

test('bad uploads among good ones do not count', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  for (let round = 0; round < 10; round++) {
    const responses = await Promise.all(
      [BAD, BAD, BAD].map((bad) => convert(server.url, token, bad)),
    )
    assert.deepEqual(tally(responses).hasOwnProperty(200), false)
    assert.equal((await convert(server.url, token, GOOD)).status, 200)
  }
  assertProblem(await convert(server.url, token, GOOD), 429, 'quota_exceeded')
})

test("concurrent bad uploads never use up a good one's quota", async (t) => {
  // As many as there are bad ones: so often they are given back.
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '5' })
  const token = await server.token()
  // A ZIP by its signature, so that only its conversion tells that it is broken.
  const broken = form(file('Export.zip', zip({ 'Page.html': PAGE }).subarray(0, -30)))
  const bad = [broken, BAD, broken, broken, broken, BAD, broken].map((upload) =>
    convert(server.url, token, upload),
  )
  assert.equal((await convert(server.url, token, GOOD)).status, 200)
  for (const { status } of await Promise.all(bad))
    assert.ok(status === 400 || status === 429, `${status}`)
})

test('all tokens of an account share one quota, and each account has its own', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '2' })
  const [one, other] = [await server.token({ account: 'a' }), await server.token({ account: 'a' })]
  const statuses = []
  for (const token of [one, other, one, other])
    statuses.push((await convert(server.url, token, GOOD)).status)
  assert.deepEqual(statuses, [200, 200, 429, 429])
  assert.equal((await convert(server.url, await server.token({ account: 'b' }), GOOD)).status, 200)
})

test('a plan with a quota of 0 allows no conversion', async (t) => {
  const server = await startServer(t, { TOLLMARK_PLANS: '{"viewer":{"conversions_per_day":0}}' })
  const response = await convert(server.url, await server.token({ plan: 'viewer' }), GOOD)
  assertProblem(response, 429, 'quota_exceeded')
  assert.equal(
    response.json()['detail'],
    'The plan "viewer" includes no conversions. Ask the operator for another plan.',
  )
  assert.ok(Number(response.headers['retry-after']) > 0)
})

test('the quota resets at midnight UTC', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  assert.equal((await convert(server.url, token, GOOD)).status, 200)
  server.step(11.9 * 3_600_000)
  assert.equal((await convert(server.url, token, GOOD)).status, 429)
  server.step(0.1 * 3_600_000)
  assert.equal((await convert(server.url, token, GOOD)).status, 200)
})

test('the operator defines the plans', async (t) => {
  const server = await startServer(t, {
    TOLLMARK_PLANS: '{"team":{"conversions_per_day":3},"all":{"conversions_per_day":null}}',
  })
  const team = await server.token({ account: 'team', plan: 'team' })
  const responses = await Promise.all(
    Array.from({ length: 6 }, () => convert(server.url, team, GOOD)),
  )
  assert.deepEqual(tally(responses), { 200: 3, 429: 3 })
  assert.equal(responses[0]?.headers['ratelimit-policy'], '"team";q=3;w=86400')
  const all = await server.token({ account: 'all', plan: 'all' })
  assert.deepEqual(
    tally(await Promise.all(Array.from({ length: 15 }, () => convert(server.url, all, GOOD)))),
    { 200: 15 },
  )
})

test('a caller that disconnects mid-upload gets its slot back and leaves no file', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  for (const sent of [GOOD.body, GOOD.body.subarray(0, -300), GOOD.body.subarray(0, -100)]) {
    const outgoing = start(server.url, '/api/v1/convert', {
      token,
      headers: { 'content-type': GOOD.contentType, 'content-length': '1000000' },
    })
    outgoing.on('error', () => {})
    outgoing.write(sent)
    await until(() => scratchFiles(server.data).length === 1)
    outgoing.destroy()
    await until(() => scratchFiles(server.data).length === 0)
  }
  await until(
    async () =>
      (await server.store.db.selectFrom('reservations').selectAll().execute()).length === 0,
  )
  assert.equal((await convert(server.url, token, GOOD)).status, 200)
})

test('a stalled upload is abandoned', async (t) => {
  const server = await startServer(t, { TOLLMARK_TRANSFER_IDLE: '200ms' })
  const outgoing = start(server.url, '/api/v1/convert', {
    token: await server.token(),
    headers: { 'content-type': GOOD.contentType, 'content-length': '1000000' },
  })
  t.after(() => outgoing.destroy())
  outgoing.write(GOOD.body)
  assertProblem(await responseOf(outgoing), 408, 'request_timeout')
})
