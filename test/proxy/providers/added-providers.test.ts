// Providers that the operator adds, dialled below a path: everything arrives there as if it were
// the provider itself.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { OPENAI, startServed } from '../support/served.ts'

const ACME = 'https://api.acme.test'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** TABLE of added providers. */
const ADDED = [
  { id: 'acme', origin: ACME, auth: { header: 'Authorization', scheme: 'Bearer' } },
  { id: 'odd-port', origin: 'https://models.acme.test:8443', auth: { header: 'X-Acme-Key' } },
  { id: 'second-openai', origin: OPENAI },
  { id: 'bedrock-eu', origin: 'https://bedrock-runtime.eu-central-1.amazonaws.com' },
  { id: 'vertex-eu', origin: 'https://europe-west4-aiplatform.googleapis.com' },
  { id: 'claude-on-aws', origin: 'https://aws-external-anthropic.us-east-1.api.aws' },
  {
    id: 'cohere',
    origin: 'https://api.cohere.com',
    auth: { header: 'Authorization', scheme: 'Token' },
  },
]

const startAdded = (t: TestContext) =>
  startServed(t, respond(200, JSON_TYPE, '{}'), (origin) => {
    const path = join(temporaryFolder(t), 'providers.json')
    const rows = ADDED.map((row) => ({
      ...row,
      dial: `${origin}/u/https/${new URL(row.origin).host}`,
      credential: { env: 'ADDED_KEY' },
    }))
    writeFileSync(path, JSON.stringify(rows))
    return { TOLLMARK_PROVIDERS: path, ADDED_KEY: 'the-added-secret', TOLLMARK_UPSTREAM_OPENAI: '' }
  })

test('every method, query and body reaches an added provider below the path at which it is dialled', async (t) => {
  const { fake, key, send } = await startAdded(t)
  const { secret } = await key({ objects: 'upstream' })
  for (const { origin } of ADDED) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = method === 'GET' || method === 'HEAD' ? undefined : '{"model":"m", "n":1.0}'
      const got = await send(secret, `${origin}/v1/any/thing:do?b=2&a=%2F+x&a=1`, {
        method,
        headers: JSON_TYPE,
        ...(body !== undefined && { body }),
      })
      assert.equal(got.status, 200, `${method} ${origin}: ${got.body}`)
      const received = fake.requests.at(-1)!
      assert.deepEqual(
        [received.method, received.target],
        [method, `/u/https/${new URL(origin).host}/v1/any/thing:do?b=2&a=%2F+x&a=1`],
      )
      assert.equal(
        received.sha256,
        createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      )
      assert.equal(headerOf(received.rawHeaders, 'host'), new URL(origin).host)
    }
  }
})

test('each provider is authenticated in its own way', async (t) => {
  const { fake, key, send } = await startAdded(t)
  const { secret } = await key()
  const given = async (address: string, header: string) => {
    await send(secret, address, { method: 'GET' })
    return headerOf(fake.requests.at(-1)!.rawHeaders, header)
  }
  assert.equal(await given(`${ACME}/v1/models`, 'authorization'), 'Bearer the-added-secret')
  assert.equal(
    await given('https://models.acme.test:8443/v1/models', 'x-acme-key'),
    'the-added-secret',
  )
  assert.equal(
    await given('https://api.cohere.com/v1/models', 'authorization'),
    'Token the-added-secret',
  )
})

test('redirects lead through the proxy again, however the upstream names itself', async (t) => {
  const { fake, key, send } = await startAdded(t)
  const { secret } = await key({ objects: 'upstream' })
  const through = (address: string) => `/proxy?url=${encodeURIComponent(address)}`
  const dial = `${fake.origin}/u/https/api.acme.test`
  const cases: [location: string, expected: string][] = [
    [`${ACME}/v2/files/x?at=1&b=2`, through(`${ACME}/v2/files/x?at=1&b=2`)],
    [`${dial}/v2/files/x?at=1`, through(`${ACME}/v2/files/x?at=1`)],
    ['/u/https/api.acme.test/v2/files/x', through(`${ACME}/v2/files/x`)],
    ['/v2/files/x', through(`${ACME}/v2/files/x`)],
    ['other?c=3', through(`${ACME}/v1/files/other?c=3`)],
    [`${OPENAI}/v1/files/file-1/content`, through(`${OPENAI}/v1/files/file-1/content`)],
    ['https://cdn.example.com/x?signature=1', 'https://cdn.example.com/x?signature=1'],
    [`${fake.origin}/u/https/elsewhere.test/x`, `${fake.origin}/u/https/elsewhere.test/x`],
  ]
  for (const [Location, expected] of cases) {
    fake.play(respond(302, { Location }))
    const got = await send(secret, `${ACME}/v1/files/x`, { method: 'GET' })
    assert.deepEqual([got.status, headerOf(got.rawHeaders, 'location')], [302, expected], Location)
  }
})

test('the address of an upload leads through the proxy', async (t) => {
  const { fake, key, send } = await startAdded(t)
  const { secret } = await key()
  for (const base of [ACME, `${fake.origin}/u/https/api.acme.test`]) {
    fake.play(
      respond(200, {
        'X-Goog-Upload-URL': `${base}/upload/v1beta/files?upload_id=7`,
        'X-Goog-Upload-Status': 'active',
      }),
    )
    const got = await send(secret, `${ACME}/upload/v1beta/files`, { body: '{}' })
    assert.equal(
      headerOf(got.rawHeaders, 'x-goog-upload-url'),
      `${ACME}/upload/v1beta/files?upload_id=7`,
    )
  }
})

test("a built-in provider's rules apply to an added one at its host", async (t) => {
  const { fake, key, send } = await startAdded(t)
  const [any, scoped] = [await key(), await key({ models: ['anthropic.claude-*'] })]
  const minting = await send(any.secret, `${OPENAI}/v1/realtime/client_secrets`, { body: '{}' })
  assert.match(minting.body.toString(), /^\{"value":"tmk_/)
  const converse = (model: string) =>
    send(
      scoped.secret,
      `https://bedrock-runtime.eu-central-1.amazonaws.com/model/${model}/converse`,
      { body: '{}', headers: JSON_TYPE },
    )
  assert.equal((await converse('anthropic.claude-3')).status, 200)
  assert.equal((await converse('amazon.nova')).status, 403)
  assert.equal(fake.requests.length, 1)
})

test('minting and admin endpoints are refused at an added provider', async (t) => {
  const { fake, key, send } = await startAdded(t)
  const { secret } = await key({ objects: 'upstream' })
  for (const path of [
    '/v1/realtime/client-secrets',
    '/access-token',
    '/client/v4/user/tokens',
    '/v1/auth/grant',
    '/v1//Realtime/clientSecrets/',
    '/key/generate',
    '/v1/organization/users',
  ]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const got = await send(secret, `${ACME}${path}`, {
        method,
        ...(method === 'GET' ? {} : { body: '{}' }),
      })
      assert.deepEqual(
        [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
        [403, 'endpoint_not_allowed'],
        `${method} ${path}`,
      )
    }
  }
  assert.equal(fake.requests.length, 0)
})

test("a built-in provider's rules apply to an added region, with that region's kind of credential", async (t) => {
  const { fake, key, send } = await startAdded(t)
  const scoped = await key({ models: ['gemini-*', 'claude-*'] })
  const asked = async (address: string, body: string) => {
    const before = fake.requests.length
    const { status } = await send(scoped.secret, address, { body, headers: JSON_TYPE })
    return [status, fake.requests.length - before]
  }
  const given = (header: string) => headerOf(fake.requests.at(-1)!.rawHeaders, header)
  const vertex =
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models'
  assert.deepEqual(await asked(`${vertex}/gemini-x:generateContent`, '{}'), [200, 1])
  assert.equal(given('authorization'), 'Bearer the-added-secret')
  assert.deepEqual(await asked(`${vertex}/imagen:predict`, '{}'), [403, 0])
  const claude = 'https://aws-external-anthropic.us-east-1.api.aws/v1/messages'
  assert.deepEqual(await asked(claude, '{"model":"claude-x"}'), [200, 1])
  assert.equal(given('x-api-key'), 'the-added-secret')
  assert.deepEqual(await asked(claude, '{"model":"other"}'), [403, 0])
})

test("videos of an added provider are held to a key's models and belong to their creator", async (t) => {
  const { fake, key, send } = await startAdded(t)
  const [scoped, other] = [await key({ models: ['video-*'] }), await key()]
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const form = (model: string) =>
    `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`
  fake.play(respond(200, JSON_TYPE, '{"id":"video_1"}'))
  assert.equal(
    (await send(scoped.secret, `${ACME}/v1/videos?account=a`, { body: form('video-x'), headers }))
      .status,
    200,
  )
  assert.equal(
    (await send(scoped.secret, `${ACME}/v1/videos`, { body: form('other'), headers })).status,
    403,
  )
  fake.play(respond(200, JSON_TYPE, '{}'))
  for (const path of ['video_1?account=a', 'video_1/content']) {
    assert.equal(
      (await send(scoped.secret, `${ACME}/v1/videos/${path}`, { method: 'GET' })).status,
      200,
    )
    assert.equal(
      (await send(other.secret, `${ACME}/v1/videos/${path}`, { method: 'GET' })).status,
      403,
    )
  }
})
