import { messagesBody } from './anthropic.ts'
import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import { realtimeSocket } from '../openai-sockets.ts'
import type { ProviderRow } from '../provider.ts'
import { XAI_TRANSCRIPTION } from '../transcription-sockets.ts'
import { XAI_TOOLS } from '../tools.ts'

// A stored file may be used wherever an address can:
// docs.x.ai/developers/model-capabilities/imagine/files/inputs
const SHOWN = {
  'image.file_id': 'file',
  'video.file_id': 'file',
  'reference_images[].file_id': 'file',
} as const

const TOOLS = { tools: toolsIn('', XAI_TOOLS) }

/** xAI: https://docs.x.ai/docs/api-reference. Speech in both directions names no model. */
export const xai: ProviderRow = {
  id: 'xai',
  name: 'xAI',
  variable: 'XAI_API_KEY',
  base: 'https://api.x.ai/v1',
  hosts: ['api.x.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  // The generated images: docs.x.ai/docs/guides/image-generations
  sites: [
    {
      hosts: ['imgen.x.ai', 'vidgen.x.ai'],
      anonymous: true,
      endpoints: [neutral('GET /{path*}')],
    },
  ],
  endpoints: [
    ...compatibleRows('/v1', TOOLS).map((row) =>
      row.creates?.['id'] === 'batch' ? { ...row, ...creates('batch', 'batch_id', 'id') } : row,
    ),
    // A deferred completion is fetched later.
    model('POST /v1/chat/completions', body(TOOLS), creates('completion', 'request_id')),
    neutral('GET DELETE /v1/responses/{response}'),
    neutral('GET /v1/chat/deferred-completion/{completion}', { usage: 'xai' }),
    model('POST /v1/messages', messagesBody(''), { usage: 'anthropic' }),
    model('POST /v1/complete', messagesBody(''), { usage: 'anthropic' }),
    model('POST /v1/tokenize-text'),
    ...['generations', 'edits', 'extensions'].map((verb) =>
      model(`POST /v1/videos/${verb}`, body({ objects: SHOWN }), creates('video', 'request_id')),
    ),
    neutral('GET /v1/videos/{video}', creates('file', 'video.file_output.file_id', 'video.url')),
    model(
      'POST /v1/tts',
      {
        at: 'path',
        body: { required: [], also: ['model'], prose: ['text'], objects: { voice_id: 'voice' } },
      },
      { modelName: 'xai/tts' },
    ),
    neutral('GET /v1/tts/voices'),
    neutral('GET POST /v1/custom-voices', creates('voice', 'voice_id')),
    neutral('GET PATCH DELETE /v1/custom-voices/{voice}'),
    neutral('GET /v1/custom-voices/{voice}/audio'),
    model(
      'POST /v1/stt',
      { at: 'path', body: { required: [], also: ['model'], multipart: true } },
      { modelName: 'xai/stt' },
    ),
    model(
      'GET /v1/stt',
      { at: 'path', body: { required: [] } },
      { modelName: 'xai/stt', socket: XAI_TRANSCRIPTION },
    ),
    model('GET /v1/realtime', { at: 'query' }, { socket: realtimeSocket(XAI_TOOLS) }),
    ...[
      'language-models',
      'image-generation-models',
      'video-generation-models',
      'embedding-models',
    ].flatMap((list) => [neutral(`GET /v1/${list}`), neutral(`GET /v1/${list}/{any:}`)]),
    neutral('POST /v1/batches/{batch}:cancel'),
    neutral('GET /v1/batches/{batch}/results'),
    neutral('GET /v1/batches/{batch}/requests'),
    model('POST /v1/batches/{batch}/requests', STORED),
    // In tools, a collection is called a vector store.
    neutral('GET /v1/collections', { listed: { 'collections[].collection_id': 'vector_store' } }),
    neutral('POST /v1/documents/search', {
      changes: false,
      names: { 'source.collection_ids[]': 'vector_store', 'collection_ids[]': 'vector_store' },
    }),
  ],
  mints: { 'POST /v1/realtime/client_secrets': 'xai-client-secret' },
  admin: [/\/(auth|teams?|billing)($|[/:])/],
  spelling: {
    prefixes: { file_: 'file', 'file-': 'file', batch_: 'batch', collection_: 'vector_store' },
    uuids: true,
    dialect: true,
  },
  errors: 'openai',
  // Ids of custom voices have eight characters:
  // docs.x.ai/developers/model-capabilities/audio/custom-voices.
  publicObjects: { voice: /^(?![0-9a-z]{8}$)/ },
  usage: 'xai',
}
