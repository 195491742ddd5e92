// The providers' own clients by a base URL alone: OpenAI's with both of its transports, and
// Gemini's. OpenAI's asks for TLS whatever its base URL says.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createServer } from 'node:tls'
import { GoogleGenAI, Modality } from '@google/genai'
import OpenAI from 'openai'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { WebSocket as WsWebSocket } from 'ws'
import { certificateOf } from '../../support/providers/certificate.ts'
import { rowsOf, startSockets, type Behaviour } from './support.ts'

const served = await startSockets({ after }, {}, ['OPENAI', 'GOOGLE'])

/** What terminates TLS before a server. */
const front = createServer(certificateOf({ after }, 'localhost'), (caller) => {
  const server = connect(served.port, '127.0.0.1')
  caller.pipe(server).pipe(caller)
  caller.on('error', () => server.destroy())
  server.on('error', () => caller.destroy())
})
before(async () => {
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
})
after(() => front.close())

/** A socket that does not ask who signed the certificate. */
class Trusting extends WsWebSocket {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols, { rejectUnauthorized: false })
  }
}

const RESPONDS_LIKE_OPENAI: Behaviour = {
  opened: (call) => call.send({ type: 'session.created', session: {} }),
  message: (call, { type }) => {
    if (type !== 'response.create') return
    const usage = { input_tokens: 3, output_tokens: 4 }
    call.send({ type: 'response.created', response: { id: 'resp_1' } })
    call.send({ type: 'response.done', response: { id: 'resp_1', status: 'completed', usage } })
  },
}

/** TABLE of OpenAI's transports. */
const TRANSPORTS: [
  name: string,
  open: (client: OpenAI) => OpenAIRealtimeWebSocket | OpenAIRealtimeWS,
][] = [
  [
    'ws',
    (client) =>
      new OpenAIRealtimeWS(
        { model: 'gpt-realtime', options: { rejectUnauthorized: false } },
        client,
      ),
  ],
  [
    'the global WebSocket',
    (client) => new OpenAIRealtimeWebSocket({ model: 'gpt-realtime' }, client),
  ],
]

for (const [name, open] of TRANSPORTS)
  test(`openai, with ${name}`, async (t) => {
    const { WebSocket } = globalThis
    Object.assign(globalThis, { WebSocket: Trusting })
    t.after(() => Object.assign(globalThis, { WebSocket }))
    served.provider.behaviour = RESPONDS_LIKE_OPENAI
    const { secret, id } = await served.key({ models: ['gpt-realtime'] })
    const { port } = front.address() as AddressInfo
    const session = open(
      new OpenAI({
        apiKey: secret,
        baseURL: `https://127.0.0.1:${port}/proxy/api.openai.com/v1`,
        dangerouslyAllowBrowser: true,
      }),
    )
    const done = Promise.withResolvers<string | undefined>()
    session.on('error', done.reject)
    session.on('session.created', () => session.send({ type: 'response.create' }))
    session.on('response.done', ({ response }) => done.resolve(response.id))
    assert.equal(await done.promise, 'resp_1')
    session.close()
    const [row] = await rowsOf(served, id, 2)
    assert.deepEqual([row!.model, row!.tokens_in, row!.tokens_out], ['gpt-realtime', 3, 4])
  })

test('@google/genai', async () => {
  served.provider.behaviour = {
    message: (call, event) => {
      if ('setup' in event) call.send({ setupComplete: {} })
      if (!('clientContent' in event)) return
      call.send({ serverContent: { modelTurn: { parts: [{ text: 'Hello' }] } } })
      call.send({
        serverContent: { turnComplete: true },
        usageMetadata: { promptTokenCount: 5, responseTokenCount: 6, totalTokenCount: 11 },
      })
    },
  }
  const model = 'gemini-2.5-flash-native-audio'
  const { secret, id } = await served.key({ models: [model] })
  const baseUrl = `http://127.0.0.1:${served.port}/proxy/generativelanguage.googleapis.com`
  const ai = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl } })
  const texts: string[] = []
  const done = Promise.withResolvers<void>()
  const session = await ai.live.connect({
    model,
    config: { responseModalities: [Modality.TEXT] },
    callbacks: {
      onmessage: ({ serverContent }) => {
        for (const { text } of serverContent?.modelTurn?.parts ?? []) texts.push(text ?? '')
        if (serverContent?.turnComplete) done.resolve()
      },
      onclose: ({ reason }) => done.reject(new Error(reason)),
    },
  })
  session.sendClientContent({ turns: 'Hi' })
  await done.promise
  session.close()
  assert.deepEqual(texts, ['Hello'])
  const [row] = await rowsOf(served, id, 2)
  assert.deepEqual([row!.model, row!.tokens_in, row!.tokens_out], [model, 5, 6])
})

test('@google/genai, music', async () => {
  served.provider.behaviour = {
    message: (call, event) => {
      if ('setup' in event) call.send({ setupComplete: {} })
      if ('playbackControl' in event)
        call.send({ serverContent: { audioChunks: [{ data: 'AAAA' }] } })
    },
  }
  const model = 'models/lyria-realtime-exp'
  const { secret, id } = await served.key({ models: [model] })
  const baseUrl = `http://127.0.0.1:${served.port}/proxy/generativelanguage.googleapis.com`
  const ai = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl } })
  const done = Promise.withResolvers<void>()
  const session = await ai.live.music.connect({
    model,
    callbacks: {
      onmessage: ({ serverContent }) => {
        if (serverContent?.audioChunks !== undefined) done.resolve()
      },
      onclose: ({ reason }) => done.reject(new Error(reason)),
    },
  })
  await session.setWeightedPrompts({ weightedPrompts: [{ text: 'Piano', weight: 1 }] })
  await session.setMusicGenerationConfig({ musicGenerationConfig: { bpm: 90 } })
  session.play()
  await done.promise
  session.close()
  const [row] = await rowsOf(served, id, 1)
  assert.deepEqual([row!.model, row!.state], ['lyria-realtime-exp', 'settled'])
})
