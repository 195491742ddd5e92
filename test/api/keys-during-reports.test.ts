// What somebody does with their keys does not wait for another account's reports, and a page of the
// ledger not even for those of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewKey } from '../../server/keys/key-record.ts'
import { call, startServer } from '../support/harness.ts'

const HOUR = 3_600_000
const [MODELS, REPORTS] = [12_000, 6]

test('keys are created, listed, read and changed while another account runs reports', async (t) => {
  const server = await startServer(t)
  const [busy, other] = await Promise.all(
    ['busy', 'other'].map((account) => server.newToken({ account, scopes: ['manage'] })),
  )
  const send = (token: string, method: string, path: string, body?: object) =>
    call(server.url, `/api/v1/${path}`, {
      method,
      token,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const { id } = (await send(other!.secret, 'POST', 'keys', { name: 'one' })).json<NewKey>()
  const hour = Math.floor(server.clock() / HOUR) * HOUR
  const line = {
    hour,
    key_id: 'key_1',
    provider: 'openai',
    account_id: busy!.account_id,
    requests: 1,
    errors: 0,
    aborted: 0,
    unknown: 0,
    unmetered: 1,
    bytes_in: 0,
    bytes_out: 0,
    answered: 0,
    first_byte_ms: 0,
    total_ms: 0,
  }
  const lines = Array.from({ length: MODELS }, (_, i) => ({ ...line, model: `m${i}` }))
  for (let at = 0; at < MODELS; at += 1_000)
    await server.store.db
      .insertInto('usage_hours')
      .values(lines.slice(at, at + 1_000))
      .execute()

  let done = 0
  const reports = Array.from({ length: REPORTS }, async (_, i) => {
    const { status } = await send(busy!.secret, 'GET', i % 2 ? 'models' : 'overview?range=month')
    done++
    return status
  })
  const mine: [method: string, path: string, status: number, body?: object][] = [
    ['PATCH', `keys/${id}`, 200, { name: 'two' }],
    ['GET', `keys/${id}`, 200],
    ['GET', 'keys', 200],
    ['POST', 'keys', 201, { name: 'three' }],
    ['GET', 'models', 200],
  ]
  for (const [method, path, status, body] of mine) {
    assert.equal(
      (await send(other!.secret, method, path, body)).status,
      status,
      `${method} ${path}`,
    )
    assert.ok(done < REPORTS, `${method} ${path}: all reports of the other account came first`)
  }
  // The dashboard goes from its overview to these while the overview is still being made.
  for (const path of ['requests', 'requests?outcome=failed', 'requests?key=key_1']) {
    assert.equal((await send(busy!.secret, 'GET', path)).status, 200, path)
    assert.ok(done < REPORTS, `${path}: all reports of the account came first`)
  }
  assert.deepEqual(new Set(await Promise.all(reports)), new Set([200]))
})
