import { messagesBody } from './anthropic.ts'
import { BODY, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

const FILES = {
  tools: toolsIn('', CALLER_TOOLS),
  objects: { ...BODY.objects, 'messages[].content[].file_id': 'file' },
}

/** DeepSeek: https://api-docs.deepseek.com */
export const deepseek: ProviderRow = {
  id: 'deepseek',
  name: 'DeepSeek',
  variable: 'DEEPSEEK_API_KEY',
  base: 'https://api.deepseek.com',
  hosts: ['api.deepseek.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/models' },
  endpoints: [
    ...['', '/v1', '/beta', '/beta/v1'].flatMap((prefix) => compatibleRows(prefix, FILES)),
    model('POST /anthropic/v1/messages', messagesBody(''), { usage: 'anthropic' }),
  ],
  admin: [/\/user($|[/:])/],
  spelling: { prefixes: { 'file-': 'file', file_: 'file' }, uuids: true, dialect: true },
  errors: 'openai',
  usage: 'openai',
}
