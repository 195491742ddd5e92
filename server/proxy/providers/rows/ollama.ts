import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** Text of people, tools and models. */
const SAID = ['messages[].content', 'prompt', 'system', 'input', 'input[]']
const NAMED = body({ tools: toolsIn('', CALLER_TOOLS), prose: SAID })

/**
 * Ollama's own API: https://docs.ollama.com/api. This row is its cloud; your own server is added
 * with `speaks: "ollama"`. Endpoints that change the models of a server are closed everywhere.
 */
export const ollama: ProviderRow = {
  id: 'ollama',
  name: 'Ollama',
  variable: 'OLLAMA_API_KEY',
  base: 'https://ollama.com/v1',
  hosts: ['ollama.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/api/tags' },
  endpoints: [
    ...['chat', 'generate', 'embed', 'embeddings'].map((what) => model(`POST /api/${what}`, NAMED)),
    // Servers before 0.1.33 read only `name`.
    model('POST /api/show', body({ also: ['name'] })),
    neutral('GET /api/tags', { listed: null }),
    neutral('GET /api/version', { listed: null }),
    model('POST /v1/systemone', NAMED),
    ...compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
  ],
  admin: [/^\/api\/(?:ps|me|signout|web_(?:search|fetch))$/],
  spelling: { uuids: true, dialect: true },
  errors: { error: '{message}' },
  usage: 'openai',
}
