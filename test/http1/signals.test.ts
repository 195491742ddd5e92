// What a server does at a signal: it drains, ends what is in progress, and ends at once at a second
// one. Real processes, real signals.
import assert from 'node:assert/strict'
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken } from '../../server/accounts/tokens.ts'
import { createKey } from '../../server/keys/keys.ts'
import { openStore } from '../../server/store/open.ts'
import { OPENAI } from '../proxy/support/served.ts'
import { file, form } from '../support/form.ts'
import {
  call,
  convert,
  getToken,
  spawnGroup,
  spawnServer,
  start,
  type Process,
} from '../support/harness.ts'
import { chunk, head, startFake } from '../support/providers/fake.ts'
import { placeOf } from '../support/store-settings.ts'
import { usedFolder } from '../support/templates.ts'
import { scratchFiles, until } from '../support/until.ts'

/** Later than the duplicates of a signal (server/app/signals.ts), in milliseconds. */
const LATER = 600

/** A GET on a connection of `agent`, with its response read to the end. */
async function get(url: string, agent: Agent): Promise<[ClientRequest, IncomingMessage]> {
  const outgoing = request(url, { agent })
  outgoing.end()
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
  })
  await incoming.toArray()
  return [outgoing, incoming]
}

const readiness = ({ url }: Process): Promise<number> =>
  call(url, '/readyz').then(
    ({ status }) => status,
    () => 0,
  )

test('SIGTERM drains: /readyz is 503, then kept connections serve one more request and close', async (t) => {
  const server = await spawnServer(t, { TOLLMARK_DATA: usedFolder(t), TOLLMARK_DRAIN: '5s' })
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })] as const
  t.after(() => agents.forEach((agent) => agent.destroy()))
  const paths = ['/livez', '/proxy/api.openai.com/v1/models'] as const
  for (const [i, path] of paths.entries()) {
    const [, { headers }] = await get(server.url + path, agents[i]!)
    assert.equal(headers.connection, 'keep-alive')
  }
  const signalled = performance.now()
  server.kill('SIGTERM')
  await until(async () => (await readiness(server)) === 503)
  await until(async () => (await readiness(server)) === 0)
  for (const [i, path] of paths.entries()) {
    const [{ reusedSocket }, { headers }] = await get(server.url + path, agents[i]!)
    assert.deepEqual([reusedSocket, headers.connection], [true, 'close'])
  }
  assert.equal(await server.exited, 0)
  assert.ok(performance.now() - signalled >= 5_000)
})

test('on SQLite there is no drain unless it is set, and SIGINT never drains', async (t) => {
  for (const [signal, env] of [
    ['SIGTERM', {}],
    ['SIGINT', { TOLLMARK_DRAIN: '10m' }],
  ] as const) {
    const server = await spawnServer(t, {
      TOLLMARK_DATA: usedFolder(t),
      DATABASE_URL: '',
      ...env,
    })
    server.kill(signal)
    assert.equal(await server.exited, 0)
  }
})

/** The secret of a new key, made without a process. */
async function getKey(data: string): Promise<string> {
  await using store = await openStore({ ...(await placeOf(data)), now: Date.now() })
  const owner = { name: null, plan: 'free' }
  const { token } = await createToken(
    store,
    owner,
    { name: 'k', scopes: ['manage'], expiresAt: null },
    Date.now(),
  )
  const anything = { name: 'k', models: null, rpm: null, allowed_origins: null, expires_at: null }
  return (await createKey(store, token.account_id, anything, Date.now())).secret
}

/** A server with a stream that goes on until somebody ends it. */
async function streaming(t: TestContext, env: Record<string, string>) {
  const data = usedFolder(t)
  const fake = await startFake(async ({ write, gone }) => {
    write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
    write(chunk('data: {}\n\n'))
    await gone()
  })
  t.after(() => fake.close())
  const settings = { TOLLMARK_DATA: data, OPENAI_API_KEY: 'sk-up', ...env }
  const secret = await getKey(data)
  const server = await spawnServer(t, { ...settings, TOLLMARK_UPSTREAM_OPENAI: fake.origin })
  const outgoing = start(server.url, `/proxy?url=${OPENAI}/v1/chat/completions`, {
    token: secret,
    headers: { 'content-type': 'application/json' },
  })
  outgoing.on('error', () => {})
  outgoing.end('{"model":"gpt-4o"}')
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
  })
  incoming.on('error', () => {}).resume()
  return { server, data }
}

for (const second of ['SIGTERM', 'SIGINT'] as const)
  test(`a second signal (${second}) exits immediately, with the ledger settled`, async (t) => {
    const { server, data } = await streaming(t, { TOLLMARK_SHUTDOWN_TIMEOUT: '10m' })
    server.kill('SIGTERM')
    await until(async () => (await readiness(server)) === 0)
    await sleep(LATER)
    server.kill(second)
    assert.equal(await server.exited, second === 'SIGTERM' ? 143 : 130)
    await using store = await openStore({ ...(await placeOf(data)), now: 0 })
    const rows = await store.db.selectFrom('requests').select(['state', 'error']).execute()
    assert.deepEqual(
      rows.map(({ state, error }) => [state, error]),
      [['settled', 'server_shutdown']],
    )
  })

test('the shutdown is bounded although the database is locked', async (t) => {
  const { server, data } = await streaming(t, {
    TOLLMARK_SHUTDOWN_TIMEOUT: '300ms',
    DATABASE_URL: '',
  })
  const other = new DatabaseSync(join(data, 'tollmark.db'), { timeout: 10_000 })
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const signalled = performance.now()
  server.kill('SIGTERM')
  assert.equal(await server.exited, 0)
  const took = performance.now() - signalled
  // Without a bound it would be the ten seconds for which a write waits.
  assert.ok(took < 9_000, `it took ${took} ms`)
  assert.deepEqual(scratchFiles(data), [])
})

test('a signal to the process group lets a conversion finish and counts once', async (t) => {
  const env = { TOLLMARK_DATA: usedFolder(t), TOLLMARK_SHUTDOWN_TIMEOUT: '10m' }
  const token = await getToken(env)
  const page = `<html><head><title>P</title></head><body><article class="page sans"><header><h1 class="page-title">P</h1></header><div class="page-body">${'<p>Some <strong>text</strong> here.</p>'.repeat(60_000)}</div></article></body></html>`
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = await spawnGroup(t, env)
    const response = convert(server.url, token, form(file('Page.html', page)))
    await until(async () =>
      /^tollmark_conversions_running 1$/m.test((await call(server.url, '/metrics')).text),
    )
    process.kill(-server.pid, signal)
    const { status, text } = await response
    assert.equal(status, 200, text.slice(0, 300))
    assert.equal(await server.exited, 0)
  }
})
