import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** Vercel v0: https://v0.app/docs/api/model. Its platform API administers the account. */
export const vercel: ProviderRow = {
  id: 'vercel',
  name: 'Vercel v0',
  variable: 'VERCEL_API_KEY',
  base: 'https://api.v0.dev/v1',
  hosts: ['api.v0.dev'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
  admin: [
    /^\/v\d\/(?:chats|projects|deployments|user|rate-limits|hooks|reports|integrations)(?:$|\/)/,
  ],
  spelling: { uuids: true, dialect: true },
  errors: 'openai',
  usage: 'openai',
}
