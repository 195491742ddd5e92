// Every endpoint that the AI SDK's packages call, through the whole server: for a key for all
// models, for keys with models, and what is stored for its maker only.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { PROVIDER_CREDENTIALS } from '../../../server/config/provider-credentials.ts'
import { upstreamVariable } from '../../../server/config/areas/providers.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import type { Ends } from '../../support/temporary.ts'
import { startServed, type Served } from '../support/served.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { ATTACKS, type AttackingKey } from './attacked-endpoints.ts'
import { MADE_OBJECTS } from './made-objects.ts'
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
  served = await startServed(t as Ends, respond(200, JSON_TYPE, '{}'), settings)
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

test("a file host gets neither our credential nor the caller's", async () => {
  for (const endpoint of SDK_ENDPOINTS.filter(({ class: kind }) => kind === 'public')) {
    await ask(endpoint, {})
    const { rawHeaders } = served.fake.requests.at(-1)!
    const isOfProvider = ['luma', 'gateway'].includes(endpoint.package)
    assert.equal(rawHeaders.join('\n').includes('secret-of-'), isOfProvider, endpoint.on)
    assert.ok(!rawHeaders.join('\n').includes('tmk_'))
  }
})

test('the tables list at least 187 endpoints and sockets', () => {
  assert.ok(SDK_ENDPOINTS.length + SDK_SOCKETS.length >= 187)
})

test('an object named by an address, a number, a list or a header belongs to its creator', async () => {
  const [maker, other] = [await served.key(), await served.key()]
  const status = async ({ secret }: { secret: string }, asked: Asked): Promise<number> => {
    const { at, ...sent } = requestOf(asked)
    return (await served.send(secret, at, sent)).status
  }
  for (const { makes, response = {}, headers = {}, names, nobodys = [] } of MADE_OBJECTS) {
    const text = typeof response === 'string' ? response : JSON.stringify(response)
    served.fake.play(respond(200, { ...JSON_TYPE, ...headers }, text))
    assert.equal(await status(maker, makes), 200, makes.on)
    served.fake.play(respond(200, JSON_TYPE, '{}'))
    for (const asked of names)
      assert.deepEqual(
        [await status(maker, asked), await status(other, asked)],
        [200, 403],
        `${asked.on} ${JSON.stringify(asked.body)}`,
      )
    for (const asked of nobodys) assert.equal(await status(maker, asked), 403, asked.on)
  }
})

/** TABLE of providers that try other models, and how a request says which. */
const FALLBACKS: Readonly<Record<string, readonly object[]>> = {
  gateway: [
    { providerOptions: { gateway: { models: ['model-2'] } } },
    { providerOptions: { gateway: { models: [{ model: 'model-2' }] } } },
    { models: ['model-2'] },
    { fallbacks: ['model-2'] },
    { fallbacks: [{ model: 'model-2' }] },
  ],
  openrouter: [
    { models: ['model-2'] },
    { fallbacks: [{ model: 'model-2' }] },
    { preset: 'p' },
    { plugins: [{ id: 'fusion', model: 'model-2' }] },
  ],
  perplexity: [{ models: ['model-2'] }],
}

test('every endpoint of a provider that tries other models refuses a model that the key may not use', async () => {
  const { secret } = await served.key({ objects: 'upstream', models: ['model-1'] })
  let tried = 0
  for (const [id, fallbacks] of Object.entries(FALLBACKS)) {
    const { endpoints, hosts } = PROVIDERS.find((row) => row.id === id)!
    for (const { on, model } of endpoints) {
      if (!on.startsWith('POST ') || model === undefined || !('body' in model)) continue
      const isForm = model.body.multipart === true
      const named = { model: 'model-1', model_id: 'model-1', input: 'x' }
      const status = async (more: object): Promise<number> => {
        const { at, ...sent } = requestOf({
          on: `POST ${hosts[0]}${on.slice('POST '.length).replaceAll(/\{\w+\W?\}/g, 'x')}`,
          ...(isForm
            ? { form: { model: 'model-1', ...asFields(more) } }
            : { body: { ...named, ...more } }),
          headers: { 'ai-model-id': 'model-1' },
        })
        return (await served.send(secret, at, sent)).status
      }
      if ((await status({})) !== 200) continue
      for (const fallback of fallbacks)
        assert.equal(await status(fallback), 403, `${id} ${on} ${JSON.stringify(fallback)}`)
      tried++
    }
  }
  assert.ok(tried >= 55, `${tried}`)
})

/** As a form has them: what is no text is JSON. */
const asFields = (more: object): Record<string, string> =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [name, JSON.stringify(value)]))
