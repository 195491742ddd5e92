// The sockets of the client package, with the platform's constructor and with that of `ws`: the AI
// SDK's live transcription, and a key that comes later.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createProxyWebSocket, PROXY_MANAGED, type ProxyWebSocketConfig } from '@proxy-sdk/core'
import { experimental_streamTranscribe as streamTranscribe } from 'ai'
import { WebSocket as WsWebSocket } from 'ws'
import { OPENAI, SECRETS } from '../support/served.ts'
import { startSockets, type Behaviour } from './support.ts'

/** Says how much audio has come, once it is complete. */
const TRANSCRIBES: Behaviour = {
  message: (call, event) => {
    if (event['type'] !== 'input_audio_buffer.commit') return
    const pieces = call.messages.filter((text) => text.includes('buffer.append')).length
    call.send({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'item_1',
      transcript: `${pieces} pieces`,
    })
  },
}

const served = await startSockets({ after })

/** TABLE of constructors; undefined: the platform's. */
const CONSTRUCTORS: [name: string, webSocket: ProxyWebSocketConfig['webSocket']][] = [
  ['the platform’s', undefined],
  ['that of ws', WsWebSocket],
]

for (const [name, webSocket] of CONSTRUCTORS)
  test(`the AI SDK transcribes live (${name})`, async () => {
    served.provider.behaviour = TRANSCRIBES
    served.provider.calls.length = 0
    const { secret } = await served.key({ models: ['gpt-realtime-whisper'] })
    const openai = createOpenAI({
      apiKey: PROXY_MANAGED,
      webSocket: createProxyWebSocket({
        proxyUrl: `http://127.0.0.1:${served.port}`,
        apiKey: async () => secret,
        webSocket,
      }),
    })
    const { text } = streamTranscribe({
      model: openai.transcription('gpt-realtime-whisper'),
      audio: new ReadableStream({
        start(controller) {
          for (const piece of ['one', 'two', 'three']) controller.enqueue(Buffer.from(piece))
          controller.close()
        },
      }),
      inputAudioFormat: { type: 'audio/pcm', rate: 24_000 },
    })
    assert.equal(await text, '3 pieces')
    const { headers, url } = served.provider.calls[0]!.request
    assert.equal(url, '/v1/realtime?intent=transcription')
    assert.equal(headers.authorization, `Bearer ${SECRETS.OPENAI_API_KEY}`)
    assert.equal(headers['sec-websocket-protocol'], 'realtime')
  })

test('messages, a refusal and the close pass as the provider sent them', async () => {
  served.provider.behaviour = {
    opened: (call) => call.socket.send(Buffer.from([1, 2, 3])),
    message: (call) => call.socket.close(4001, 'enough'),
  }
  const { secret } = await served.key()
  const Proxied = createProxyWebSocket({
    proxyUrl: `http://127.0.0.1:${served.port}`,
    apiKey: secret,
  })
  const socket = new Proxied(`${OPENAI.replace('https', 'wss')}/v1/realtime?model=gpt-realtime`)
  socket.binaryType = 'arraybuffer'
  const told = Promise.withResolvers<ArrayBuffer>()
  const closed = Promise.withResolvers<CloseEvent>()
  socket.addEventListener('message', ({ data }: { data: ArrayBuffer }) => told.resolve(data))
  socket.addEventListener('close', (event: CloseEvent) => closed.resolve(event))
  assert.deepEqual([...new Uint8Array(await told.promise)], [1, 2, 3])
  socket.send('{"type":"session.update","session":{}}')
  const { code, reason } = await closed.promise
  assert.deepEqual([code, reason], [4001, 'enough'])

  const refused = new Proxied('wss://unknown.test/v1/realtime')
  const failed = Promise.withResolvers<void>()
  refused.addEventListener('error', () => failed.resolve())
  await failed.promise
  assert.equal(refused.readyState, refused.CLOSED)
})
