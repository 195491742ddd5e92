// Every endpoint that the AI SDK's packages call, through the whole server: for a key for all models, for
// keys with models, and what is stored for its maker only.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { PROVIDER_CREDENTIALS } from '../../../server/config/provider-credentials.ts'
import { upstreamVariable } from '../../../server/config/areas/providers.ts'
import { answer, headerOf } from '../../support/providers/fake.ts'
import type { Ends } from '../../support/temporary.ts'
import { startServed, type Served } from '../support/served.ts'
import { ATTACKS, type AttackingKey } from './attacked-endpoints.ts'
import { SDK_ENDPOINTS, SDK_SOCKETS, type SdkEndpoint } from './sdk-endpoints.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

const settings = (origin: string): Record<string, string> => ({
  AZURE_RESOURCE_NAME: 'acme',
  AWS_REGION: 'us-east-1',
  ...Object.fromEntries(
    Object.entries(PROVIDER_CREDENTIALS).flatMap(([id, variable]) => [
      [upstreamVariable(id), origin],
      [variable, `secret-of-${id}`],
    ]),
  ),
})

let served: Served
before(async (t) => {
  served = await startServed(t as Ends, answer(200, JSON_TYPE, '{}'), settings)
})

type Asked = Omit<SdkEndpoint, 'package' | 'class'>

/** A request as the package sends it. */
function requestOf({ on, body, form, headers = {} }: Asked) {
  const [method = '', address = ''] = on.split(' ')
  const at = `https://${address}`
  if (form !== undefined) {
    const parts = Object.entries(form).map(
      ([name, value]) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    const file =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n'
    return {
      method,
      at,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', ...headers },
      body: `${parts.join('')}${file}--b--\r\n`,
    }
  }
  if (typeof body === 'string')
    return { method, at, headers: { 'Content-Type': 'application/octet-stream', ...headers }, body }
  return body === undefined
    ? { method, at, headers }
    : { method, at, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
}

/** The status, and whether the upstream has seen the request. */
async function ask(endpoint: Asked, wishes: Parameters<Served['key']>[0]) {
  const { secret } = await served.key(wishes)
  const { at, ...sent } = requestOf(endpoint)
  const seen = served.fake.requests.length
  const got = await served.send(secret, at, sent)
  const reached = served.fake.requests.length - seen
  const error = headerOf(got.rawHeaders, 'x-proxy-error')
  return { status: got.status, reached, error, body: got.body.toString() }
}

const passes = async (endpoint: SdkEndpoint, wishes: Parameters<Served['key']>[0]) => {
  const { status, reached, error } = await ask(endpoint, wishes)
  assert.deepEqual({ status, reached, error }, { status: 200, reached: 1, error: null })
}
const refused = async (endpoint: Asked, wishes: Parameters<Served['key']>[0]) => {
  const { status, reached } = await ask(endpoint, wishes)
  assert.deepEqual([status, reached], [403, 0])
}

/** Refused, or answered by us with a key of ours. */
async function mintsNothingElse(endpoint: SdkEndpoint, wishes: Parameters<Served['key']>[0]) {
  const { status, reached, body } = await ask(endpoint, wishes)
  assert.equal(reached, 0)
  if (status === 200) assert.match(body, /"(?:value|token|access_token)":"tmk_/)
  else assert.equal(status, 403)
}

/** TABLE of what the keys have that try to get past the rows. */
const ATTACKING: Readonly<Record<AttackingKey, Parameters<Served['key']>[0]>> = {
  scoped: { objects: 'upstream', models: ['model-1'] },
  own: { objects: 'own' },
  open: { objects: 'upstream' },
}

for (const { by, ...attack } of ATTACKS)
  test(`${by}: ${attack.on} ${JSON.stringify(attack.body ?? '')}`, () =>
    refused(attack, ATTACKING[by]))

for (const endpoint of SDK_ENDPOINTS) {
  const { class: kind, model } = endpoint
  test(`${endpoint.package}: ${endpoint.on} (${kind})`, async () => {
    if (kind === 'minting') return mintsNothingElse(endpoint, { models: ['*'] })
    if (kind === 'admin') {
      await refused(endpoint, { objects: 'upstream' })
      await refused(endpoint, { objects: 'upstream', models: ['*'] })
      return
    }
    await passes(endpoint, { objects: 'upstream' })
    if (kind === 'stored') return refused(endpoint, { objects: 'upstream', models: ['*'] })
    await passes(endpoint, { objects: 'upstream', models: [model ?? 'any'] })
    await passes(endpoint, { objects: 'upstream', models: ['*'] })
    if (model !== undefined)
      await refused(endpoint, { objects: 'upstream', models: ['something-else'] })
    if (kind === 'object') await refused(endpoint, { objects: 'own' })
    else await passes(endpoint, { objects: 'own' })
  })
}

test('a host that serves files gets no credential, and none of the caller', async () => {
  for (const endpoint of SDK_ENDPOINTS.filter(({ class: kind }) => kind === 'public')) {
    await ask(endpoint, {})
    const { rawHeaders } = served.fake.requests.at(-1)!
    const isOfProvider = endpoint.package === 'luma'
    assert.equal(rawHeaders.join('\n').includes('secret-of-'), isOfProvider, endpoint.on)
    assert.ok(!rawHeaders.join('\n').includes('tmk_'))
  }
})

test('all 187 are there', () => {
  assert.ok(SDK_ENDPOINTS.length + SDK_SOCKETS.length >= 187)
})

const CDN = 'https://cdn.assemblyai.com/upload/0c7a7d5e-2a43-4e19-9a0c-6f2f6f0c8b11'

/** TABLE of uploads, what they are answered, and what then names them. */
const UPLOADED: readonly (readonly [upload: string, answered: object, names: Asked])[] = [
  [
    'POST api.assemblyai.com/v2/upload',
    { upload_url: CDN },
    {
      on: 'POST api.assemblyai.com/v2/transcript',
      body: { audio_url: CDN, speech_model: 'universal' },
    },
  ],
  [
    'POST api.minimax.io/v1/files/upload',
    { file: { file_id: 123_456_789 } },
    { on: 'POST api.minimax.io/v1/files/delete', body: { file_id: 123_456_789 } },
  ],
  [
    'POST api.replicate.com/v1/files',
    { id: 'abc123def456ghi789jkl012mn' },
    {
      on: 'POST api.replicate.com/v1/predictions',
      body: {
        version: 'acme/model:0123456789abcdef',
        input: { image: 'https://api.replicate.com/v1/files/abc123def456ghi789jkl012mn' },
      },
    },
  ],
]

test("an upload that a body names by its address or a number is its maker's", async () => {
  const [maker, other] = [await served.key(), await served.key()]
  const status = async ({ secret }: { secret: string }, asked: Asked): Promise<number> => {
    const { at, ...sent } = requestOf(asked)
    return (await served.send(secret, at, sent)).status
  }
  for (const [upload, answered, names] of UPLOADED) {
    served.fake.play(answer(200, JSON_TYPE, JSON.stringify(answered)))
    assert.equal(await status(maker, { on: upload, form: {} }), 200, upload)
    served.fake.play(answer(200, JSON_TYPE, '{}'))
    assert.deepEqual([await status(maker, names), await status(other, names)], [200, 403], names.on)
  }
})
