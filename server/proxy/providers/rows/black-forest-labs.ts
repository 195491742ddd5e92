import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** The path names the model; `finetune_id` names a fine-tuned one. */
const BODY = {
  required: [],
  also: ['model'],
  prose: ['prompt'],
  objects: { finetune_id: 'finetune' },
}

/**
 * Black Forest Labs: https://docs.bfl.ai/api-reference. Any region polls, and signed addresses of
 * delivery hosts hold the results.
 */
export const blackForestLabs: ProviderRow = {
  id: 'black-forest-labs',
  name: 'Black Forest Labs',
  variable: 'BFL_API_KEY',
  base: 'https://api.bfl.ai/v1',
  hosts: ['api.bfl.ai', 'api.*.bfl.ai'],
  auth: { header: 'x-key' },
  probe: { path: '/v1/credits' },
  sites: [
    {
      hosts: ['delivery-*.bfl.ai', 'delivery.*.bfl.ai'],
      anonymous: true,
      endpoints: [neutral('GET /{path*}')],
    },
  ],
  endpoints: [
    ...['get_result', 'poll', 'video-poll'].map((path) =>
      neutral(`GET /v1/${path}`, { asks: { id: 'task' } }),
    ),
    neutral('GET /v1/my_finetunes', { listed: { 'finetunes[]': 'finetune' } }),
    neutral('GET /v1/finetune_details', { asks: { finetune_id: 'finetune' } }),
    model('POST /v1/finetune', STORED, creates('finetune', 'finetune_id')),
    neutral('POST /v1/delete_finetune', { names: { finetune_id: 'finetune' } }),
    model('POST /v1/{model}', { at: 'path', body: BODY }, creates('task')),
  ],
  spelling: { uuids: true },
  errors: { detail: '{message}', message: '{message}', code: '{code}' },
  usage: 'openai',
}
