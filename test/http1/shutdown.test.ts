import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { responseOf, call, spawnServer, start, tollmark } from '../support/harness.ts'
import { usedFolder } from '../support/templates.ts'
import { scratchFiles, until } from '../support/until.ts'

const GOOD = form(file('Page.html', PAGE))

test('SIGTERM lets an upload in progress finish, accepts no new one, and exits 0', async (t) => {
  const data = usedFolder(t)
  const env = { TOLLMARK_DATA: data }
  const token = (
    JSON.parse((await tollmark(['tokens', 'create', '--name', 'test', '--json'], env)).out) as {
      secret: string
    }
  ).secret
  const server = await spawnServer(t, env)
  const headers = { 'content-type': GOOD.contentType, 'content-length': String(GOOD.body.length) }
  const outgoing = start(server.url, '/api/v1/convert', { token, headers })
  outgoing.write(GOOD.body.subarray(0, 400))
  await until(() => scratchFiles(data).length === 1)
  server.kill('SIGTERM')
  await until(() =>
    call(server.url, '/livez').then(
      () => false,
      () => true,
    ),
  )
  outgoing.end(GOOD.body.subarray(400))
  assert.equal((await responseOf(outgoing)).status, 200)
  assert.equal(await server.exited, 0)
  assert.deepEqual(readdirSync(data).sort(), ['blobs', 'master.key', 'scratch', 'tollmark.db'])
})

test('shutdown after SIGTERM is bounded', async (t) => {
  const data = usedFolder(t)
  const env = { TOLLMARK_DATA: data, TOLLMARK_SHUTDOWN_TIMEOUT: '300ms' }
  const token = (
    JSON.parse((await tollmark(['tokens', 'create', '--name', 'test', '--json'], env)).out) as {
      secret: string
    }
  ).secret
  const server = await spawnServer(t, env)
  const outgoing = start(server.url, '/api/v1/convert', {
    token,
    headers: { 'content-type': GOOD.contentType, 'content-length': '100000' },
  })
  outgoing.on('error', () => {})
  outgoing.write(GOOD.body)
  await until(() => scratchFiles(data).length === 1)
  server.kill('SIGTERM')
  assert.equal(await server.exited, 0)
  assert.deepEqual(scratchFiles(data), [])
})
