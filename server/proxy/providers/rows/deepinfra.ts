import { messagesBody } from './anthropic.ts'
import type { ModelNames } from '../id-spelling.ts'
import { objectRef } from '../object-ref.ts'
import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** `deploy_id:abc` is an account's own deployment. */
const MODELS: ModelNames = {
  kinds: ['deployment'],
  refsOf: (name) =>
    /^\s*deploy_id:/i.test(name)
      ? [objectRef('deployment', name.replace(/^\s*deploy_id:/i, ''))]
      : [],
}

/** DeepInfra: https://deepinfra.com/docs/api-reference */
export const deepinfra: ProviderRow = {
  id: 'deepinfra',
  name: 'DeepInfra',
  variable: 'DEEPINFRA_API_KEY',
  base: 'https://api.deepinfra.com/v1/openai',
  hosts: ['api.deepinfra.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/me' },
  endpoints: [
    ...compatibleRows('/v1/openai', { tools: toolsIn('', CALLER_TOOLS) }),
    model('POST /anthropic/v1/messages', messagesBody(''), { usage: 'anthropic' }),
    model('POST /v1/inference/{model*}', {
      at: 'path',
      body: { required: [], also: ['model'], multipart: true, prose: ['input', 'prompt'] },
    }),
    neutral('GET /models/list'),
  ],
  admin: [
    /^\/(?:v\d\/)?(?:me|deploy|deployments?|payment|logs|lora|gpu_rental|cli|config)(?:$|\/)/,
  ],
  spelling: { uuids: true, dialect: true, models: MODELS },
  errors: {
    error: { message: '{message}', type: '{type}', param: null, code: '{code}' },
    detail: { error: '{message}' },
  },
  usage: 'openai',
}
