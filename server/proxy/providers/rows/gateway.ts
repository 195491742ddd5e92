import { messagesBody } from './anthropic.ts'
import type { ModelPlace } from '../endpoint-row.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, tryingOthers } from '../row-builders.ts'
import { gatewayRealtime } from '../openai-sockets.ts'
import type { ProviderRow } from '../provider.ts'
import { AI_SDK_TOOLS } from '../tools.ts'
import { gatewayTranscription } from '../transcription-sockets.ts'

/** Models to try in turn. */
const FALLBACKS = [
  'providerOptions.gateway.models[]',
  'providerOptions.gateway.models[].model',
  'models[]',
  'fallbacks[]',
  'fallbacks[].model',
]
/** Text of people, tools and models. */
const SAID = [
  'prompt',
  'prompt[].content',
  'prompt[].content[].text',
  'value',
  'values[]',
  'text',
  'instructions',
]
const NAMED = {
  at: 'header' as const,
  headers: ['ai-language-model-id', 'ai-model-id'],
  // Browsers cannot set headers of a WebSocket.
  parameter: 'ai-model-id',
  body: {
    required: [],
    also: ['model'],
    tools: [{ at: 'tools[]', by: 'id', tools: AI_SDK_TOOLS }],
    prose: SAID,
  },
} satisfies ModelPlace
/** A batch, whose requests also name their models; and the places of each. */
const BATCHED: ModelPlace = {
  ...NAMED,
  body: {
    required: [],
    also: [
      ...NAMED.body.also,
      'requests[].modelId',
      ...FALLBACKS.map((place) => `requests[].options.${place}`),
    ],
    tools: [{ at: 'requests[].options.tools[]', by: 'id', tools: AI_SDK_TOOLS }],
    prose: SAID.map((place) => `requests[].options.${place}`),
  },
}
const RUN = {
  ...NAMED,
  body: { ...NAMED.body, objects: { operation: 'operation', 'operation.id': 'operation' } },
}
const BATCH = { id: 'batch', batchId: 'batch', 'batch.id': 'batch' } as const
const KINDS = [
  'language',
  'embedding',
  'image',
  'video',
  'speech',
  'transcription',
  'reranking',
  'decision',
]
const VERSIONS = ['/v1/ai', '/v2/ai', '/v3/ai', '/v4/ai']

const ROWS = [
  ...VERSIONS.flatMap((at) => [
    ...KINDS.map((kind) => model(`POST ${at}/${kind}-model`, NAMED)),
    model(`GET ${at}/realtime-model`, NAMED, { socket: gatewayRealtime(FALLBACKS) }),
    model(`GET ${at}/transcription-model`, NAMED, { socket: gatewayTranscription(FALLBACKS) }),
    model(`POST ${at}/video-model/start`, NAMED, creates('operation', 'operation.id', 'operation')),
    model(`POST ${at}/video-model/status`, RUN, { changes: false }),
    model(`POST ${at}/batch/start`, BATCHED, creates('batch', 'id', 'batchId', 'batch.id')),
    neutral(`POST ${at}/batch/cancel`, { names: BATCH }),
    ...['status', 'results'].map((what) =>
      neutral(`POST ${at}/batch/${what}`, { names: BATCH, changes: false }),
    ),
  ]),
  // The list of models: `getAvailableModels` of @ai-sdk/gateway.
  ...['', ...VERSIONS].map((at) => neutral(`GET ${at}/config`)),
  ...compatibleRows('/v1'),
  model('POST /v1/messages', messagesBody(''), { usage: 'anthropic' }),
  neutral('GET /v1/models/{any*}'),
]

/**
 * Vercel's AI Gateway: https://vercel.com/docs/ai-gateway. The AI SDK names the model in a header.
 * The whole team's spending and requests are closed.
 */
export const gateway: ProviderRow = {
  id: 'gateway',
  name: 'Vercel AI Gateway',
  variable: 'AI_GATEWAY_API_KEY',
  base: 'https://ai-gateway.vercel.sh/v1',
  hosts: ['ai-gateway.vercel.sh'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/credits' },
  endpoints: tryingOthers(ROWS, { also: FALLBACKS }),
  // Vercel's deployments show which credential they have.
  passes: ['ai-gateway-auth-method'],
  mints: { 'POST /v1/realtime/client-secrets': 'gateway-client-secret' },
  admin: [/^\/v\d+\/(?:credits|report|generation)(?:$|\/)/],
  spelling: { uuids: true, dialect: true },
  errors: 'openai',
  usage: 'openai',
}
