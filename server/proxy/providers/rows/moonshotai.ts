import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** Moonshot AI (Kimi): https://platform.moonshot.ai/docs/api */
export const moonshotai: ProviderRow = {
  id: 'moonshotai',
  name: 'Moonshot AI',
  variable: 'MOONSHOT_API_KEY',
  base: 'https://api.moonshot.ai/v1',
  hosts: ['api.moonshot.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    ...compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
    model('POST /v1/tokenizers/estimate-token-count'),
  ],
  spelling: { uuids: true, dialect: true },
  errors: 'openai',
  usage: 'openai',
}
