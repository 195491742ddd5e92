import { model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { DEEPGRAM_SPEECH } from '../speech-sockets.ts'
import { DEEPGRAM_TRANSCRIPTION } from '../transcription-sockets.ts'

/**
 * `?model=general&tier=nova` is the model `nova-general`:
 * https://developers.deepgram.com/docs/tier
 */
const IN_QUERY = { at: 'query', qualifiers: ['tier'] } as const

/** Deepgram: https://developers.deepgram.com/reference. The query names the model. */
export const deepgram: ProviderRow = {
  id: 'deepgram',
  name: 'Deepgram',
  variable: 'DEEPGRAM_API_KEY',
  base: 'https://api.deepgram.com/v1',
  hosts: ['api.deepgram.com'],
  auth: { header: 'Authorization', scheme: 'Token' },
  probe: { path: '/v1/projects' },
  endpoints: [
    ...['/v1', '/v2'].flatMap((at) => [
      model(`GET ${at}/listen`, IN_QUERY, { socket: DEEPGRAM_TRANSCRIPTION }),
      model(`GET ${at}/speak`, IN_QUERY, { socket: DEEPGRAM_SPEECH }),
    ]),
    model('POST /v1/listen', IN_QUERY, { uploads: 'body' }),
    ...['/v1', '/v2'].map((at) => model(`POST ${at}/speak`, IN_QUERY)),
    // Text analysis has no choice of model.
    model(
      'POST /v1/read',
      { at: 'path', body: { required: [], also: ['model'], prose: ['text'] } },
      { modelName: 'deepgram/read' },
    ),
    neutral('GET /v1/models'),
    neutral('GET /v1/models/{any:}'),
  ],
  mints: { 'POST /v1/auth/grant': 'deepgram-grant' },
  admin: [/^\/v\d\/(?:projects|onprem|agents?)(?:$|\/)/],
  spelling: { uuids: true },
  errors: {
    err_code: '{code}',
    err_msg: '{message}',
    error: { message: '{message}', code: '{code}' },
    message: '{message}',
  },
  usage: 'openai',
}
