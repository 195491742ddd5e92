import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** LMNT: https://docs.lmnt.com/api-reference */
export const lmnt: ProviderRow = {
  id: 'lmnt',
  name: 'LMNT',
  variable: 'LMNT_API_KEY',
  base: 'https://api.lmnt.com/v1',
  hosts: ['api.lmnt.com'],
  auth: { header: 'x-api-key' },
  probe: { path: '/v1/account' },
  endpoints: [
    ...['', '/bytes'].map((form) =>
      model(`POST /v1/ai/speech${form}`, {
        at: 'body',
        body: {
          required: ['model'],
          prose: ['text'],
          objects: { voice: 'voice' },
          multipart: true,
        },
      }),
    ),
    neutral('GET /v1/ai/voice/list', { listed: { '[].id': 'voice' } }),
    neutral('POST /v1/ai/voice', { ...creates('voice'), uploads: 'form' }),
    neutral('GET PUT DELETE /v1/ai/voice/{voice}'),
  ],
  spelling: {},
  errors: { error: { message: '{message}', code: '{status}' } },
  usage: 'openai',
  // Its own voices have a first name; custom voices have a long id.
  publicObjects: { voice: /^[a-z]{2,16}$/ },
}
