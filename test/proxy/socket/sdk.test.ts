// Live transcription by the AI SDK's packages, once with their provider and once through the proxy:
// the results are the same, and so is every message that the provider gets.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createXai } from '@ai-sdk/xai'
import { createProxyWebSocket } from '@proxy-sdk/core'
import { createGateway, experimental_streamTranscribe as streamTranscribe } from 'ai'
import { WebSocket } from 'ws'
import { startSockets, type Behaviour } from './support.ts'

type Model = Parameters<typeof streamTranscribe>[0]['model']
type Constructor = NonNullable<NonNullable<Parameters<typeof createOpenAI>[0]>['webSocket']>

const isAudio = (binary: readonly boolean[]): string =>
  `${binary.filter((one) => one).length} pieces`

/** TABLE of packages: a model with a constructor of sockets, and how its provider behaves. */
const CASES: readonly {
  readonly what: string
  readonly scope: string
  model(webSocket: Constructor): Model
  readonly behaviour: Behaviour
}[] = [
  {
    what: 'OpenAI',
    scope: 'gpt-realtime-whisper',
    model: (webSocket) =>
      createOpenAI({ apiKey: 'managed', webSocket }).transcription('gpt-realtime-whisper'),
    behaviour: {
      message: (call, event) => {
        if (event['type'] === 'input_audio_buffer.commit')
          call.send({
            type: 'conversation.item.input_audio_transcription.completed',
            item_id: 'item_1',
            transcript: `${call.messages.length} messages`,
          })
      },
    },
  },
  {
    what: 'Google',
    scope: 'gemini-3.5-live-transcribe',
    model: (webSocket) =>
      createGoogleGenerativeAI({ apiKey: 'managed', webSocket }).transcription(
        'gemini-3.5-live-transcribe',
      ),
    behaviour: {
      message: (call, event, text) => {
        if ('setup' in event) call.send({ setupComplete: {} })
        if (text.includes('audioStreamEnd'))
          call.send({
            serverContent: {
              inputTranscription: { text: `${call.messages.length} messages`, finished: true },
              turnComplete: true,
            },
            usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
          })
      },
    },
  },
  {
    what: 'Mistral',
    scope: 'voxtral-mini-transcribe-realtime-2602',
    model: (webSocket) =>
      createMistral({ apiKey: 'managed', webSocket }).transcription(
        'voxtral-mini-transcribe-realtime-2602',
      ),
    behaviour: {
      opened: (call) => call.send({ type: 'session.created', session: {} }),
      message: (call, event) => {
        if (event['type'] === 'session.update') call.send({ type: 'session.updated', session: {} })
        if (event['type'] === 'input_audio.end')
          call.send({
            type: 'transcription.done',
            model: 'voxtral',
            text: `${call.messages.length} messages`,
            segments: [],
            language: 'en',
            usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
          })
      },
    },
  },
  {
    what: 'xAI',
    scope: 'xai/stt',
    model: (webSocket) => createXai({ apiKey: 'managed', webSocket }).transcription(),
    behaviour: {
      opened: (call) => call.send({ type: 'transcript.created' }),
      message: (call, event) => {
        if (event['type'] === 'audio.done')
          call.send({ type: 'transcript.done', text: isAudio(call.binary), duration: 1 })
      },
    },
  },
  {
    what: 'the AI Gateway',
    scope: 'openai/gpt-realtime-whisper',
    model: (webSocket) =>
      createGateway({ apiKey: 'managed', webSocket }).transcription('openai/gpt-realtime-whisper'),
    behaviour: {
      message: (call, event) => {
        if (event['type'] !== 'transcription-stream.audio-done') return
        call.send({ type: 'stream-start', warnings: [] })
        call.send({ type: 'finish', text: isAudio(call.binary), segments: [] })
      },
    },
  },
]

const served = await startSockets(
  { after },
  {},
  ['OPENAI', 'GOOGLE', 'XAI', 'MISTRAL', 'GATEWAY'],
  {
    XAI_API_KEY: 'xai-upstream',
    MISTRAL_API_KEY: 'mistral-upstream',
    AI_GATEWAY_API_KEY: 'gateway-upstream',
  },
)

/** Opens every socket with the scripted provider, whatever its address names. */
class Direct extends WebSocket {
  constructor(
    url: string,
    protocols?: string | string[],
    options: { headers?: Record<string, string | undefined> } = {},
  ) {
    const { pathname, searchParams } = new URL(url)
    // The proxy takes it off the address.
    searchParams.delete('key')
    const query = searchParams.size === 0 ? '' : `?${searchParams}`
    const headers = Object.fromEntries(
      Object.entries(options.headers ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    )
    super(`${served.provider.origin.replace('http', 'ws')}${pathname}${query}`, protocols, {
      headers,
    })
  }
}

async function transcribe({ model, behaviour }: (typeof CASES)[number], webSocket: Constructor) {
  served.provider.behaviour = behaviour
  served.provider.calls.length = 0
  const result = streamTranscribe({
    model: model(webSocket),
    audio: new ReadableStream({
      start(controller) {
        for (const piece of ['one', 'two', 'three']) controller.enqueue(Buffer.from(piece))
        controller.close()
      },
    }),
    inputAudioFormat: { type: 'audio/pcm', rate: 16_000 },
  })
  const text = await result.text
  const [call] = served.provider.calls
  return { text, url: call!.request.url, messages: call!.messages, binary: call!.binary }
}

for (const one of CASES)
  test(`${one.what}: the same result directly and through the proxy`, async () => {
    const { secret } = await served.key({ models: [one.scope] })
    const config = { proxyUrl: `http://127.0.0.1:${served.port}`, apiKey: secret }
    const direct = await transcribe(
      one,
      createProxyWebSocket({ ...config, webSocket: Direct, bypass: () => true }),
    )
    const proxied = await transcribe(one, createProxyWebSocket({ ...config, webSocket: WebSocket }))
    assert.match(direct.text, /^\d (?:messages|pieces)$/)
    assert.deepEqual(proxied, direct)
  })
