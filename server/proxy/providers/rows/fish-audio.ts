import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** Fish Audio: https://docs.fish.audio/api-reference. A header names the model. */
export const fishAudio: ProviderRow = {
  id: 'fish-audio',
  name: 'Fish Audio',
  variable: 'FISH_AUDIO_API_KEY',
  base: 'https://api.fish.audio/v1',
  hosts: ['api.fish.audio'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/wallet/self/api-credit' },
  endpoints: [
    model('POST /v1/tts', {
      at: 'header',
      headers: ['model'],
      body: {
        required: [],
        also: ['model'],
        prose: ['text'],
        objects: { reference_id: 'voice', 'reference_id[]': 'voice' },
      },
    }),
    model(
      'POST /v1/asr',
      { at: 'path', body: { required: [], also: ['model'], multipart: true } },
      { modelName: 'fish-audio/asr' },
    ),
    // A voice is called a model here.
    neutral('POST /model', { ...creates('voice', '_id'), uploads: 'form' }),
    neutral('GET /model', { listed: { 'items[]._id': 'voice' } }),
    neutral('GET PATCH DELETE /model/{voice}'),
  ],
  admin: [/^\/wallet(?:$|\/)/],
  spelling: {},
  // Cloned voices and those of the library have the same form of ids.
  publicObjects: { voice: /^$/ },
  errors: { message: '{message}', status: '{status}' },
  usage: 'openai',
}
