import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** Gladia: https://docs.gladia.io/api-reference. It has only one model, which no request names. */
export const gladia: ProviderRow = {
  id: 'gladia',
  name: 'Gladia',
  variable: 'GLADIA_API_KEY',
  base: 'https://api.gladia.io/v2',
  hosts: ['api.gladia.io'],
  auth: { header: 'x-gladia-key' },
  probe: { path: '/v2/pre-recorded?limit=1' },
  endpoints: [
    neutral('POST /v2/upload', { ...creates('audio', 'audio_metadata.id'), uploads: 'form' }),
    model(
      'POST /v2/pre-recorded',
      { at: 'path', body: { required: [], also: ['model'] } },
      { modelName: 'gladia/pre-recorded', ...creates('transcription') },
    ),
    neutral('GET /v2/pre-recorded', { listed: { 'items[].id': 'transcription' } }),
    neutral('GET DELETE /v2/pre-recorded/{transcription}'),
    neutral('GET /v2/pre-recorded/{transcription}/file'),
  ],
  // The address in the response contains a token.
  minting: [/\/live$/],
  spelling: { uuids: true },
  errors: { message: '{message}', error: { message: '{message}', code: '{status}' } },
  usage: 'openai',
}
