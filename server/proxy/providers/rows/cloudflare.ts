import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

const AT = '/client/v4/accounts/{account}/ai'

/**
 * Workers AI: https://developers.cloudflare.com/workers-ai/get-started/rest-api. The rest of
 * Cloudflare's API administers the account: it is closed, whatever the token allows.
 */
export const cloudflare: ProviderRow = {
  id: 'cloudflare',
  name: 'Cloudflare Workers AI',
  variable: 'CLOUDFLARE_API_TOKEN',
  base: 'https://api.cloudflare.com/client/v4',
  hosts: ['api.cloudflare.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/client/v4/user/tokens/verify' },
  endpoints: [
    model(
      `POST ${AT}/run/{model*}`,
      {
        at: 'path',
        body: {
          required: [],
          also: ['model'],
          prose: ['prompt', 'text', 'messages[].content'],
          // Polls queued requests:
          // https://developers.cloudflare.com/workers-ai/features/batch-api/rest-api
          objects: { request_id: 'batch' },
        },
      },
      creates('batch', 'result.request_id'),
    ),
    ...compatibleRows(`${AT}/v1`, { tools: toolsIn('', CALLER_TOOLS) }).filter(({ on }) =>
      /\/(?:chat\/completions|completions|embeddings|responses)$/.test(on),
    ),
    neutral(`GET ${AT}/models/search`, { listed: null }),
    neutral(`GET ${AT}/models/schema`, { listed: null }),
  ],
  admin: [/^\/(?!client\/v4\/accounts\/[^/]+\/ai\/(?:run|v1|models)\/)/],
  spelling: { uuids: true, dialect: true },
  errors: {
    success: false,
    errors: [{ code: '{code}', message: '{message}' }],
    error: { message: '{message}', type: '{type}', param: null, code: '{code}' },
  },
  usage: 'openai',
}
