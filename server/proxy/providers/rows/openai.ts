import { agentRows } from '../openai-agents.ts'
import { OPENAI_PREFIXES } from '../id-spelling.ts'
import { OPENAI_ADMIN, openaiRows } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'

/** OpenAI: https://platform.openai.com/docs/api-reference */
export const openai: ProviderRow = {
  id: 'openai',
  name: 'OpenAI',
  variable: 'OPENAI_API_KEY',
  base: 'https://api.openai.com/v1',
  hosts: ['api.openai.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [...openaiRows('/v1'), ...agentRows('/v1')],
  mints: {
    'POST /v1/realtime/client_secrets': 'openai-client-secret',
    'POST /v1/realtime/sessions': 'openai-session',
    'POST /v1/realtime/transcription_sessions': 'openai-transcription-session',
  },
  spelling: { prefixes: OPENAI_PREFIXES },
  admin: OPENAI_ADMIN,
  errors: 'openai',
  usage: 'openai',
  accountChoice: ['openai-organization', 'openai-project'],
}
