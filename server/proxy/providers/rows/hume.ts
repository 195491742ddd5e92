import { creates, model, neutral } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'

/** Voices of Hume's own that its SDKs take unasked: https://dev.hume.ai/docs/text-to-speech-tts/voices */
const STOCK = /^d8ab67c6-953d-4bd8-9370-8fa53a0f1453$/

/** A form, whose fields hold JSON. */
const CONVERTED = {
  required: [],
  also: ['model'],
  multipart: true,
  objects: { 'voice.id': 'voice', 'voice[id]': 'voice', 'context.generation_id': 'generation' },
} as const

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
  ],
  spelling: { uuids: true },
  errors: { message: '{message}', error: { message: '{message}', code: '{status}' } },
  usage: 'openai',
  publicObjects: { voice: STOCK },
}
