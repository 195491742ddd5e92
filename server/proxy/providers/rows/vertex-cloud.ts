import type { ModelPlace } from '../endpoint-row.ts'
import { vertex } from './vertex.ts'
import { model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/**
 * `_` is not a stored recognizer, but means that the request has its own:
 * cloud.google.com/speech-to-text/v2
 */
const RECOGNIZE: ModelPlace = {
  at: 'body',
  body: { required: ['config.model'], stored: ['configMask', 'config_mask'] },
}
/**
 * A voice belongs to its model:
 * cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize
 */
const SYNTHESIZE: ModelPlace = {
  at: 'body',
  body: {
    required: ['voice.modelName', 'voice.model_name', 'voice.name'],
    stored: ['voice.customVoice', 'voice.custom_voice', 'voice.voiceClone', 'voice.voice_clone'],
    prose: ['input.text', 'input.ssml', 'input.prompt'],
  },
}
const { elsewhere: _, keyParameters: __, probe: ___, ...projects } = vertex

/**
 * Vertex AI in its regions, Speech-to-Text and Text-to-Speech, with an OAuth token that is valid
 * for an hour: https://cloud.google.com/vertex-ai/docs/reference/rest. Store the next one by the
 * API.
 */
export const vertexCloud: ProviderRow = {
  ...projects,
  id: 'vertex-cloud',
  name: 'Google Cloud (Vertex AI in regions, speech)',
  variable: 'GOOGLE_VERTEX_ACCESS_TOKEN',
  base: 'https://us-central1-aiplatform.googleapis.com/v1',
  hosts: ['*-aiplatform.googleapis.com', 'aiplatform.*.rep.googleapis.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  sites: [
    {
      hosts: ['speech.googleapis.com', '*-speech.googleapis.com'],
      endpoints: [
        model(
          'POST /v2/projects/{project}/locations/{location}/recognizers/{recognizer}:recognize',
          RECOGNIZE,
          { changes: false },
        ),
        model('POST /v1/speech:recognize', RECOGNIZE),
      ],
    },
    {
      hosts: ['texttospeech.googleapis.com', '*-texttospeech.googleapis.com'],
      endpoints: ['/v1', '/v1beta1'].flatMap((at) => [
        model(`POST ${at}/text:synthesize`, SYNTHESIZE),
        neutral(`GET ${at}/voices`, { listed: null }),
      ]),
    },
  ],
  publicObjects: { recognizer: /^_$/ },
  // `en-US-Chirp3-HD-Kore`: cloud.google.com/text-to-speech/docs/chirp3-hd
  modelNames: (name) =>
    /^[a-z]{2,3}-[A-Z]{2}-Chirp3-HD-[A-Za-z]+$/.test(name)
      ? [name, 'chirp-3-hd']
      : (vertex.modelNames?.(name) ?? [name]),
}
