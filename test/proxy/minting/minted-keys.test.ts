// Endpoints that hand out a provider's tokens give a child of the key that asks, in the
// provider's shape; the provider is never asked.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createGateway } from 'ai'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createXai } from '@ai-sdk/xai'
import { createProxyFetch } from '../../../packages/core/src/index.ts'
import { MAX_CHILDREN } from '../../../server/keys/children.ts'
import type { NewKey } from '../../../server/keys/key-record.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { manager, type Manager } from '../../support/manager.ts'
import type { ReceivedResponse } from '../support/relayed.ts'
import { GOOGLE, OPENAI, startServed, type Served } from '../support/served.ts'

const XAI = 'https://api.x.ai'
const DEEPGRAM = 'https://api.deepgram.com'
const CARTESIA = 'https://api.cartesia.ai'
const ELEVENLABS = 'https://api.elevenlabs.io'
const GATEWAY = 'https://ai-gateway.vercel.sh'
const JSON_TYPE = { 'content-type': 'application/json' }

let served: Served & Manager
const ends: (() => unknown)[] = []

before(async () => {
  const one = await startServed(
    { after: (end) => ends.push(end) },
    respond(200, JSON_TYPE, '{"usage":{"prompt_tokens":1}}'),
    (origin) => ({
      XAI_API_KEY: 'xai-upstream',
      TOLLMARK_UPSTREAM_XAI: origin,
      DEEPGRAM_API_KEY: 'dg-upstream',
      TOLLMARK_UPSTREAM_DEEPGRAM: origin,
      CARTESIA_API_KEY: 'cartesia-upstream',
      TOLLMARK_UPSTREAM_CARTESIA: origin,
      ELEVENLABS_API_KEY: 'elevenlabs-upstream',
      TOLLMARK_UPSTREAM_ELEVENLABS: origin,
      AI_GATEWAY_API_KEY: 'gw-upstream',
      TOLLMARK_UPSTREAM_GATEWAY: origin,
    }),
  )
  served = { ...one, ...(await manager(one)) }
})

after(async () => {
  for (const end of ends.reverse()) await end()
})

beforeEach(() => void served.fake.requests.splice(0))

type Json = Record<string, unknown>

const ask = (secret: string, address: string, body: Json | string): Promise<ReceivedResponse> =>
  served.send(secret, address, {
    headers: JSON_TYPE,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const jsonOf = ({ body }: ReceivedResponse): Json => JSON.parse(body.toString()) as Json

async function assertRefused(
  asked: Promise<ReceivedResponse>,
  status: number,
  code: string,
): Promise<void> {
  const refused = await asked
  assert.deepEqual(
    [refused.status, headerOf(refused.rawHeaders, 'x-proxy-error')],
    [status, code],
    refused.body.toString(),
  )
  assert.ok(!refused.body.includes('tmk_'))
}

const chat = async (secret: string, model: string, at = OPENAI): Promise<number> =>
  (await ask(secret, `${at}/v1/chat/completions`, { model })).status

const AT = /^tmk_/
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds
/** The end that a request names: other files' tests may run between now and then (milliseconds). */
const AT_THIS_TIME = Date.now() + 1_200_000
const isNear = (one: unknown, other: number): boolean => Math.abs(Number(one) - other) <= 30

/** TABLE of what is asked for, and what a response must be. */
const SHAPES: [
  address: string,
  body: Json,
  end: () => number,
  read: (response: Json) => { token: unknown; end: unknown },
][] = [
  [
    `${OPENAI}/v1/realtime/client_secrets`,
    {
      expires_after: { anchor: 'created_at', seconds: 900 },
      session: { type: 'realtime', model: 'gpt-realtime', instructions: 'Be kind.' },
    },
    () => inSeconds(900),
    ({ value, expires_at }) => ({ token: value, end: expires_at }),
  ],
  [
    `${OPENAI}/v1/realtime/client_secrets`,
    {
      session: {
        type: 'transcription',
        audio: { input: { transcription: { model: 'gpt-realtime' } } },
      },
    },
    () => inSeconds(600),
    ({ value, expires_at }) => ({ token: value, end: expires_at }),
  ],
  [
    `${OPENAI}/v1/realtime/sessions`,
    { model: 'gpt-realtime', modalities: ['text'] },
    () => inSeconds(600),
    ({ client_secret }) => ({
      token: (client_secret as Json)['value'],
      end: (client_secret as Json)['expires_at'],
    }),
  ],
  [
    `${OPENAI}/v1/realtime/transcription_sessions`,
    { input_audio_transcription: { model: 'gpt-realtime' } },
    () => inSeconds(600),
    ({ client_secret }) => ({
      token: (client_secret as Json)['value'],
      end: (client_secret as Json)['expires_at'],
    }),
  ],
  [
    `${XAI}/v1/realtime/client_secrets`,
    { expires_after: { seconds: 300 }, session: { model: 'gpt-realtime' } },
    () => inSeconds(300),
    ({ value, expires_at }) => ({ token: value, end: expires_at }),
  ],
  [
    `${GOOGLE}/v1alpha/auth_tokens`,
    {
      uses: 0,
      expireTime: new Date(AT_THIS_TIME).toISOString(),
      bidiGenerateContentSetup: { model: 'models/gpt-realtime' },
    },
    () => AT_THIS_TIME / 1000,
    ({ name, expireTime }) => ({ token: name, end: Date.parse(String(expireTime)) / 1000 }),
  ],
  [
    `${GATEWAY}/v1/realtime/client-secrets`,
    { model: 'gpt-realtime', expiresIn: 120 },
    () => inSeconds(120),
    ({ token, expiresAt }) => ({ token, end: expiresAt }),
  ],
]

for (const [address, body, expectedEnd, read] of SHAPES)
  test(`${address} gives a child key for the named models: ${JSON.stringify(body).slice(0, 60)}`, async () => {
    const parent = await served.key({ models: ['gpt-*'], rpm: 1000 })
    const response = await ask(parent.secret, address, body)
    assert.equal(response.status, 200, response.body.toString())
    assert.equal(headerOf(response.rawHeaders, 'cache-control'), 'no-store')
    const { token, end } = read(jsonOf(response))
    assert.match(String(token), AT)
    assert.ok(isNear(end, expectedEnd()), String(end))
    assert.equal(served.fake.requests.length, 0)
    const [child] = (await served.api('GET', `keys?parent_id=${parent.id}`)).json<{
      data: NewKey[]
    }>().data
    assert.deepEqual(
      child?.models?.map((name) => name.replace('models/', '')),
      ['gpt-realtime'],
    )
    assert.equal(child?.providers?.length, 1)
    const isOpenAi = address.startsWith(OPENAI)
    assert.equal(await chat(String(token), 'gpt-realtime'), isOpenAi ? 200 : 403)
    assert.equal(await chat(String(token), 'gpt-5'), 403)
  })

test("Deepgram’s grant names no model: the child has its parent's models, at Deepgram only", async () => {
  const parent = await served.key()
  const response = jsonOf(
    await ask(parent.secret, `${DEEPGRAM}/v1/auth/grant`, { ttl_seconds: 60 }),
  )
  assert.match(String(response['access_token']), AT)
  assert.equal(response['expires_in'], 60)
  const token = String(response['access_token'])
  assert.equal((await ask(token, `${DEEPGRAM}/v1/listen?model=nova-3`, {})).status, 200)
  assert.equal(await chat(token, 'gpt-5'), 403)
})

/** TABLE: the key's models, what is asked for, and the models of the child. */
const FAMILIES: [models: string[] | null, address: string, body: Json, of: string[]][] = [
  [null, `${CARTESIA}/access-token`, { grants: { tts: true }, expires_in: 60 }, ['sonic*']],
  [null, `${CARTESIA}/access-token`, { grants: { tts: true, stt: true } }, ['sonic*', 'ink*']],
  [['sonic-*', 'ink-whisper'], `${CARTESIA}/access-token`, { grants: { tts: true } }, ['sonic-*']],
  [['*'], `${CARTESIA}/access-token`, { grants: { stt: true } }, ['ink*']],
  [null, `${ELEVENLABS}/v1/single-use-token/tts_websocket`, {}, ['eleven_*']],
  [
    ['eleven_v3', 'scribe_*', 'gpt-*'],
    `${ELEVENLABS}/v1/single-use-token/realtime_scribe`,
    {},
    ['scribe_*'],
  ],
  [
    ['scribe_v2*', 'scribe_v1', '*_v1'],
    `${ELEVENLABS}/v1/single-use-token/batch_scribe`,
    {},
    ['scribe_v2*', 'scribe_v1'],
  ],
]

for (const [models, address, body, of] of FAMILIES)
  test(`${address} of a key for ${models?.join(', ') ?? 'all models'} is for ${of.join(', ')}: ${JSON.stringify(body)}`, async () => {
    const parent = await served.key({ models })
    const response = await ask(parent.secret, address, body)
    assert.equal(response.status, 200, response.body.toString())
    assert.deepEqual(Object.keys(jsonOf(response)), ['token'])
    const [child] = (await served.api('GET', `keys?parent_id=${parent.id}`)).json<{
      data: NewKey[]
    }>().data
    assert.deepEqual(child?.models, of)
    const seconds = body['expires_in'] ?? (address.startsWith(CARTESIA) ? 600 : 900)
    assert.ok(isNear(Date.parse(String(child?.expires_at)) / 1000, inSeconds(Number(seconds))))
    assert.equal(served.fake.requests.length, 0)
    const secret = String(jsonOf(response)['token'])
    const path = address.startsWith(CARTESIA)
      ? '/tts/bytes'
      : '/v1/text-to-speech/pNInz6obpgDQGcFmaJgB'
    const speak = (model_id: string) =>
      ask(secret, `${new URL(address).origin}${path}`, { model_id })
    const speaks = of.some((one) => /^(?:sonic|eleven)/.test(one))
    const model = address.startsWith(CARTESIA) ? 'sonic-3' : 'eleven_v3'
    assert.equal((await speak(model)).status, speaks ? 200 : 403)
    assert.equal(await chat(secret, 'gpt-5'), 403)
    assert.ok(
      !JSON.stringify(served.fake.requests.map(({ rawHeaders }) => rawHeaders)).includes('tmk_'),
    )
  })

test('getToken() of the AI SDK’s packages returns a child key', async () => {
  const parent = await served.key({ models: ['voice-*'] })
  const fetch = createProxyFetch({ proxyUrl: served.running.url, apiKey: parent.secret })
  const options = { apiKey: 'proxy-managed', fetch }
  const wanted = { model: 'voice-1', expiresAfterSeconds: 300 }
  const sessionConfig = { instructions: 'Be kind.', voice: 'alloy' }
  const tokens = {
    openai: await createOpenAI(options).experimental_realtime.getToken({
      ...wanted,
      sessionConfig,
    }),
    google: await createGoogle(options).experimental_realtime.getToken({
      ...wanted,
      sessionConfig,
    }),
    xai: await createXai(options).experimental_realtime.getToken(wanted),
    gateway: await createGateway(options).experimental_realtime.getToken(wanted),
  }
  // A session of Google's may last half an hour more.
  const seconds = { openai: 300, google: 300 + 1_800, xai: 300, gateway: 300 }
  for (const name of ['openai', 'google', 'xai', 'gateway'] as const) {
    assert.match(tokens[name].token, AT, name)
    assert.ok(isNear(tokens[name].expiresAt, inSeconds(seconds[name])), name)
  }
  assert.equal(served.fake.requests.length, 0)
})

/** TABLE of what is refused: the address, the body, the status and the code. */
const REFUSED: [address: string, body: Json | string, status: number, code: string][] = [
  [`${OPENAI}/v1/realtime/client_secrets`, { session: { model: 'o3' } }, 403, 'model_not_allowed'],
  [`${OPENAI}/v1/realtime/client_secrets`, { session: { model: '*' } }, 403, 'model_not_allowed'],
  [
    `${OPENAI}/v1/realtime/client_secrets`,
    { session: { model: 'gpt-*' } },
    403,
    'model_not_allowed',
  ],
  [
    `${OPENAI}/v1/realtime/client_secrets`,
    {
      session: {
        model: 'gpt-realtime',
        audio: { input: { transcription: { model: 'whisper-1' } } },
      },
    },
    403,
    'model_not_allowed',
  ],
  [`${OPENAI}/v1/realtime/client_secrets`, { session: { model: 5 } }, 400, 'malformed_request'],
  [
    `${OPENAI}/v1/realtime/client_secrets`,
    { expires_after: { seconds: 9 } },
    400,
    'malformed_request',
  ],
  [
    `${OPENAI}/v1/realtime/client_secrets`,
    { expires_after: { seconds: 7_201 } },
    400,
    'malformed_request',
  ],
  [`${OPENAI}/v1/realtime/client_secrets`, '[]', 400, 'malformed_request'],
  [`${OPENAI}/v1/realtime/client_secrets`, '{"session":', 400, 'malformed_request'],
  [`${OPENAI}/v1/realtime/client_secrets`, ' '.repeat(70_000), 413, 'body_too_large'],
  [`${OPENAI}/v1/realtime/client_secrets/`, {}, 403, 'endpoint_not_allowed'],
  [`${OPENAI}/v1/realtime/calls`, {}, 403, 'endpoint_not_allowed'],
  [`${OPENAI}/v1/realtime/translations/client_secrets`, {}, 403, 'endpoint_not_allowed'],
  [`${GOOGLE}/v1alpha/auth_tokens`, {}, 403, 'endpoint_not_allowed'],
  [`${GOOGLE}/v1alpha/auth_tokens`, { uses: 1 }, 403, 'endpoint_not_allowed'],
  [
    `${GOOGLE}/v1alpha/auth_tokens`,
    { uses: 0, expireTime: '2020-01-01T00:00:00Z' },
    400,
    'malformed_request',
  ],
  [`${GATEWAY}/v1/realtime/client-secrets`, { model: 'o3' }, 403, 'model_not_allowed'],
  [`${CARTESIA}/access-token`, { grants: { tts: true } }, 403, 'model_not_allowed'],
  [`${CARTESIA}/access-token`, { grants: { agent: true } }, 403, 'endpoint_not_allowed'],
  [`${CARTESIA}/access-token`, { grants: {} }, 400, 'malformed_request'],
  [`${CARTESIA}/access-token`, {}, 400, 'malformed_request'],
  [
    `${CARTESIA}/access-token`,
    { grants: { tts: true }, expires_in: 3_601 },
    400,
    'malformed_request',
  ],
  [`${ELEVENLABS}/v1/single-use-token/tts_websocket`, {}, 403, 'model_not_allowed'],
  [`${ELEVENLABS}/v1/single-use-token/convai`, {}, 403, 'endpoint_not_allowed'],
]

test('a request outside the key’s scope, or of an unsupported kind, gets no key', async () => {
  const parent = await served.key({ models: ['gpt-*'] })
  for (const [address, body, status, code] of REFUSED)
    await assertRefused(ask(parent.secret, address, body), status, code)
  assert.equal(served.fake.requests.length, 0)
  const { data } = (await served.api('GET', `keys?parent_id=${parent.id}`)).json<{ data: [] }>()
  assert.deepEqual(data, [])
})

test('a child key, an expired key and a key for other providers cannot mint', async () => {
  const parent = await served.key()
  const address = `${OPENAI}/v1/realtime/client_secrets`
  const child = String(jsonOf(await ask(parent.secret, address, {}))['value'])
  await assertRefused(ask(child, address, {}), 403, 'endpoint_not_allowed')
  const other = await served.key({ providers: ['google'] })
  await assertRefused(ask(other.secret, address, {}), 403, 'upstream_not_allowed')
  await served.api('DELETE', `keys/${parent.id}`)
  await assertRefused(ask(parent.secret, address, {}), 401, 'invalid_api_key')
  assert.equal(await chat(child, 'gpt-5'), 401)
})

test('a child key minted with an old secret ends with it', async () => {
  const parent = await served.key()
  const address = `${OPENAI}/v1/realtime/client_secrets`
  const path = `keys/${parent.id}`
  const rotated = (
    await served.api('POST', `${path}/rotate`, { grace_seconds: 100 })
  ).json<NewKey>()
  const mint = async (secret: string) => String(jsonOf(await ask(secret, address, {}))['value'])
  const [old, current] = [await mint(parent.secret), await mint(rotated.secret)]
  assert.deepEqual([await chat(old, 'gpt-5'), await chat(current, 'gpt-5')], [200, 200])
  await served.api('POST', `${path}/rotate/end`)
  assert.deepEqual([await chat(old, 'gpt-5'), await chat(current, 'gpt-5')], [401, 200])
})

test('minting does not count towards the limit, and a full window mints nothing', async () => {
  const parent = await served.key({ rpm: 1 })
  const address = `${OPENAI}/v1/realtime/client_secrets`
  const tokens = []
  for (let i = 0; i < 3; i++)
    tokens.push(String(jsonOf(await ask(parent.secret, address, {}))['value']))
  assert.equal(await chat(tokens[0]!, 'gpt-5'), 200)
  assert.equal(await chat(tokens[1]!, 'gpt-5'), 429)
  await assertRefused(ask(parent.secret, address, {}), 429, 'rate_limit_exceeded')
})

test('many concurrent visitors get a key each', async () => {
  const parent = await served.key()
  const tokens = await Promise.all(
    Array.from({ length: 60 }, async () =>
      String(jsonOf(await ask(parent.secret, `${OPENAI}/v1/realtime/client_secrets`, {}))['value']),
    ),
  )
  assert.equal(new Set(tokens).size, 60)
  assert.equal(await chat(tokens[59]!, 'gpt-5'), 200)
})

test('the number of child keys of a key is bounded', async () => {
  const parent = await served.key()
  const { store } = served.running
  const address = `${OPENAI}/v1/realtime/client_secrets`
  assert.equal((await ask(parent.secret, address, {})).status, 200)
  const row = await store.db
    .selectFrom('keys')
    .selectAll()
    .where('parent_id', '=', parent.id)
    .executeTakeFirstOrThrow()
  for (let from = 1; from < MAX_CHILDREN; from += 37)
    await store.write(
      store.db.insertInto('keys').values(
        Array.from({ length: Math.min(37, MAX_CHILDREN - from) }, (_, i) => ({
          ...row,
          id: `key_minted${from + i}`,
          revision: row.revision + from + i,
        })),
      ),
    )
  await assertRefused(ask(parent.secret, address, {}), 429, 'rate_limit_exceeded')
})
