import { inMessages } from './anthropic.ts'
import { ANY_KIND } from '../ids.ts'
import { type ModelNames } from '../id-spelling.ts'
import { objectRef } from '../object-ref.ts'
import { BODY, body, responding, toolsIn } from '../body-rules.ts'
import { compatibleRows, RESPONSE } from '../openai-rows.ts'
import { creates, model, neutral, STORED, tryingOthers } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import {
  OPENROUTER_CONTENT,
  OPENROUTER_PDF,
  OPENROUTER_PLUGINS,
  OPENROUTER_TOOLS,
} from '../tools.ts'

// `models` are tried in turn; a preset is stored and may contain models of its own; plugins and
// server tools may name one.
const OTHERS = {
  also: [
    'models[]',
    'fallbacks[].model',
    'tools[].parameters.model',
    'plugins[].model',
    'plugins[].models[]',
    'plugins[].allowed_models[]',
    'plugins[].analysis_models[]',
  ],
  // Nothing deeper than a sub-agent's own tools is read, and a sub-agent may have neither a stored
  // preset nor several models.
  stored: [
    'preset',
    'plugins[].preset',
    ...['models', 'fallbacks', 'preset', 'plugins'].map((name) => `tools[].parameters.${name}`),
    ...['tools[].parameters.tools[]', 'tools[].tools[]', 'plugins[].tools[]'].flatMap((at) =>
      ['tools', 'parameters.tools', 'parameters.models', 'parameters.preset'].map(
        (name) => `${at}.${name}`,
      ),
    ),
  ],
}
const ROUTED = {
  ...OTHERS,
  required: ['model', 'models[]'],
  also: [...(BODY.also ?? []), ...OTHERS.also],
  objects: { ...BODY.objects, preset: 'preset' },
  texts: ['messages[].content', 'input', 'input[]', 'input[].content'],
  tools: [
    ...toolsIn('', OPENROUTER_TOOLS),
    // The tools and models of a sub-agent or a panel.
    { at: 'tools[].parameters.tools[]', by: 'type', tools: OPENROUTER_TOOLS },
    { at: 'plugins[].tools[]', by: 'type', tools: OPENROUTER_TOOLS },
    { at: 'plugins[]', by: 'id', tools: OPENROUTER_PLUGINS },
    { at: 'plugins[].pdf', by: 'engine', tools: OPENROUTER_PDF },
    { at: 'messages[].content[]', by: 'type', tools: OPENROUTER_CONTENT },
  ],
}
/** A preset instead of a model, or after one: openrouter.ai/docs/guides/features/presets */
const MODELS: ModelNames = {
  kinds: ['preset'],
  refsOf: (name) =>
    name
      .split('@preset/')
      .slice(1)
      .map((preset) => objectRef('preset', preset)),
}
const routed = body(ROUTED)
/**
 * The cost of a completion, by its id: https://openrouter.ai/docs/api-reference/get-a-generation
 */
const GENERATION = creates('generation')

const ROWS = [
  ...compatibleRows('/api/v1', ROUTED).map((row) =>
    row.class === 'model' && /\/(?:chat\/)?completions$/.test(row.on)
      ? { ...row, ...GENERATION }
      : row,
  ),
  model(
    'POST /api/v1/messages',
    body({
      ...ROUTED,
      also: [...ROUTED.also, ...inMessages('').also],
      tools: [...ROUTED.tools, ...inMessages('', OPENROUTER_TOOLS).tools.slice(1)],
    }),
    { usage: 'anthropic', creates: { id: 'generation', 'message.id': 'generation' } },
  ),
  model('POST /api/alpha/responses', responding({ ...BODY, ...ROUTED }), RESPONSE),
  model('POST /api/v1/videos', routed, creates('video')),
  neutral('GET /api/v1/videos/{video}'),
  neutral('GET /api/v1/videos/{video}/content'),
  model('POST /api/v1/images', routed),
  ...['/api/v1/decisions', '/api/alpha/decisions', '/api/v1/systemone'].map((path) =>
    model(`POST ${path}`, routed),
  ),
  neutral('GET /api/v1/containers/{container}/files'),
  neutral('GET /api/v1/containers/{container}/files/{any}'),
  neutral('GET /api/v1/containers/{container}/files/{any}/content'),
  neutral('POST /api/v1/containers/{container}/files/{any}/promote', creates('file')),
  // An intern uses its own model and tools.
  model('POST /api/v1/interns', STORED, creates('intern', 'id', 'data.id')),
  neutral('GET /api/v1/interns'),
  neutral('GET DELETE /api/v1/interns/{intern}'),
  model('PATCH /api/v1/interns/{intern}', STORED),
  model('POST /api/v1/interns/{intern}/chat/completions', STORED),
  model('POST /api/v1/interns/{intern}/provision', STORED),
  neutral('POST /api/v1/interns/{intern}/suspend'),
  // Its response contains the request and its cost. A response's id may be that of its generation.
  neutral('GET /api/v1/generation', { asks: { id: ANY_KIND } }),
  neutral('POST /api/v1/generation/feedback', { names: { generation_id: ANY_KIND } }),
  ...['benchmarks', 'classifications/task', 'providers'].map((what) =>
    neutral(`GET /api/v1/${what}`, { listed: null }),
  ),
  // The cost of all sessions, by model.
  ...['app-rankings', 'rankings-daily', 'session-cost'].map((what) =>
    neutral(`GET /api/v1/datasets/${what}`, { listed: null }),
  ),
  neutral('GET /api/v1/model/{any*}'),
  ...['embeddings', 'images', 'videos'].map((kind) => neutral(`GET /api/v1/${kind}/models`)),
  neutral('GET /api/v1/images/models/{any*}'),
  neutral('GET /api/v1/endpoints/zdr'),
  neutral('GET /api/v1/models/{any*}'),
  neutral('GET /api/v1/parameters/{any*}'),
]

/** OpenRouter: https://openrouter.ai/docs/api-reference */
export const openrouter: ProviderRow = {
  id: 'openrouter',
  name: 'OpenRouter',
  variable: 'OPENROUTER_API_KEY',
  base: 'https://openrouter.ai/api/v1',
  hosts: ['openrouter.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  // Its list of models is public; this shows the rights of the key itself.
  probe: { path: '/api/v1/key' },
  endpoints: tryingOthers(ROWS, OTHERS),
  minting: [/\/(auth\/keys|oauth\/token)($|[/:])/, /\/api\/v1\/keys($|[/:])/],
  // The content of a generation is stored for the account, whatever key created it.
  admin: [
    /\/api\/v1\/(key|credits|activity|workspaces|guardrails|presets|byok|analytics|observability|users|billing|scim|vault|generation\/content)($|[/:])/,
    /^\/(?!api(\/|$))/,
  ],
  spelling: {
    prefixes: { 'gen-': 'generation', cntr_: 'container' },
    uuids: true,
    dialect: true,
    models: MODELS,
  },
  errors: 'openai',
  usage: 'openai',
}
