import { BODY, toolsIn } from '../body-rules.ts'
import { compatibleRows, deletesTuned } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'
import { GROQ_TOOLS } from '../tools.ts'

/**
 * Groq: https://console.groq.com/docs/api-reference. Compound systems choose among models that the
 * body may set.
 */
export const groq: ProviderRow = {
  id: 'groq',
  name: 'Groq',
  variable: 'GROQ_API_KEY',
  base: 'https://api.groq.com/openai/v1',
  hosts: ['api.groq.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/openai/v1/models' },
  endpoints: [
    ...compatibleRows('/openai/v1', {
      also: [
        ...(BODY.also ?? []),
        'compound_custom.models.answering_model',
        'compound_custom.models.reasoning_model',
      ],
      tools: toolsIn('', GROQ_TOOLS),
    }),
    deletesTuned('/openai/v1'),
  ],
  admin: [/\/(projects|fine_tunings)($|[/:])/],
  spelling: {
    prefixes: { file_: 'file', batch_: 'batch', resp_: 'response' },
    uuids: true,
    dialect: true,
  },
  errors: 'groq',
  usage: 'openai',
  accountHeaders: ['groq-organization'],
}
