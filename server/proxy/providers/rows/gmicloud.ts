import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** GMI Cloud: https://docs.gmicloud.ai/inference-engine */
export const gmicloud: ProviderRow = {
  id: 'gmicloud',
  name: 'GMI Cloud',
  variable: 'GMI_CLOUD_APIKEY',
  base: 'https://api.gmi-serving.com/v1',
  hosts: ['api.gmi-serving.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
  spelling: { uuids: true, dialect: true },
  errors: 'openai',
  usage: 'openai',
}
