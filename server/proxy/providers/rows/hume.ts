import type { EndpointRow } from '../endpoint-row.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/**
 * Hume's own voices that its SDKs use by default:
 * https://dev.hume.ai/docs/text-to-speech-tts/voices
 */
const STOCK = /^d8ab67c6-953d-4bd8-9370-8fa53a0f1453$/

/** A form whose fields contain JSON. */
const CONVERTED = {
  required: [],
  also: ['model'],
  multipart: true,
  objects: { 'voice.id': 'voice', 'voice[id]': 'voice', 'context.generation_id': 'generation' },
} as const

const CONFIG = {
  'prompt.id': 'prompt',
  'tools[].id': 'tool',
  'voice.id': 'voice',
} as const

/**
 * The Empathic Voice Interface: https://dev.hume.ai/reference/speech-to-speech-evi. A configuration
 * names the model. Chats are created by its socket, which has no row, because Hume announced the
 * end of this interface for 2026-11-13 (https://dev.hume.ai/voice/reference/speech-to-speech-evi):
 * an administrator shares them.
 */
const EVI: readonly EndpointRow[] = [
  ...['config', 'prompt', 'tool'].flatMap((kind): EndpointRow[] => {
    const [all, one] = [`/v0/evi/${kind}s`, `/v0/evi/${kind}s/{${kind}}`]
    const write = (on: string, more: Partial<EndpointRow> = {}): EndpointRow =>
      kind === 'config' ? model(on, STORED, { names: CONFIG, ...more }) : neutral(on, more)
    return [
      write(`POST ${all}`, creates(kind)),
      neutral(`GET ${all}`, { listed: { [`${kind}s_page[].id`]: kind } }),
      write(`POST ${one}`),
      neutral(`GET PATCH DELETE ${one}`),
      neutral(`GET PATCH DELETE ${one}/version/{any}`),
    ]
  }),
  ...['chat', 'chat_group'].flatMap((kind) => [
    neutral(`GET /v0/evi/${kind}s`, {
      listed: { [`${kind}s_page[].id`]: kind },
      asks: { config_id: 'config' },
    }),
    neutral(`GET /v0/evi/${kind}s/{${kind}}`),
    neutral(`GET /v0/evi/${kind}s/{${kind}}/audio`),
  ]),
  neutral('GET /v0/evi/chat_groups/{chat_group}/events'),
  model('POST /v0/evi/chat/{chat}/send', STORED),
]

/** Hume: https://dev.hume.ai/reference. Octave is the only model, and no request names it. */
export const hume: ProviderRow = {
  id: 'hume',
  name: 'Hume',
  variable: 'HUME_API_KEY',
  base: 'https://api.hume.ai/v0',
  hosts: ['api.hume.ai'],
  auth: { header: 'X-Hume-Api-Key' },
  probe: { path: '/v0/tts/voices?provider=CUSTOM_VOICE&page_size=1' },
  endpoints: [
    ...['', '/file', '/stream/json', '/stream/file'].map((form) =>
      model(
        `POST /v0/tts${form}`,
        {
          at: 'path',
          body: {
            required: [],
            also: ['model'],
            prose: ['utterances[].text', 'utterances[].description'],
            objects: {
              'utterances[].voice.id': 'voice',
              'context.generation_id': 'generation',
              'context.utterances[].voice.id': 'voice',
            },
          },
        },
        {
          modelName: 'hume/tts',
          ...creates('generation', 'generations[].generation_id', 'generation_id'),
        },
      ),
    ),
    model(
      'POST /v0/tts/voice_conversion/json',
      { at: 'path', body: CONVERTED },
      { modelName: 'hume/voice-conversion', ...creates('generation', 'generation_id') },
    ),
    model(
      'POST /v0/tts/voice_conversion/file',
      { at: 'path', body: CONVERTED },
      { modelName: 'hume/voice-conversion' },
    ),
    neutral('GET /v0/tts/voices', { listed: { 'voices_page[].id': 'voice' } }),
    neutral('POST /v0/tts/voices', { ...creates('voice'), names: { generation_id: 'generation' } }),
    // It is given by a name, which two voices may have, so no key owns it.
    neutral('DELETE /v0/tts/voices', { asks: { name: 'voice' } }),
    ...EVI,
  ],
  spelling: { uuids: true },
  errors: { message: '{message}', error: { message: '{message}', code: '{status}' } },
  usage: 'openai',
  publicObjects: { voice: STOCK },
}
