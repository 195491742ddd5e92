// Providers that the operator adds with an API of their own, written down in the file of providers.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfig } from '../../../server/config/settings.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { startServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const CLAUDE = 'https://claude.acme.test'
const VOICE = 'https://voice.acme.test'

/** TABLE of added providers, as docs/proxy.md shows them. */
const ADDED = [
  { id: 'acme-claude', origin: CLAUDE, speaks: 'anthropic' },
  {
    id: 'acme-voice',
    origin: VOICE,
    auth: { header: 'X-Acme-Key' },
    endpoints: [
      { on: 'POST /v1/say', name: 'acme/say' },
      { on: 'POST /v1/render', model: { body: ['engine'] }, creates: { job: 'job' } },
      { on: 'POST /v1/engines/{model}/run', model: 'path' },
      { on: 'POST /v1/listen', model: { headers: ['X-Engine'] } },
      { on: 'GET /v1/jobs/{job}' },
      { on: 'POST /v1/hear', name: 'acme/hear', uploads: 'body' },
      { on: 'POST /v1/engines/{model}/hear', model: 'path', uploads: 'body' },
      { on: 'POST /v1/hear-by', model: { headers: ['X-Engine'] }, uploads: 'body' },
      { on: 'POST /v1/hear-form', model: { body: ['engine'], form: true }, uploads: 'form' },
    ],
    minting: ['/v1/passes'],
    admin: ['/v1/house'],
  },
]

const startAdded = (t: TestContext) =>
  startServed(t, respond(200, JSON_TYPE, '{}'), (origin) => {
    const path = join(temporaryFolder(t), 'providers.json')
    const rows = ADDED.map((row) => ({ ...row, dial: origin, credential: { env: 'ADDED_KEY' } }))
    writeFileSync(path, JSON.stringify(rows))
    return { TOLLMARK_PROVIDERS: path, ADDED_KEY: 'the-added-secret' }
  })

test('a provider with the API of a built-in one is held to its endpoints, below any path', async (t) => {
  const { fake, key, send } = await startAdded(t)
  const { secret } = await key({ models: ['claude-*'] })
  for (const path of ['/v1/messages', '/anthropic/v1/messages']) {
    const ask = (model: string) =>
      send(secret, `${CLAUDE}${path}`, {
        headers: JSON_TYPE,
        body: JSON.stringify({ model, messages: [] }),
      })
    assert.equal((await ask('claude-x')).status, 200, path)
    assert.equal(headerOf(fake.requests.at(-1)!.rawHeaders, 'x-api-key'), 'the-added-secret')
    const refused = await ask('gpt-x')
    assert.equal(refused.status, 403, path)
    assert.equal((JSON.parse(String(refused.body)) as { type: string }).type, 'error')
  }
  const closed = await send(secret, `${CLAUDE}/v1/vaults/v/credentials`, { body: '{}' })
  assert.equal(closed.status, 403)
})

test("endpoints in the file are held to a key's models and objects", async (t) => {
  const { fake, key, send } = await startAdded(t)
  const [mine, other] = [
    await key({ models: ['acme/say', 'engine-1'] }),
    await key({ models: ['something-else'] }),
  ]
  const requests: [path: string, body: object, headers?: Record<string, string>][] = [
    ['/v1/say', { text: 'x' }],
    ['/v1/render', { engine: 'engine-1' }],
    ['/v1/engines/engine-1/run', {}],
    ['/v1/listen', {}, { 'X-Engine': 'engine-1' }],
  ]
  fake.play(respond(200, JSON_TYPE, '{"job":"job-1"}'))
  for (const [path, body, headers = {}] of requests) {
    const sent = { headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
    assert.equal((await send(mine.secret, `${VOICE}${path}`, sent)).status, 200, path)
    assert.equal((await send(other.secret, `${VOICE}${path}`, sent)).status, 403, path)
  }
  const read = async (secret: string) =>
    (await send(secret, `${VOICE}/v1/jobs/job-1`, { method: 'GET' })).status
  assert.deepEqual([await read(mine.secret), await read(other.secret)], [200, 403])
  const { secret } = await key({ objects: 'upstream' })
  for (const path of ['/v1/passes', '/v1/Passes/p1', '/v1/house/rules'])
    assert.equal((await send(secret, `${VOICE}${path}`, { body: '{}' })).status, 403, path)
})

test("an upload is held to a key's models, wherever its model is named", async (t) => {
  const { key, send } = await startAdded(t)
  const [mine, other] = [
    await key({ models: ['acme/hear', 'engine-1'] }),
    await key({ models: ['something-else'] }),
  ]
  const part = (name: string, text: string): string =>
    `--x\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${text}\r\n`
  const file = part('file; filename=a.wav', 'RIFF')
  const wav = { 'Content-Type': 'audio/wav' }
  const form = { 'Content-Type': 'multipart/form-data; boundary=x' }
  const requests: [path: string, body: string, headers: Record<string, string>][] = [
    ['/v1/hear', 'RIFF', wav],
    ['/v1/engines/engine-1/hear', 'RIFF', wav],
    ['/v1/hear-by', 'RIFF', { ...wav, 'X-Engine': 'engine-1' }],
    ['/v1/hear-form', `${part('engine', 'engine-1')}${file}--x--\r\n`, form],
    ['/v1/hear-form', `${file}${part('engine', 'engine-1')}--x--\r\n`, form],
  ]
  for (const [path, body, headers] of requests)
    for (const [{ secret }, status] of [
      [mine, 200],
      [other, 403],
    ] as const)
      assert.equal((await send(secret, `${VOICE}${path}`, { headers, body })).status, status, path)
})

test('all faults of the file are reported together', (t) => {
  const path = join(temporaryFolder(t), 'providers.json')
  const wrong = [
    { id: 'A', origin: VOICE },
    {
      id: 'b',
      origin: VOICE,
      endpoints: [{ on: 'FETCH /x' }, { on: 'POST /y', name: 'b/y', model: 'path' }],
    },
    { id: 'c', origin: VOICE, minting: ['v1/keys'] },
  ]
  writeFileSync(path, JSON.stringify(wrong))
  assert.throws(
    () => readConfig({ TOLLMARK_PROVIDERS: path }),
    (error: Error) => {
      const lines = error.message.split('\n').map((line) => /: ([\d.a-z]+): /.exec(line)?.[1])
      assert.deepEqual(lines, ['0.id', '1.endpoints.0.on', '1.endpoints.1', '2.minting.0'])
      return true
    },
  )
})

test('all faults that only the table of providers finds are reported together', () => {
  const custom = [
    { id: 'a', origin: 'http://a.test', dial: 'ftp://a', speaks: 'nobody' },
    { id: 'b', origin: VOICE, auth: { header: 'Content-Length', scheme: 'two words' } },
  ]
  assert.throws(
    () => createProviderTable({ custom }),
    (error: Error) => {
      const lines = error.message.split('\n').map((line) => /^Provider (.*?): /.exec(line)?.[1])
      assert.deepEqual(lines, [
        '"a", origin',
        '"a", dial',
        '"a", speaks',
        '"b", auth.header',
        '"b", auth.scheme',
      ])
      return true
    },
  )
})
