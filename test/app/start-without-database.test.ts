// A server that is started while its database is away: it listens, says that it is not ready, and
// goes on by itself.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { call, spawnServer, tollmark, type Process } from '../support/harness.ts'
import { freshDatabase, startPostgres, type Server } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import '../support/stores.ts'

/** A GET whose response need not be described: while it waits, a server describes nothing. */
async function get({ url }: Process, path: string) {
  const response = await fetch(url + path)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function startAlone(
  t: TestContext,
  role: string,
): Promise<{ database: Server; server: Process; data: string }> {
  const database = await startPostgres()
  t.after(() => database[Symbol.asyncDispose]())
  await database.stop()
  const data = temporaryFolder(t)
  const server = await spawnServer(t, {
    DATABASE_URL: database.url.href,
    TOLLMARK_DATA: data,
    TOLLMARK_ROLE: role,
    TOLLMARK_DRAIN: '0s',
    PORT: String(await freePort()),
    HOST: '127.0.0.1',
  })
  return { database, server, data }
}

for (const role of ['web', 'worker'])
  test(`${role}: it is alive but not ready while the database is unavailable, and starts once it is back`, async (t) => {
    const { database, server } = await startAlone(t, role)
    assert.match(server.said(), /^Tollmark is waiting for its database at http/m)
    assert.equal((await get(server, '/livez')).status, 200)
    const health = await get(server, '/readyz')
    assert.deepEqual(
      [health.status, JSON.parse(health.text)],
      [
        503,
        {
          status: 'unavailable',
          troubles: ['the database does not answer; the server starts when it does'],
        },
      ],
    )
    assert.match((await get(server, '/metrics')).text, /^tollmark_ready 0$/m)
    for (const [path, header] of [
      ['/api/v1/keys', 'content-type'],
      ['/proxy/api.openai.com/v1/models', 'x-proxy-error'],
    ] as const) {
      const { status, headers } = await get(server, path)
      assert.equal(status, 503)
      assert.equal(headers.get('retry-after'), '5')
      assert.match(headers.get(header) ?? '', /service_unavailable|problem\+json/)
    }
    await database.start()
    await until(async () => (await get(server, '/readyz')).status === 200)
    await until(() => /^Tollmark is at/m.test(server.said()))
    assert.equal(server.said().match(/is waiting for its database/g)?.length, 1)
    if (role === 'web') {
      assert.equal((await call(server.url, '/api/v1/keys')).status, 401)
      assert.equal((await get(server, '/proxy/api.openai.com/v1/models')).status, 401)
    }
    server.kill('SIGTERM')
    assert.equal(await server.exited, 0)
  })

test('SIGTERM ends the wait with 0, and leaves no scratch folder', async (t) => {
  const { server, data } = await startAlone(t, 'all')
  server.kill('SIGTERM')
  assert.equal(await server.exited, 0)
  assert.ok(!existsSync(join(data, 'scratch')))
})

test('a setting that waiting cannot fix ends the start with exit code 1', async (t) => {
  const url = new URL(await freshDatabase())
  url.pathname = '/there-is-none'
  const { code, err } = await tollmark(['serve'], {
    DATABASE_URL: url.href,
    TOLLMARK_DATA: temporaryFolder(t),
    PORT: '0',
  })
  assert.deepEqual([code, err.split('\n').length], [1, 2])
  assert.match(err, /the server has no such database\. Create it first\./)
})
