import type { EndpointRow } from '../endpoint-row.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CARTESIA_SPEECH } from '../speech-sockets.ts'
import { CARTESIA_TRANSCRIPTION } from '../transcription-sockets.ts'

/** `voice` is an object with an id. */
const SPOKEN = {
  required: ['model_id'],
  also: ['model'],
  prose: ['transcript'],
  objects: {
    'voice.id': 'voice',
    voice_id: 'voice',
    pronunciation_dict_id: 'pronunciation_dict',
  },
} as const

/** In a form's spelling. */
const SPOKEN_FORM = {
  required: ['model_id'],
  also: ['model'],
  multipart: true,
  objects: { voice_id: 'voice', 'voice[id]': 'voice', 'voice.id': 'voice' },
} as const

/** Public voices in its documentation; all voices have UUIDs, including cloned ones. */
const STOCK =
  /^(?:694f9389-aac1-45b6-b726-9d9369183238|a0e99841-438c-4a64-b679-ae501e7d6091|794f9389-aac1-45b6-b726-9d9369183238|f786b574-daa5-4673-aa0c-cbe3e8534c02|e07c00bc-4134-4eae-9ea4-1a55fb45746b|6ccbfb76-1fc6-48f7-b71d-91ac6298247b)$/

/**
 * Agents: https://docs.cartesia.ai/line/introduction. They are deployed by its command line, so no
 * key creates one: an administrator shares it. Their own code decides what they say.
 */
const AGENTS: readonly EndpointRow[] = [
  neutral('GET /agents', { listed: { 'summaries[].id': 'agent' } }),
  neutral('GET /agents/templates', { listed: null }),
  neutral('GET /agents/calls', { listed: { 'data[].id': 'call' }, asks: { agent_id: 'agent' } }),
  neutral('GET /agents/calls/{call}'),
  neutral('GET /agents/calls/{call}/audio'),
  neutral('GET /agents/deployments/{deployment}'),
  model('POST /agents/metrics', STORED, creates('metric')),
  neutral('GET /agents/metrics'),
  ...['', '/export'].map((form) =>
    neutral(`GET /agents/metrics/results${form}`, {
      listed: { 'data[].agentId': 'agent' },
      asks: {
        agent_id: 'agent',
        call_id: 'call',
        metric_id: 'metric',
        deployment_id: 'deployment',
      },
    }),
  ),
  neutral('GET /agents/metrics/{metric}'),
  neutral('GET DELETE /agents/{agent}'),
  model('PATCH /agents/{agent}', STORED, { names: { tts_voice: 'voice' } }),
  neutral('GET /agents/{agent}/deployments'),
  neutral('GET /agents/{agent}/phone-numbers'),
  model('POST /agents/{agent}/metrics/{metric}', STORED),
  neutral('DELETE /agents/{agent}/metrics/{metric}'),
]

/** Cartesia: https://docs.cartesia.ai/api-reference */
export const cartesia: ProviderRow = {
  id: 'cartesia',
  name: 'Cartesia',
  variable: 'CARTESIA_API_KEY',
  base: 'https://api.cartesia.ai',
  hosts: ['api.cartesia.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  keyParameters: ['access_token', 'api_key'],
  probe: { path: '/voices?limit=1', headers: ['Cartesia-Version', '2025-04-16'] },
  endpoints: [
    ...['bytes', 'sse'].map((form) => model(`POST /tts/${form}`, { at: 'body', body: SPOKEN })),
    model('GET /tts/websocket', { at: 'query' }, { socket: CARTESIA_SPEECH }),
    model('POST /stt', {
      at: 'body',
      body: { required: ['model'], also: ['model_id'], multipart: true },
    }),
    model('POST /audio/transcriptions', {
      at: 'body',
      body: { required: ['model'], multipart: true },
    }),
    ...['', '/turns'].map((form) =>
      model(`GET /stt${form}/websocket`, { at: 'query' }, { socket: CARTESIA_TRANSCRIPTION }),
    ),
    model('POST /infill/bytes', {
      at: 'body',
      body: { ...SPOKEN_FORM, prose: ['transcript'] },
    }),
    // These name no model.
    ...['bytes', 'sse'].map((form) =>
      model(
        `POST /voice-changer/${form}`,
        { at: 'path', body: { ...SPOKEN_FORM, required: [], also: ['model_id', 'model'] } },
        { modelName: 'cartesia/voice-changer' },
      ),
    ),
    model(
      'POST /voices/localize',
      { at: 'path', body: { required: [], also: ['model_id'], objects: { voice_id: 'voice' } } },
      { ...creates('voice'), modelName: 'cartesia/localize' },
    ),
    neutral('GET /accents'),
    neutral('POST /voices/clone', { ...creates('voice'), uploads: 'form' }),
    neutral('GET /voices', { listed: { '[].id': 'voice', 'data[].id': 'voice' } }),
    neutral('GET PATCH DELETE /voices/{voice}'),
    neutral('PATCH /voices/{voice}/accents'),
    neutral('DELETE /voices/{voice}/accents/{any}'),
    neutral('GET POST /pronunciation-dicts/', creates('pronunciation_dict')),
    neutral('GET PATCH DELETE /pronunciation-dicts/{pronunciation_dict}'),
    neutral('GET POST /datasets/', creates('dataset')),
    neutral('GET PATCH DELETE /datasets/{dataset}'),
    neutral('GET POST /datasets/{dataset}/files', { uploads: 'form' }),
    neutral('DELETE /datasets/{dataset}/files/{any}'),
    model('POST /fine-tunes/', STORED, { ...creates('fine_tune'), names: { dataset: 'dataset' } }),
    neutral('GET /fine-tunes/'),
    neutral('GET DELETE /fine-tunes/{fine_tune}'),
    neutral('GET /fine-tunes/{fine_tune}/voices'),
    ...AGENTS,
  ],
  mints: { 'POST /access-token': 'cartesia-token' },
  spelling: { uuids: true },
  errors: { error_code: '{code}', title: '{type}', message: '{message}', error: '{message}' },
  usage: 'openai',
  publicObjects: { voice: STOCK },
}
