import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { convert, getToken, spawnServer, start } from '../support/harness.ts'
import { usedFolder } from '../support/templates.ts'
import { scratchFiles, until } from '../support/until.ts'

const GOOD = form(file('Page.html', PAGE))

test('kill -9 keeps tokens and the quota, refunds running conversions, and leaves no file', async (t) => {
  const data = usedFolder(t)
  const env = { TOLLMARK_DATA: data, TOLLMARK_FREE_CONVERSIONS: '4' }
  const token = await getToken(env)

  const before = await spawnServer(t, env)
  for (let round = 0; round < 2; round++)
    assert.equal(
      (await convert(before.url, token, GOOD, { 'idempotency-key': `key ${round}` })).status,
      200,
    )
  const headers = {
    'content-type': GOOD.contentType,
    'content-length': '100000',
    'idempotency-key': 'under way',
  }
  const cut = [0, 1].map((index) =>
    start(before.url, '/api/v1/convert', {
      token,
      headers: { ...headers, 'idempotency-key': `under way ${index}` },
    }),
  )
  for (const outgoing of cut) {
    outgoing.on('error', () => {})
    outgoing.write(GOOD.body)
  }
  await until(() => scratchFiles(data).length === 2)
  before.kill('SIGKILL')
  await before.exited

  const after = await spawnServer(t, env)
  // Its response was kept, and costs nothing.
  assert.equal((await convert(after.url, token, GOOD, { 'idempotency-key': 'key 1' })).status, 200)
  // Exactly the two that were cut are there again, under their keys.
  const statuses = []
  for (let round = 0; round < 3; round++)
    statuses.push(
      (await convert(after.url, token, GOOD, { 'idempotency-key': `under way ${round}` })).status,
    )
  assert.deepEqual(statuses, [200, 200, 429])
  assert.deepEqual(scratchFiles(data), [])
})
