import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** QuiverAI: https://docs.quiver.ai */
export const quiverai: ProviderRow = {
  id: 'quiverai',
  name: 'QuiverAI',
  variable: 'QUIVERAI_API_KEY',
  base: 'https://api.quiver.ai/v1',
  hosts: ['api.quiver.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    ...compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
    model('POST /v1/svgs/generations', body({ prose: ['prompt', 'instructions'] })),
    model('POST /v1/svgs/vectorizations', body({ prose: ['prompt', 'instructions'] })),
  ],
  spelling: { uuids: true, dialect: true },
  errors: {
    message: '{message}',
    code: '{code}',
    error: { message: '{message}', type: '{type}', param: null, code: '{code}' },
  },
  usage: 'openai',
}
