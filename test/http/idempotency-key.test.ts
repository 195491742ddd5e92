import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sweepBlobs } from '../../server/store/blobs/blobs.ts'
import { folderBlobs } from '../../server/store/blobs/folder.ts'
import { PAGE, file, form } from '../form.ts'
import { answerOf, assertProblem, convert, start, startServer } from '../harness.ts'
import { until } from '../until.ts'

const HOUR = 3_600_000
const GOOD = form(file('Page.html', PAGE))
const OTHER = form(file('Page.html', PAGE.replace('kind', 'brave')))
const keyed = (key: string) => ({ 'idempotency-key': key })

test('the same key with the same content gives the first answer again and costs nothing', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const first = await convert(server.url, token, GOOD, keyed('a'))
  const again = await convert(server.url, token, GOOD, keyed('a'))
  assert.deepEqual([first.status, again.status], [200, 200])
  assert.deepEqual(again.bytes, first.bytes)
  assert.equal(again.headers['content-type'], first.headers['content-type'])
  assert.match(String(again.headers['ratelimit']), /r=0;/)
  // Nothing is left for anything else.
  assertProblem(await convert(server.url, token, GOOD, keyed('b')), 429, 'quota_exceeded')
  assertProblem(await convert(server.url, token, GOOD), 429, 'quota_exceeded')
})

test('the same key with other content or other options is 422', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  assert.equal((await convert(server.url, token, GOOD, keyed('a'))).status, 200)
  assertProblem(await convert(server.url, token, OTHER, keyed('a')), 422, 'idempotency_conflict')
  assertProblem(await convert(server.url, token, form(file('Page.html', PAGE), { name: 'format', content: 'json' }), keyed('a')), 422, 'idempotency_conflict')
  const third = await convert(server.url, token, GOOD, keyed('a'))
  assert.equal(third.status, 200)
  assert.match(String(third.headers['ratelimit']), /r=9;/)
})

test('the order of the fields and the name of the file are not content', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  const format = { name: 'format', content: 'markdown' }
  assert.equal((await convert(server.url, token, form(format, file('Page.html', PAGE)), keyed('a'))).status, 200)
  assert.equal((await convert(server.url, token, form(file('Copy.html', PAGE), format), keyed('a'))).status, 200)
})

test('an answer of 4xx frees its key', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  assert.equal((await convert(server.url, token, form(file('x.png', 'no page')), keyed('a'))).status, 400)
  assert.equal((await convert(server.url, token, GOOD, keyed('a'))).status, 200)
})

test('each account has its own keys', async (t) => {
  const server = await startServer(t)
  assert.equal((await convert(server.url, await server.token({ account: 'a' }), GOOD, keyed('a'))).status, 200)
  assert.equal((await convert(server.url, await server.token({ account: 'b' }), OTHER, keyed('a'))).status, 200)
})

test('many requests at once with one key are one conversion', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const answers = await Promise.all(Array.from({ length: 20 }, () => convert(server.url, token, GOOD, keyed('a'))))
  assert.deepEqual([...new Set(answers.map(({ status, text }) => `${status} ${text}`))], [`200 ${answers[0]?.text}`])
})

test('a request waits for the first one with its key, and takes its place when that fails', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const headers = { 'content-type': GOOD.contentType, 'content-length': String(GOOD.body.length), ...keyed('a') }
  const first = start(server.url, '/api/v1/convert', { token, headers })
  first.on('error', () => {})
  first.write(GOOD.body.subarray(0, 100))
  await until(async () => (await server.store.db.selectFrom('idempotency').selectAll().execute()).length === 1)

  let answered = false
  const second = convert(server.url, token, GOOD, keyed('a')).finally(() => (answered = true))
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(answered, false, 'the first is still under way')
  first.destroy()
  assert.equal((await second).status, 200)
})

test('a request waits for the first one with its key, and gets its answer', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const headers = { 'content-type': GOOD.contentType, 'content-length': String(GOOD.body.length), ...keyed('a') }
  const first = start(server.url, '/api/v1/convert', { token, headers })
  first.write(GOOD.body.subarray(0, 100))
  await until(async () => (await server.store.db.selectFrom('idempotency').selectAll().execute()).length === 1)
  const [same, other] = [convert(server.url, token, GOOD, keyed('a')), convert(server.url, token, OTHER, keyed('a'))]
  first.end(GOOD.body.subarray(100))
  const answer = await answerOf(first)
  assert.equal(answer.status, 200)
  assert.deepEqual((await same).bytes, answer.bytes)
  assertProblem(await other, 422, 'idempotency_conflict')
})

test('a key is free again after 24 hours, and its answer is deleted', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  assert.equal((await convert(server.url, token, GOOD, keyed('a'))).status, 200)
  server.step(24 * HOUR - 60_000)
  assertProblem(await convert(server.url, token, OTHER, keyed('a')), 422, 'idempotency_conflict')
  server.step(2 * 60_000)
  assert.equal((await convert(server.url, token, OTHER, keyed('a'))).status, 200)
  const folder = join(server.data, 'blobs')
  const files = () => readdirSync(folder).flatMap((part) => readdirSync(join(folder, part)))
  assert.equal(files().length, 2)
  assert.equal(await sweepBlobs(server.store, folderBlobs(folder), server.clock() + 2 * HOUR), 1)
  assert.equal(files().length, 1)
})

/** TABLE of keys that are none. */
for (const key of ['', ' ', 'x'.repeat(256), 'é']) {
  test(`the key ${JSON.stringify(key.slice(0, 5))} (${key.length}) is refused`, async (t) => {
    const server = await startServer(t)
    assertProblem(await convert(server.url, await server.token(), GOOD, { 'idempotency-key': key }), 400, 'invalid_field')
  })
}
