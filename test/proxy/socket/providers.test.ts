// Each provider's sockets: where its clients put the key, where the model stands, and what its
// messages cost.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ClientOptions } from 'ws'
import { until } from '../../support/until.ts'
import { SDK_SOCKETS } from '../providers/sdk-endpoints.ts'
import {
  connectSocket,
  refusedHandshake,
  rowsOf,
  startSockets,
  UPSTREAM_ID,
  withKey,
} from './support.ts'

type Event = Record<string, unknown> | string | Buffer
interface Case {
  readonly what: string
  readonly address: string
  /** What the client sends, in order; the provider responds to the message at the same place. */
  readonly sends: readonly Event[]
  readonly responses?: readonly (readonly Event[])[]
  /** A message that leads to another model; left out, none can. */
  readonly elsewhere?: Event
  /** The model of its rows; null if the provider stores it, so that no key may be limited to it. */
  readonly model: string | null
  /** The states of its rows, and the tokens of the first. */
  readonly rows: readonly string[]
  readonly tokens?: readonly [input: number | null, output: number | null, cached: number | null]
  /** The header that carries our credential. */
  readonly credential: readonly [name: string, value: string]
  /** How a browser sends the key: as subprotocols, or in the query. */
  readonly browser: { protocols: (key: string) => string[] } | { query: (key: string) => string }
  /** The subprotocol that the client is told then, and those that go up. */
  readonly selected?: string
  readonly forwarded?: string
}

const AGENT = 'agent_3701k3ttaq12ewp8b7qv5rfyszkz'
const AUDIO = Buffer.from([1, 2, 3, 0xff])
const OPENAI = {
  credential: ['authorization', 'Bearer sk-openai-upstream'],
  browser: { protocols: (key: string) => ['realtime', `openai-insecure-api-key.${key}`] },
  selected: 'realtime',
  forwarded: 'realtime',
} as const
const USAGE = { input_tokens: 7, output_tokens: 5, input_token_details: { cached_tokens: 3 } }
const LIVE = 'generativelanguage.googleapis.com/ws/google.ai.generativelanguage'
const GOOGLE = {
  model: 'gemini-live',
  credential: ['x-goog-api-key', 'AIza-google-upstream'],
  browser: { query: (key: string) => `access_token=${key}` },
  sends: [
    { setup: { model: 'models/gemini-live', generationConfig: { responseModalities: ['AUDIO'] } } },
    { clientContent: { turns: [{ role: 'user', parts: [{ text: 'Hi' }] }], turnComplete: true } },
    { realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=16000' } } },
  ],
  responses: [
    [{ setupComplete: {} }],
    [
      { serverContent: { modelTurn: { parts: [{ inlineData: { data: 'AAAA' } }] } } },
      {
        serverContent: { turnComplete: true },
        usageMetadata: {
          promptTokenCount: 11,
          responseTokenCount: 6,
          cachedContentTokenCount: 4,
          totalTokenCount: 17,
        },
      },
    ],
  ],
  elsewhere: { setup: { model: 'models/gemini-other' } },
  rows: ['settled', 'aborted'],
} as const

/** TABLE of sockets. */
const CASES: readonly Case[] = [
  {
    what: 'a conversation with OpenAI',
    address: 'api.openai.com/v1/realtime?model=gpt-realtime',
    model: 'gpt-realtime',
    sends: [{ type: 'response.create' }],
    responses: [
      [
        { type: 'response.created', response: { id: 'resp_1' } },
        { type: 'response.done', response: { id: 'resp_1', usage: USAGE } },
      ],
    ],
    elsewhere: { type: 'session.update', session: { model: 'gpt-other' } },
    rows: ['settled', 'aborted'],
    tokens: [7, 5, 3],
    ...OPENAI,
  },
  {
    what: 'a transcription by OpenAI',
    address: 'api.openai.com/v1/realtime?intent=transcription',
    model: 'whisper-1',
    sends: [
      {
        type: 'session.update',
        session: {
          type: 'transcription',
          audio: { input: { transcription: { model: 'whisper-1' } } },
        },
      },
      { type: 'input_audio_buffer.append', audio: 'AAAA' },
    ],
    responses: [
      [],
      [
        {
          type: 'conversation.item.input_audio_transcription.completed',
          item_id: 'item_1',
          transcript: 'Hi',
          usage: { type: 'tokens', ...USAGE },
        },
      ],
    ],
    elsewhere: {
      type: 'session.update',
      session: { audio: { input: { transcription: { model: 'gpt-other' } } } },
    },
    rows: ['settled'],
    tokens: [7, 5, 3],
    ...OPENAI,
  },
  {
    what: 'a translation by OpenAI',
    address: 'api.openai.com/v1/realtime/translations?model=gpt-realtime-translate',
    model: 'gpt-realtime-translate',
    sends: [{ type: 'session.input_audio_buffer.append', audio: 'AAAA' }],
    elsewhere: { type: 'session.update', session: { model: 'gpt-other' } },
    rows: ['settled'],
    ...OPENAI,
  },
  {
    what: 'a conversation at Azure',
    address: 'acme.openai.azure.com/openai/v1/realtime?model=voice',
    model: 'voice',
    sends: [{ type: 'input_audio_buffer.append', audio: 'AAAA' }],
    elsewhere: { type: 'session.update', session: { model: 'gpt-other' } },
    rows: ['aborted'],
    credential: ['api-key', 'azure-upstream'],
    browser: { query: (key) => `api-key=${key}` },
  },
  {
    what: 'a conversation at Azure, by the date of a version',
    address:
      'acme.openai.azure.com/openai/realtime?api-version=2025-04-01-preview&deployment=voice-model',
    model: 'voice-model',
    sends: [{ type: 'input_audio_buffer.append', audio: 'AAAA' }],
    elsewhere: { type: 'session.update', session: { model: 'gpt-other' } },
    rows: ['aborted'],
    credential: ['api-key', 'azure-upstream'],
    browser: { query: (key) => `api-key=${key}` },
  },
  {
    what: 'Gemini Live',
    address: `${LIVE}.v1beta.GenerativeService.BidiGenerateContent`,
    ...GOOGLE,
  },
  {
    what: 'Gemini Live with a token',
    address: `${LIVE}.v1alpha.GenerativeService.BidiGenerateContentConstrained`,
    ...GOOGLE,
  },
  {
    what: 'a conversation with xAI',
    address: 'api.x.ai/v1/realtime?model=grok-voice',
    model: 'grok-voice',
    sends: [{ type: 'response.create' }],
    responses: [
      [
        { type: 'response.created', response: { id: 'r1' } },
        { type: 'response.done', response: { id: 'r1', usage: USAGE } },
      ],
    ],
    elsewhere: { type: 'session.update', session: { model: 'grok-other' } },
    rows: ['settled', 'aborted'],
    tokens: [7, 5, 3],
    credential: ['authorization', 'Bearer xai-upstream'],
    browser: { protocols: (key) => [`xai-client-secret.${key}`] },
  },
  {
    what: 'a transcription by xAI',
    address: 'api.x.ai/v1/stt?sample_rate=16000',
    model: 'xai/stt',
    sends: [AUDIO, { type: 'audio.done' }],
    responses: [[{ type: 'transcript.partial', text: 'Hi' }]],
    rows: ['settled'],
    credential: ['authorization', 'Bearer xai-upstream'],
    browser: { protocols: (key) => [`xai-client-secret.${key}`] },
  },
  {
    what: 'a transcription by Mistral',
    address: 'api.mistral.ai/v1/audio/transcriptions/realtime?model=voxtral',
    model: 'voxtral',
    sends: [{ type: 'input_audio.append', audio: 'AAAA' }, { type: 'input_audio.end' }],
    responses: [
      [],
      [
        {
          type: 'transcription.done',
          text: 'Hi',
          usage: { prompt_tokens: 9, completion_tokens: 2 },
        },
      ],
    ],
    elsewhere: { type: 'session.update', session: { model: 'other' } },
    rows: ['settled'],
    tokens: [9, 2, null],
    credential: ['authorization', 'Bearer mistral-upstream'],
    browser: { protocols: (key) => [key] },
  },
  {
    what: 'a transcription by ElevenLabs',
    address: 'api.elevenlabs.io/v1/speech-to-text/realtime?model_id=scribe_v2_realtime',
    model: 'scribe_v2_realtime',
    sends: [{ message_type: 'input_audio_chunk', audio_base_64: 'AAAA', commit: true }],
    elsewhere: { message_type: 'input_audio_chunk', model_id: 'other' },
    rows: ['settled'],
    credential: ['xi-api-key', 'elevenlabs-upstream'],
    browser: { query: (key) => `token=${key}` },
  },
  ...['stt/websocket', 'stt/turns/websocket'].map((path): Case => ({
    what: `Cartesia’s ${path}`,
    address: `api.cartesia.ai/${path}?model=ink-2&encoding=pcm_s16le`,
    model: 'ink-2',
    sends: [AUDIO, 'finalize', 'done'],
    rows: ['settled'],
    credential: ['authorization', 'Bearer cartesia-upstream'],
    browser: { query: (key) => `access_token=${key}` },
  })),
  ...['v1', 'v2'].map((version): Case => ({
    what: `Deepgram’s ${version}`,
    address: `api.deepgram.com/${version}/listen?model=nova-3`,
    model: 'nova-3',
    sends: [AUDIO, { type: 'KeepAlive' }, { type: 'CloseStream' }],
    rows: ['settled'],
    credential: ['authorization', 'Token deepgram-upstream'],
    browser: { protocols: (key) => ['token', key] },
    selected: 'token',
  })),
  ...['stream-input', 'multi-stream-input'].map((form): Case => ({
    what: `ElevenLabs’ ${form}`,
    address: `api.elevenlabs.io/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/${form}?model_id=eleven_flash_v2_5`,
    model: 'eleven_flash_v2_5',
    sends: [
      { text: ' ', voice_settings: { stability: 0.5 }, context_id: 'one' },
      { text: 'Hello ', flush: true, context_id: 'one' },
      { context_id: 'one', close_context: true },
      { close_socket: true },
    ],
    responses: [[], [{ audio: 'AAAA', contextId: 'one' }], [{ isFinal: true, contextId: 'one' }]],
    elsewhere: { text: ' ', model_id: 'other' },
    rows: ['settled'],
    credential: ['xi-api-key', 'elevenlabs-upstream'],
    browser: { query: (key) => `single_use_token=${key}` },
  })),
  {
    what: 'a conversation with an agent of ElevenLabs',
    address: `api.elevenlabs.io/v1/convai/conversation?agent_id=${AGENT}&source=js_sdk&version=1.0.0`,
    model: null,
    sends: [
      {
        type: 'conversation_initiation_client_data',
        conversation_config_override: { conversation: { text_only: true } },
      },
      { user_audio_chunk: 'AAAA' },
      { type: 'pong', event_id: 1 },
    ],
    responses: [
      [
        {
          type: 'conversation_initiation_metadata',
          conversation_initiation_metadata_event: { conversation_id: 'conv_1' },
        },
      ],
      [
        { type: 'agent_response', agent_response_event: { agent_response: 'Hi', event_id: 1 } },
        { type: 'ping', ping_event: { event_id: 1 } },
      ],
    ],
    rows: ['settled'],
    tokens: [null, null, null],
    credential: ['xi-api-key', 'elevenlabs-upstream'],
    browser: { protocols: (key) => ['convai', `bearer.${key}`] },
    selected: 'convai',
    forwarded: 'convai',
  },
  {
    what: 'Cartesia’s tts/websocket',
    address: 'api.cartesia.ai/tts/websocket?cartesia_version=2026-03-01',
    model: 'sonic-3.5',
    sends: [
      {
        model_id: 'sonic-3.5',
        transcript: 'Hello',
        voice: { mode: 'id', id: 'a0e99841-438c-4a64-b679-ae501e7d6091' },
        context_id: '872ec12d-bc63-4e1e-a241-4f58c879d105',
        continue: true,
      },
      { context_id: '872ec12d-bc63-4e1e-a241-4f58c879d105', cancel: true },
    ],
    responses: [
      [
        { type: 'chunk', data: 'AAAA', done: false },
        { type: 'done', done: true },
      ],
    ],
    elsewhere: { model_id: 'sonic-other', transcript: 'Hello' },
    rows: ['settled'],
    credential: ['authorization', 'Bearer cartesia-upstream'],
    browser: { query: (key) => `api_key=${key}` },
  },
  ...['v1', 'v2'].map((version): Case => ({
    what: `Deepgram’s ${version}/speak`,
    address: `api.deepgram.com/${version}/speak?model=aura-2-thalia-en`,
    model: 'aura-2-thalia-en',
    sends: [{ type: 'Speak', text: 'Hello' }, { type: 'Flush' }, { type: 'Close' }],
    responses: [[], [{ type: 'Flushed', sequence_id: 0 }]],
    elsewhere: { type: 'Speak', text: 'Hello', model: 'aura-other' },
    rows: ['settled'],
    credential: ['authorization', 'Token deepgram-upstream'],
    browser: { protocols: (key) => ['token', key] },
    selected: 'token',
  })),
  {
    what: 'a transcription by the AI Gateway',
    address: 'ai-gateway.vercel.sh/v4/ai/transcription-model?ai-model-id=openai%2Fwhisper',
    model: 'openai/whisper',
    sends: [
      { type: 'transcription-stream.start' },
      AUDIO,
      { type: 'transcription-stream.audio-done' },
    ],
    elsewhere: {
      type: 'transcription-stream.start',
      providerOptions: { gateway: { models: ['openai/other'] } },
    },
    rows: ['settled'],
    credential: ['authorization', 'Bearer gateway-upstream'],
    browser: { protocols: (key) => ['ai-gateway-transcription.v1', `ai-gateway-auth.${key}`] },
    selected: 'ai-gateway-transcription.v1',
    forwarded: 'ai-gateway-transcription.v1',
  },
  {
    what: 'a conversation by the AI Gateway',
    address: 'ai-gateway.vercel.sh/v4/ai/realtime-model?ai-model-id=openai%2Fgpt-realtime',
    model: 'openai/gpt-realtime',
    sends: [{ type: 'response-create' }],
    responses: [
      [
        { type: 'response-created', responseId: 'r1', raw: {} },
        { type: 'response-done', responseId: 'r1', raw: { response: { usage: USAGE } } },
      ],
    ],
    elsewhere: { type: 'session-update', config: { model: 'openai/other' } },
    rows: ['settled', 'aborted'],
    tokens: [7, 5, 3],
    credential: ['authorization', 'Bearer gateway-upstream'],
    browser: { protocols: (key) => ['ai-gateway-realtime.v1', `ai-gateway-auth.${key}`] },
    selected: 'ai-gateway-realtime.v1',
    forwarded: 'ai-gateway-realtime.v1',
  },
]

const IDS = [
  'OPENAI',
  'GOOGLE',
  'XAI',
  'MISTRAL',
  'ELEVENLABS',
  'CARTESIA',
  'DEEPGRAM',
  'GATEWAY',
  'AZURE',
]
const served = await startSockets({ after }, {}, IDS, {
  XAI_API_KEY: 'xai-upstream',
  MISTRAL_API_KEY: 'mistral-upstream',
  ELEVENLABS_API_KEY: 'elevenlabs-upstream',
  CARTESIA_API_KEY: 'cartesia-upstream',
  DEEPGRAM_API_KEY: 'deepgram-upstream',
  AI_GATEWAY_API_KEY: 'gateway-upstream',
  AZURE_API_KEY: 'azure-upstream',
  AZURE_RESOURCE_NAME: 'acme',
})

const textOf = (event: Event): string | Buffer =>
  typeof event === 'string' || Buffer.isBuffer(event) ? event : JSON.stringify(event)

function open(
  one: Case,
  protocols: readonly string[] = [],
  options: ClientOptions = {},
  query = '',
) {
  served.provider.calls.length = 0
  const join = one.address.includes('?') ? '&' : '?'
  const address = query === '' ? one.address : `${one.address}${join}${query}`
  const client = connectSocket(served.port, `https://${address}`, protocols, options)
  return client
}

/** A key that may use a socket: one for its model, or for all models and objects. */
const wishesFor = ({ model }: Case) =>
  model === null ? ({ objects: 'upstream' } as const) : { models: [model] }

for (const one of CASES) {
  test(`${one.what}: messages pass unchanged and are counted`, async () => {
    const { secret, id } = await served.key(wishesFor(one))
    served.provider.behaviour = {
      message: (call) => {
        for (const event of one.responses?.[call.messages.length - 1] ?? [])
          call.socket.send(textOf(event))
      },
    }
    const client = open(one, [], withKey(secret))
    await client.opened
    const [call] = served.provider.calls
    for (const event of one.sends) client.socket.send(textOf(event))
    const responses = (one.responses ?? []).flat()
    await until(
      () =>
        call!.messages.length === one.sends.length && client.messages.length === responses.length,
    )
    assert.deepEqual(
      call!.messages,
      one.sends.map((event) => String(textOf(event))),
    )
    assert.deepEqual(
      call!.binary,
      one.sends.map((event) => Buffer.isBuffer(event)),
    )
    assert.deepEqual(
      client.messages,
      responses.map((event) => String(textOf(event))),
    )
    const { headers, url } = call!.request
    assert.equal(headers[one.credential[0]], one.credential[1])
    assert.equal(`${url}`, `/${one.address.split('/').slice(1).join('/')}`)
    client.socket.close()
    await client.closed
    const rows = await rowsOf(served, id, one.rows.length)
    assert.deepEqual(
      rows.map(({ state }) => state),
      one.rows,
    )
    assert.deepEqual(new Set(rows.map(({ model }) => model)), new Set([one.model]))
    for (const { upstream_request_id } of rows) assert.equal(upstream_request_id, UPSTREAM_ID)
    // Messages after the last response are in the row that was reserved for the next.
    const sent = one.sends.reduce((sum, event) => sum + Buffer.byteLength(textOf(event)), 0)
    assert.ok(rows.reduce((sum, { bytes_in }) => sum + bytes_in!, 0) >= sent)
    if (one.tokens !== undefined) {
      const [{ tokens_in, tokens_out, tokens_cached }] = rows as [(typeof rows)[number]]
      assert.deepEqual([tokens_in, tokens_out, tokens_cached], one.tokens)
    }
  })

  test(`${one.what}: a browser sends the key as its clients do`, async () => {
    const { secret, id } = await served.key({ objects: 'upstream' })
    served.provider.behaviour = {}
    const { browser } = one
    const client =
      'protocols' in browser
        ? open(one, browser.protocols(secret))
        : open(one, [], {}, browser.query(secret))
    await client.opened
    const { headers, rawHeaders, url } = served.provider.calls[0]!.request
    if ('protocols' in browser) {
      assert.equal(client.socket.protocol, one.selected ?? browser.protocols(secret)[0])
      assert.equal(headers['sec-websocket-protocol'], one.forwarded)
    }
    assert.equal(headers[one.credential[0]], one.credential[1])
    assert.ok(![...rawHeaders, url].some((text) => text!.includes('tmk_')))
    client.socket.close()
    await client.closed
    await rowsOf(served, id, 1)
  })

  if ('query' in one.browser) {
    const { query } = one.browser
    test(`${one.what}: a credential of the caller's is not forwarded`, async () => {
      const { secret } = await served.key()
      served.provider.behaviour = {}
      const client = open(one, [], withKey(secret), query('their-own'))
      await client.opened
      assert.doesNotMatch(served.provider.calls[0]!.request.url ?? '', /their-own/)
      client.socket.close()
      await client.closed
    })
  }

  test(`${one.what}: a key for another model is refused`, async () => {
    const { secret, id } = await served.key({ models: ['nothing-else'] })
    served.provider.behaviour = {}
    const client = open(one, [], withKey(secret))
    if (/model|\/stt\?|agent_id/.test(one.address)) {
      const { status, code } = await refusedHandshake(client)
      assert.deepEqual([status, code], [403, 'model_not_allowed'])
      assert.equal(served.provider.calls.length, 0)
      return
    }
    await client.opened
    client.socket.send(textOf(one.sends[0]!))
    assert.equal((await client.closed).code, 1008)
    assert.deepEqual(served.provider.calls[0]!.messages, [])
    await rowsOf(served, id, 1)
  })

  if (one.elsewhere !== undefined)
    test(`${one.what}: a message for another model is not forwarded`, async () => {
      const { secret, id } = await served.key(wishesFor(one))
      served.provider.behaviour = {}
      const client = open(one, [], withKey(secret))
      await client.opened
      client.socket.send(textOf(one.elsewhere!))
      const { code, reason } = await client.closed
      assert.equal(code, 1008)
      assert.match(reason, /may not use the model/)
      assert.deepEqual(served.provider.calls[0]!.messages, [])
      assert.ok(client.messages.length === 1 && /may not use the model/.test(client.messages[0]!))
      await rowsOf(served, id, 1)
    })
}

test('a message with a credential of the caller’s is not forwarded', async () => {
  const one = CASES.find(({ what }) => what === 'ElevenLabs’ stream-input')!
  for (const name of ['xi_api_key', 'authorization']) {
    const { secret } = await served.key()
    served.provider.behaviour = {}
    const client = open(one, [], withKey(secret))
    await client.opened
    client.send({ text: ' ', [name]: secret })
    const { code, reason } = await client.closed
    assert.equal(code, 1008)
    assert.match(reason, /the proxy adds the credential/)
    assert.deepEqual(served.provider.calls[0]!.messages, [])
  }
})

test("a conversation with an agent takes only its key's objects, and no credential", async () => {
  const voice = 'pNVoiceOfAnotherKey1'
  const owner = await served.key()
  served.provider.behaviour = {
    respond: ({ url }) => (url!.includes('/voices') ? { voice_id: voice } : { agent_id: AGENT }),
  }
  const at = `http://127.0.0.1:${served.port}/proxy/api.elevenlabs.io/v1`
  for (const path of ['convai/agents/create', 'voices/add']) {
    const made = await fetch(`${at}/${path}`, {
      method: 'POST',
      headers: { 'xi-api-key': owner.secret, 'Content-Type': 'application/json' },
      body: '{}',
    })
    assert.equal(made.status, 200, await made.text())
  }
  served.provider.behaviour = {}
  const one = CASES.find(({ address }) => address.includes(AGENT))!
  const other = await served.key()
  const { status, code } = await refusedHandshake(open(one, [], withKey(other.secret)))
  assert.deepEqual([status, code], [403, 'endpoint_not_allowed'])
  assert.equal(served.provider.calls.length, 0)

  const own = await served.key({ objects: 'upstream' })
  const elsewhere = { ...one, address: one.address.replace(AGENT, 'agent_of_the_workspace') }
  const client = open(
    elsewhere,
    ['convai', 'bearer.their-own'],
    withKey(own.secret),
    'conversation_signature=their-own',
  )
  await client.opened
  const { rawHeaders, url } = served.provider.calls[0]!.request
  assert.ok(![...rawHeaders, url].some((text) => text!.includes('their-own')))
  client.send({
    type: 'conversation_initiation_client_data',
    conversation_config_override: { tts: { voice_id: voice } },
  })
  const closed = await client.closed
  assert.equal(closed.code, 1008)
  assert.deepEqual(served.provider.calls[0]!.messages, [])
  const [error] = client.messages.map((text) => JSON.parse(text) as unknown)
  assert.deepEqual(error, {
    type: 'error',
    error_event: { code: 403, message: closed.reason, error_type: 'endpoint_not_allowed' },
  })
})

/** TABLE of messages that lead the gateway to another model; @ai-sdk/gateway has the places. */
const GATEWAY_ELSEWHERE: readonly Event[] = [
  ...['config', 'options', 'session', 'response'].flatMap((at): Event[] => [
    { [at]: { providerOptions: { gateway: { models: ['openai/other'] } } } },
    { [at]: { models: ['openai/other'] } },
    { [at]: { tools: [{ type: 'image_generation' }] } },
    { [at]: { inputAudioTranscription: {} } },
    { [at]: { inputAudioTranscription: { model: 'openai/other' } } },
    { [at]: { outputAudioTranscription: { model: 'openai/other' } } },
    { [at]: { turn_detection: { model: 'openai/other' } } },
  ]),
  { providerOptions: { gateway: { models: ['openai/other'] } } },
]

test("an error of a conversation by the Vercel gateway is an event of the AI SDK's", async () => {
  const one = CASES.find(({ what }) => what === 'a conversation by the AI Gateway')!
  const { secret } = await served.key(wishesFor(one))
  served.provider.behaviour = {}
  const client = open(one, [], withKey(secret))
  await client.opened
  client.socket.send(textOf(one.elsewhere!))
  const { reason } = await client.closed
  const { type, message, code } = JSON.parse(client.messages[0]!) as Record<string, unknown>
  assert.deepEqual(
    { type, message, code },
    { type: 'error', message: reason, code: 'model_not_allowed' },
  )
})

test('no message to the Vercel gateway switches to another model', async () => {
  const one = CASES.find(({ address }) => address.includes('/realtime-model'))!
  const { secret, id } = await served.key(wishesFor(one))
  served.provider.behaviour = {}
  for (const event of GATEWAY_ELSEWHERE) {
    const client = open(one, [], withKey(secret))
    await client.opened
    client.send({ type: 'session-update', ...(event as object) })
    assert.equal((await client.closed).code, 1008, JSON.stringify(event))
    assert.deepEqual(served.provider.calls.at(-1)!.messages, [])
  }
  await rowsOf(served, id, GATEWAY_ELSEWHERE.length)
})

test('every socket that the AI SDK’s packages open has a row', () => {
  const addresses = new Set(CASES.map(({ address }) => address.split('?')[0]))
  assert.deepEqual(
    SDK_SOCKETS.filter((address) => !addresses.has(address)),
    [],
  )
})
