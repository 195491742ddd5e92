import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** BytePlus ModelArk (Seed, Seedance, Seedream): https://docs.byteplus.com/en/docs/ModelArk */
export const bytedance: ProviderRow = {
  id: 'bytedance',
  name: 'ByteDance ModelArk',
  variable: 'ARK_API_KEY',
  base: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  hosts: ['ark.*.bytepluses.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/api/v3/contents/generations/tasks?page_size=1' },
  endpoints: [
    ...compatibleRows('/api/v3', { tools: toolsIn('', CALLER_TOOLS) }),
    model(
      'POST /api/v3/contents/generations/tasks',
      body({ prose: ['content[].text'] }),
      creates('task'),
    ),
    model('POST /api/v3/context/create', body(), creates('context')),
    model(
      'POST /api/v3/context/chat/completions',
      body({ tools: toolsIn('', CALLER_TOOLS), objects: { context_id: 'context' } }),
    ),
    // A bot is the operator's, and runs the model stored with it.
    model('POST /api/v3/bots/chat/completions', STORED, { names: { model: 'bot' } }),
    neutral('GET /api/v3/contents/generations/tasks'),
    neutral('GET DELETE /api/v3/contents/generations/tasks/{task}'),
  ],
  spelling: {
    prefixes: { 'cgt-': 'task', 'ctx-': 'context', 'bot-': 'bot' },
    uuids: true,
    dialect: true,
  },
  errors: 'openai',
  usage: 'openai',
}
