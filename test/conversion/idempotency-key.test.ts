import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cancelAdmission, countConversion } from '../../server/conversion/admission.ts'
import { admit } from '../../server/conversion/admit.ts'
import { fingerprint } from '../../server/conversion/idempotency.ts'
import { createJobNotifications } from '../../server/conversion/jobs/notifications.ts'
import type { Admission } from '../../server/conversion/admission.ts'
import { openLog } from '../../server/common/log.ts'
import { keepBlob, sweepBlobs } from '../../server/store/blobs/blobs.ts'
import { folderBlobs } from '../../server/store/blobs/folder.ts'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, convert, shareServer, startServer } from '../support/harness.ts'
import type { TestServer } from '../support/harness.ts'

const HOUR = 3_600_000
const GOOD = form(file('Page.html', PAGE))
const OTHER = form(file('Page.html', PAGE.replace('kind', 'brave')))
const keyed = (key: string) => ({ 'idempotency-key': key })

test('the same key with the same content repeats the first response and does not count', async (t) => {
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

test('the same key with other content or other options is 422', async () => {
  const server = await shareServer()
  const token = await server.token()
  assert.equal((await convert(server.url, token, GOOD, keyed('a'))).status, 200)
  assertProblem(await convert(server.url, token, OTHER, keyed('a')), 422, 'idempotency_conflict')
  assertProblem(
    await convert(
      server.url,
      token,
      form(file('Page.html', PAGE), { name: 'format', content: 'json' }),
      keyed('a'),
    ),
    422,
    'idempotency_conflict',
  )
  const third = await convert(server.url, token, GOOD, keyed('a'))
  assert.equal(third.status, 200)
  assert.match(String(third.headers['ratelimit']), /r=9;/)
})

test("the file's name counts as content; the order of the fields does not", async () => {
  const server = await shareServer()
  const token = await server.token()
  const format = { name: 'format', content: 'markdown' }
  assert.equal(
    (await convert(server.url, token, form(format, file('Page.html', PAGE)), keyed('a'))).status,
    200,
  )
  assert.equal(
    (await convert(server.url, token, form(file('Page.html', PAGE), format), keyed('a'))).status,
    200,
  )
  assertProblem(
    await convert(server.url, token, form(file('Copy.html', PAGE), format), keyed('a')),
    422,
    'idempotency_conflict',
  )
})

test('a 4xx response releases its key', async () => {
  const server = await shareServer()
  const token = await server.token()
  assert.equal(
    (await convert(server.url, token, form(file('x.png', 'no page')), keyed('a'))).status,
    400,
  )
  assert.equal((await convert(server.url, token, GOOD, keyed('a'))).status, 200)
})

test('each account has its own keys', async () => {
  const server = await shareServer()
  assert.equal((await convert(server.url, await server.token(), GOOD, keyed('a'))).status, 200)
  assert.equal((await convert(server.url, await server.token(), OTHER, keyed('a'))).status, 200)
})

test('many concurrent requests with one key cause one conversion', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
  const token = await server.token()
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => convert(server.url, token, GOOD, keyed('a'))),
  )
  assert.deepEqual(
    [...new Set(responses.map(({ status, text }) => `${status} ${text}`))],
    [`200 ${responses[0]?.text}`],
  )
})

/**
 * Lets a request of another server in, with this key and the content of GOOD; it stays under way.
 */
async function underWay(server: TestServer, account: string): Promise<Admission> {
  const instance = 'ins_other'
  await server.store.db
    .insertInto('instances')
    .values({ id: instance, host: 'elsewhere', pid: 1, seen_at: server.clock() })
    .execute()
  const upload = {
    fileName: 'Page.html',
    sha256: createHash('sha256').update(PAGE).digest('hex'),
    format: 'markdown',
    includeMetadata: false,
    sourceMap: false,
    layout: 'document',
    flavor: null,
  } as const
  const plan = { name: 'free', conversionsPerDay: 1 }
  const request = { account, plan, key: 'a', fingerprint: fingerprint(upload), instance }
  const admission = await admit(
    server.store,
    request,
    server.clock,
    new AbortController().signal,
    createJobNotifications(server.store),
    openLog('silent'),
  )
  assert.ok('reservation' in admission)
  return admission
}

/**
 * TABLE of what becomes of a request whose key and content others send meanwhile, and the body that
 * they get.
 */
const ENDS: [
  what: string,
  end: (server: TestServer, admission: Admission) => Promise<void>,
  response: string,
][] = [
  [
    'fails',
    (server, admission) => cancelAdmission(server.store, admission, false, openLog('silent')),
    '# Team handbook\n\nBe kind.\n',
  ],
  [
    'dies with its server',
    async (server) =>
      void (await server.store.db.deleteFrom('instances').where('id', '=', 'ins_other').execute()),
    '# Team handbook\n\nBe kind.\n',
  ],
  [
    'succeeds',
    async (server, admission) => {
      const path = join(server.data, 'response')
      writeFileSync(path, 'the first response')
      const blobId = await keepBlob(
        server.store,
        folderBlobs(join(server.data, 'blobs')),
        path,
        'ins_other',
        server.clock(),
      )
      await countConversion(
        server.store,
        admission,
        { contentType: 'text/markdown; charset=utf-8', blobId, issues: null },
        HOUR,
        server.clock(),
      )
    },
    'the first response',
  ],
]

for (const [what, end, response] of ENDS) {
  test(`a request waits for another one with its key, which ${what}`, async (t) => {
    const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '1' })
    const { secret: token, account_id } = await server.newToken()
    const admission = await underWay(server, account_id)
    let hasResponse = false
    const waiting = convert(server.url, token, GOOD, keyed('a')).finally(() => (hasResponse = true))
    assertProblem(await convert(server.url, token, OTHER, keyed('a')), 422, 'idempotency_conflict')
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.equal(hasResponse, false, 'the other one is still under way')
    await end(server, admission)
    const { status, text } = await waiting
    assert.deepEqual([status, text], [200, response])
  })
}

test('a key can be reused after 24 hours, and its response is deleted', async (t) => {
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
  test(`the key ${JSON.stringify(key.slice(0, 5))} (${key.length}) is refused`, async () => {
    const server = await shareServer()
    assertProblem(
      await convert(server.url, await server.token(), GOOD, { 'idempotency-key': key }),
      400,
      'invalid_field',
    )
  })
}
