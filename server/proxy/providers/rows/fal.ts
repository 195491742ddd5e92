import type { BodyRule } from '../body-rule.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** The path names the model, whose input has any form. */
const INPUT: BodyRule = {
  required: [],
  also: ['model', 'model_name'],
  prose: ['prompt', 'text', 'input.prompt'],
}

/**
 * fal: https://docs.fal.ai/model-endpoints. Models run synchronously at fal.run, or in a queue that
 * is polled; results are files on a CDN.
 */
export const fal: ProviderRow = {
  id: 'fal',
  name: 'fal',
  variable: 'FAL_API_KEY',
  base: 'https://queue.fal.run',
  hosts: ['queue.fal.run'],
  auth: { header: 'Authorization', scheme: 'Key' },
  probe: {
    path: '/fal-ai/flux/requests/00000000-0000-0000-0000-000000000000/status',
    opens: [404, 422],
  },
  sites: [
    // Uploads begin here, and continue at an address for that file:
    // https://docs.fal.ai/model-apis/client
    {
      hosts: ['rest.fal.ai', 'rest.alpha.fal.ai'],
      endpoints: ['initiate', 'initiate-multipart'].map((way) =>
        neutral(`POST /storage/upload/${way}`),
      ),
    },
    { hosts: ['fal.run'], endpoints: [model('POST /{model*}', { at: 'path', body: INPUT })] },
    {
      hosts: ['fal.media', '*.fal.media'],
      anonymous: true,
      endpoints: [neutral('GET /{path*}')],
    },
  ],
  endpoints: [
    neutral('GET /{any*}/requests/{request}'),
    neutral('GET /{any*}/requests/{request}/status'),
    neutral('GET /{any*}/requests/{request}/status/stream'),
    neutral('PUT POST /{any*}/requests/{request}/cancel'),
    model('POST /{model*}', { at: 'path', body: INPUT }, creates('request', 'request_id')),
  ],
  spelling: { uuids: true },
  errors: { detail: '{message}', error: { message: '{message}', code: '{status}' } },
  usage: 'openai',
  // The AI SDK leaves out `fal-ai/` in some names. Names in other namespaces always have their
  // owner.
  modelNames: (name) => {
    const bare = /^fal-ai\/([^/]+)$/.exec(name)?.[1]
    return bare === undefined ? [name] : [name, bare]
  },
}
