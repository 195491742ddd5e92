// The whole server while its database does not answer.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { z } from 'zod'
import { verifyWindows } from '../../server/ledger/reports/verify.ts'
import { respond, headerOf } from '../support/providers/fake.ts'
import { startPostgres } from '../support/postgres.ts'
import { usedFolder } from '../support/templates.ts'
import { until } from '../support/until.ts'
import { OPENAI, startServed, type Served } from './support/served.ts'

const CHAT = `${OPENAI}/v1/chat/completions`

/** What /readyz says: the status, and the word for it. */
type Ready = readonly [status: number, word: string]

async function readyOf({ running }: Served): Promise<Ready> {
  const got = await fetch(`${running.url}/readyz`)
  const { status } = z.object({ status: z.string() }).parse(await got.json())
  return [got.status, status]
}

const isReady = async (ready: () => Promise<Ready>): Promise<boolean> => (await ready())[1] === 'ok'

async function startOnFile(
  t: TestContext,
  grace: string,
): Promise<Served & { stop(): void; goOn(): void; ready(): Promise<Ready> }> {
  const data = usedFolder(t)
  const path = join(data, 'tollmark.db')
  const served = await startServed(
    t,
    respond(
      200,
      { 'Content-Type': 'application/json' },
      '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    ),
    { DATABASE_URL: `sqlite:${path}`, TOLLMARK_STORE_GRACE: grace },
    data,
  )
  const other = new DatabaseSync(path, { timeout: 5_000 })
  t.after(() => other.close())
  return {
    ...served,
    stop: () => other.exec('BEGIN IMMEDIATE'),
    goOn: () => other.exec('ROLLBACK'),
    ready: () => readyOf(served),
  }
}

test('while the database cannot be written, calls pass within their limits and the server stays ready', async (t) => {
  const { running, fake, key, send, stop, goOn, ready } = await startOnFile(t, '1m')
  const { secret } = await key({ rpm: 5 })
  const call = () => send(secret, CHAT, { body: '{"model":"gpt-5"}' })
  assert.equal((await call()).status, 200)
  assert.deepEqual(await ready(), [200, 'ok'])
  stop()
  await until(async () => !(await isReady(ready)))
  assert.deepEqual(await ready(), [200, 'degraded'])
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) statuses.push((await call()).status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429, 429, 429])
  goOn()
  await until(() => isReady(ready))
  assert.equal((await call()).status, 429)
  const rows = () =>
    running.store.db.selectFrom('requests').select(['id', 'state', 'tokens_out']).execute()
  await until(async () => (await rows()).filter(({ state }) => state === 'settled').length === 5)
  assert.equal((await rows()).length, 5)
  assert.ok((await rows()).every(({ tokens_out }) => tokens_out === 2))
  assert.equal(fake.requests.length, 5)
  assert.deepEqual((await verifyWindows(running.store)).violations, [])
})

test('after the grace period calls get 503 with Retry-After, and pass when the database is back', async (t) => {
  const { fake, key, send, stop, goOn, ready } = await startOnFile(t, '0s')
  const { secret } = await key()
  stop()
  for (let i = 0; i < 3; i++) {
    const refused = await send(secret, CHAT, { body: '{"model":"gpt-5"}' })
    assert.equal(refused.status, 503)
    assert.ok(Number(headerOf(refused.rawHeaders, 'retry-after')) > 0)
  }
  assert.equal(fake.requests.length, 0)
  assert.deepEqual(await ready(), [503, 'unavailable'])
  goOn()
  await until(() => isReady(ready))
  assert.equal((await send(secret, CHAT, { body: '{"model":"gpt-5"}' })).status, 200)
})

test('an object created during an outage belongs to its creator, during it and afterwards', async (t) => {
  const database = await startPostgres()
  t.after(() => database[Symbol.asyncDispose]())
  const served = await startServed(
    t,
    respond(200, { 'Content-Type': 'application/json' }, '{"id":"file-1"}'),
    { DATABASE_URL: database.url.href, TOLLMARK_STORE_GRACE: '1m' },
  )
  const { running, key, send } = served
  const ready = () => readyOf(served)
  const [maker, other] = [await key({ objects: 'upstream' }), await key()]
  const read = async (secret: string, id: string) =>
    (await send(secret, `${OPENAI}/v1/files/${id}`, { method: 'GET' })).status
  await database.stop()
  await until(async () => !(await isReady(ready)))
  assert.deepEqual(await ready(), [200, 'degraded'])
  assert.equal((await send(maker.secret, `${OPENAI}/v1/files`, { body: '{}' })).status, 200)
  assert.deepEqual(
    [await read(maker.secret, 'file-1'), await read(other.secret, 'file-1')],
    [200, 403],
  )
  // Of this one it cannot be known whose it is.
  const unknown = await send(maker.secret, `${OPENAI}/v1/files/file-2`, { method: 'GET' })
  assert.deepEqual(
    [
      unknown.status,
      headerOf(unknown.rawHeaders, 'x-proxy-error'),
      headerOf(unknown.rawHeaders, 'retry-after'),
    ],
    [503, 'service_unavailable', '5'],
  )
  await database.start()
  await until(() => isReady(ready))
  await until(
    async () =>
      (
        await running.store.db
          .selectFrom('objects')
          .select('key_id')
          .where('object_id', '=', 'file-1')
          .executeTakeFirst()
      )?.key_id === maker.id,
  )
  assert.equal(await read(maker.secret, 'file-2'), 200)
})
