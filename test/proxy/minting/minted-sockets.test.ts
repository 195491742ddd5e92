// A page's socket with a key that the AI SDK was given in place of a provider's token.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createProxyFetch } from '../../../packages/core/src/index.ts'
import { revokeKey, updateKey } from '../../../server/keys/keys.ts'
import { connectSocket, refusedHandshake, rowsOf, startSockets } from '../socket/support.ts'
import { OPENAI } from '../support/served.ts'
import { until } from '../../support/until.ts'

let responses = 0
const served = await startSockets(
  { after },
  {
    message: (call, event) => {
      if (event['type'] !== 'response.create') return
      const id = `resp_${++responses}`
      call.send({ type: 'response.created', response: { id } })
      call.send({ type: 'response.done', response: { id, usage: { total_tokens: 1 } } })
    },
  },
  ['OPENAI', 'CARTESIA', 'ELEVENLABS'],
  { CARTESIA_API_KEY: 'cartesia-upstream', ELEVENLABS_API_KEY: 'elevenlabs-upstream' },
)

/** A key, a token that `getToken()` gave for it, and how a page opens a socket with that. */
async function minted(wishes = {}) {
  const parent = await served.key(wishes)
  const fetch = createProxyFetch({ proxyUrl: served.running.url, apiKey: parent.secret })
  const { token, url } = await createOpenAI({
    apiKey: 'proxy-managed',
    fetch,
  }).experimental_realtime.getToken({ model: 'gpt-realtime', expiresAfterSeconds: 600 })
  const protocols = ['realtime', `openai-insecure-api-key.${token}`]
  return { parent, protocols, address: url.replace('wss:', 'https:') }
}

test("a minted key's socket counts under its parent and ends with it", async () => {
  const { parent, protocols, address } = await minted({ models: ['gpt-realtime*'] })
  const client = connectSocket(served.port, address, protocols)
  await client.opened
  assert.equal(client.socket.protocol, 'realtime')
  client.send({ type: 'response.create' })
  await until(() => client.events('response.done').length === 1)
  const [call] = served.provider.calls
  assert.ok(!JSON.stringify(call!.request.rawHeaders).includes('tmk_'))
  await revokeKey(served.running.store, parent.id, null, Date.now())
  await client.closed
  // The response, and the one that was reserved ahead.
  const rows = await rowsOf(served, parent.id, 2)
  assert.ok(rows.every(({ child_id }) => child_id !== null))
})

test("a minted key opens only its own model, within its parent's scope", async () => {
  const { parent, protocols, address } = await minted()
  const refused = (at: string) => refusedHandshake(connectSocket(served.port, at, protocols))
  assert.equal((await refused(`${OPENAI}/v1/realtime?model=gpt-other`)).status, 403)
  await served.running.store.run(updateKey, {
    id: parent.id,
    change: { models: '["gpt-other"]' },
  })
  await served.running.keys?.refresh()
  assert.equal((await refused(address)).status, 403)
})

test('responses of a minted key’s socket count under its parent', async () => {
  const { parent, protocols, address } = await minted({ rpm: 3 })
  const client = connectSocket(served.port, address, protocols)
  await client.opened
  for (let i = 0; i < 5; i++) client.send({ type: 'response.create' })
  await client.closed
  const rows = await rowsOf(served, parent.id, 3)
  assert.equal(rows.filter(({ rpm }) => rpm === 3).length, 3)
})

/**
 * TABLE: what is asked for, and with the token in the query a socket that opens and one that does
 * not.
 */
const BY_QUERY: [mint: string, body: object, opens: string, refused: string][] = [
  [
    'https://api.cartesia.ai/access-token',
    { grants: { stt: true } },
    'https://api.cartesia.ai/stt/websocket?model=ink-whisper&access_token=',
    'https://api.cartesia.ai/stt/websocket?model=sonic-3&access_token=',
  ],
  [
    'https://api.elevenlabs.io/v1/single-use-token/realtime_scribe',
    {},
    'https://api.elevenlabs.io/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&token=',
    'https://api.elevenlabs.io/v1/text-to-speech/pNInz6obpgDQGcFmaJgB/stream-input?model_id=eleven_v3&single_use_token=',
  ],
]

for (const [mint, body, opens, refused] of BY_QUERY)
  test(`a page opens a socket with a token of ${mint}, of its kind only`, async () => {
    const parent = await served.key()
    const { body: response } = await served.send(parent.secret, mint, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { token } = JSON.parse(response.toString()) as { token: string }
    const client = connectSocket(served.port, opens + token)
    await client.opened
    const { request } = served.provider.calls.at(-1)!
    assert.ok(!`${request.url}${JSON.stringify(request.rawHeaders)}`.includes('tmk_'))
    client.socket.close()
    assert.equal((await refusedHandshake(connectSocket(served.port, refused + token))).status, 403)
  })
