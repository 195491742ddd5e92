import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** Cerebras: https://inference-docs.cerebras.ai/api-reference */
export const cerebras: ProviderRow = {
  id: 'cerebras',
  name: 'Cerebras',
  variable: 'CEREBRAS_API_KEY',
  base: 'https://api.cerebras.ai/v1',
  hosts: ['api.cerebras.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  // Their SDK warms its connection up with the last one.
  endpoints: [
    ...compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
    neutral('GET /v1/tcp_warming'),
  ],
  admin: [/\/(management|projects|users|billing|metrics)($|[/:])/],
  spelling: {
    prefixes: { 'file-': 'file', file_: 'file', batch_: 'batch' },
    uuids: true,
    dialect: true,
  },
  errors: 'cerebras',
  usage: 'openai',
}
