import { compatibleRows } from './openai-rows.ts'
import type { ProviderRow } from './provider.ts'

/** Cerebras: https://inference-docs.cerebras.ai/api-reference */
export const cerebras: ProviderRow = {
  id: 'cerebras',
  name: 'Cerebras',
  base: 'https://api.cerebras.ai/v1',
  hosts: ['api.cerebras.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: compatibleRows('/v1'),
  admin: [/\/(management|projects|users|billing|metrics)($|[/:])/],
  errors: 'cerebras',
  usage: 'openai',
}
