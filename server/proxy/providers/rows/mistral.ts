import { BODY, body, form, toolsIn, within } from '../body-rules.ts'
import { compatibleRows, deletesTuned } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import { MISTRAL_WORKFLOWS } from '../mistral-workflows.ts'
import type { ProviderRow } from '../provider.ts'
import { MISTRAL_TRANSCRIPTION } from '../transcription-sockets.ts'
import type { ToolPlace } from '../tool-types.ts'
import { MISTRAL_CONTENT, MISTRAL_GUARD, MISTRAL_TOOLS } from '../tools.ts'

const TOOLS = { 'tools[].library_ids[]': 'library', 'tools[].connector_id': 'connector' } as const
const AGENT = { agent_id: 'agent' } as const
const MESSAGES = { 'messages[].content[].file_id': 'file', ...TOOLS, ...AGENT } as const
const INPUTS = { 'inputs[].content[].file_id': 'file' } as const
const DOCUMENT = { 'document.file_id': 'file' } as const
const MANNED = { 'handoffs[]': 'agent', ...TOOLS } as const

/** Guardrails moderate with a model of their own. */
const GUARDS = [
  'guardrails[].moderation_llm_v1.model_name',
  'guardrails[].moderation_llm_v2.model_name',
]
const ALSO = [...(BODY.also ?? []), ...GUARDS]

/**
 * Parts that run models of their own: guardrails, tools and documents, wherever a call is in a
 * body.
 */
const running = (
  at: string,
): {
  readonly tools: readonly ToolPlace[]
  readonly texts: readonly string[]
  readonly prose: readonly string[]
} => ({
  tools: [
    ...toolsIn(at, MISTRAL_TOOLS),
    { at: `${at}guardrails[].moderation_llm_v1`, tools: MISTRAL_GUARD('mistral-moderation-2411') },
    { at: `${at}guardrails[].moderation_llm_v2`, tools: MISTRAL_GUARD('mistral-moderation-2603') },
    ...['messages', 'inputs'].map((list) => ({
      at: `${at}${list}[].content[]`,
      by: 'type',
      tools: MISTRAL_CONTENT,
    })),
  ],
  texts: [`${at}messages[].content`, `${at}inputs`, `${at}inputs[].content`],
  prose: [
    'messages[].content',
    'messages[].content[].text',
    'inputs',
    'inputs[].content',
    'inputs[].content[].text',
    'inputs[].result',
    'instructions',
    'prompt',
    'suffix',
  ].map((place) => at + place),
})

/** Files that tools write, and a new conversation, also one that is restarted. */
const WRITTEN = { 'outputs[].content[].file_id': 'file', 'content.file_id': 'file' } as const
const BEGUN = { creates: { conversation_id: 'conversation', ...WRITTEN } } as const
const LISTED_AGENTS = { '[].id': 'agent', 'data[].id': 'agent', 'agents[].id': 'agent' } as const
const OUTPUT = creates('file', 'output_file', 'error_file')

/** Mistral: https://docs.mistral.ai/api. Agents run a stored model. */
export const mistral: ProviderRow = {
  id: 'mistral',
  name: 'Mistral',
  variable: 'MISTRAL_API_KEY',
  base: 'https://api.mistral.ai/v1',
  hosts: ['api.mistral.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    // A stored agent uses its own model, whatever `model` says.
    ...compatibleRows('/v1', {
      also: ALSO,
      stored: ['agent_id'],
      ...running(''),
      objects: MESSAGES,
    }).filter((row) => !row.on.includes('/batches')),
    model(
      'POST /v1/fim/completions',
      body({ also: ALSO, stored: ['agent_id'], ...running(''), objects: MESSAGES }),
    ),
    model('POST /v1/agents/completions', STORED, { names: MESSAGES }),
    model('POST /v1/ocr', body({ objects: DOCUMENT })),
    model('POST /v1/classifications'),
    model('POST /v1/chat/classifications'),
    model('POST /v1/chat/moderations'),
    model('POST /v1/audio/transcriptions', form({ objects: { file_id: 'file' } })),
    model(
      'GET /v1/audio/transcriptions/realtime',
      { at: 'query' },
      {
        socket: MISTRAL_TRANSCRIPTION,
      },
    ),
    model('POST /v1/audio/speech', body({ objects: { voice_id: 'voice' } })),
    neutral('GET POST /v1/audio/voices', creates('voice', 'id', 'slug')),
    // A new name creates a new slug.
    neutral('GET PATCH DELETE /v1/audio/voices/{voice}', creates('voice', 'id', 'slug')),
    neutral('GET /v1/audio/voices/{voice}/sample'),
    model(
      'POST /v1/conversations',
      body({
        also: ALSO,
        stored: ['agent_id'],
        ...running(''),
        objects: { ...AGENT, ...INPUTS, ...TOOLS },
      }),
      { ...BEGUN, changes: false },
    ),
    neutral('GET /v1/conversations'),
    neutral('GET DELETE /v1/conversations/{conversation}'),
    model('POST /v1/conversations/{conversation}', STORED, { creates: WRITTEN, names: INPUTS }),
    model('POST /v1/conversations/{conversation}/restart', STORED, { ...BEGUN, names: INPUTS }),
    neutral('GET /v1/conversations/{conversation}/history'),
    neutral('GET /v1/conversations/{conversation}/messages'),
    model(
      'POST /v1/batch/jobs',
      body({
        stored: ['input_files[]', 'agent_id', 'requests[].body.agent_id'],
        also: [...ALSO, ...['model', ...ALSO].map((place) => `requests[].body.${place}`)],
        ...running('requests[].body.'),
        objects: {
          ...AGENT,
          'input_files[]': 'batch_input',
          ...within('requests[].body.', { ...MESSAGES, ...INPUTS, ...DOCUMENT }),
        },
      }),
      creates('batch'),
    ),
    neutral('GET /v1/batch/jobs'),
    neutral('GET /v1/batch/jobs/{batch}', OUTPUT),
    neutral('DELETE /v1/batch/jobs/{batch}'),
    neutral('POST /v1/batch/jobs/{batch}/cancel', OUTPUT),
    model(
      'POST /v1/fine_tuning/jobs',
      body({ objects: { 'training_files[].file_id': 'file', 'validation_files[]': 'file' } }),
      creates('fine_tuning_job'),
    ),
    neutral('GET /v1/fine_tuning/jobs'),
    neutral(
      'GET /v1/fine_tuning/jobs/{fine_tuning_job}',
      creates('tuned_model', 'fine_tuned_model'),
    ),
    neutral('POST /v1/fine_tuning/jobs/{fine_tuning_job}/cancel'),
    neutral('PATCH /v1/fine_tuning/models/{tuned_model}'),
    neutral('POST DELETE /v1/fine_tuning/models/{tuned_model}/archive'),
    deletesTuned('/v1'),
    neutral('GET /v1/files/{file}/url'),
    model(
      'POST /v1/agents',
      body({ also: ALSO, ...running(''), objects: MANNED }),
      creates('agent'),
    ),
    ...['', '/pages'].map((form) => neutral(`GET /v1/agents${form}`, { listed: LISTED_AGENTS })),
    neutral('GET DELETE /v1/agents/{agent}'),
    neutral('GET PUT DELETE /v1/agents/{agent}/aliases'),
    neutral('PATCH /v1/agents/{agent}/version'),
    neutral('GET /v1/agents/{agent}/versions'),
    neutral('GET /v1/agents/{agent}/versions/{any}'),
    model(
      'PATCH /v1/agents/{agent}',
      body({ required: [], also: ['model', ...ALSO], ...running(''), objects: MANNED }),
    ),
    neutral('GET POST /v1/libraries', creates('library')),
    neutral('GET PUT PATCH DELETE /v1/libraries/{library}'),
    neutral('GET /v1/libraries/{library}/documents'),
    // Documents in a library are read and summarized by models of Mistral's choice
    // (`tokens_processing_summary` of a document).
    model('POST /v1/libraries/{library}/documents', STORED, { uploads: 'form' }),
    neutral('GET PUT PATCH DELETE /v1/libraries/{library}/documents/{any}'),
    ...['status', 'text_content', 'signed-url', 'extracted-text-signed-url'].map((part) =>
      neutral(`GET /v1/libraries/{library}/documents/{any}/${part}`),
    ),
    model('POST /v1/libraries/{library}/documents/{any}/reprocess', STORED),
    ...['prompt', 'skill'].flatMap((kind) => [
      neutral(`GET POST /v2/${kind}s`, creates(kind)),
      neutral(`GET PATCH DELETE /v2/${kind}s/{${kind}}`),
      neutral(`GET POST /v2/${kind}s/{${kind}}/versions`),
      neutral(`GET PATCH /v2/${kind}s/{${kind}}/versions/{any}`),
    ]),
    // Connectors run stored tools.
    model('POST /v1/connectors', STORED, creates('connector')),
    neutral('GET /v1/connectors'),
    neutral('GET PATCH DELETE /v1/connectors/{connector}'),
    ...['tools', 'authentication_methods'].map((what) =>
      neutral(`GET /v1/connectors/{connector}/${what}`),
    ),
    model('POST /v1/connectors/{connector}/tools/{any}/call', STORED),
    ...MISTRAL_WORKFLOWS,
  ],
  minting: [
    /\/(audio|client)\/sessions($|[/:])/,
    /\/connectors\/[^/]+\/([^/]+\/)?(credentials|auth_url)($|[/:])/,
  ],
  // Observability shows the requests and responses of every key.
  admin: [
    /^\/v1\/(workspaces?|admin|users|billing|service-accounts|observability)($|[/:])/,
    // Machines of the account, and the sources of its searches.
    /^\/v1\/(workflows\/deployments|rag)($|[/:])/,
    // Sharing with others in the organization.
    /^\/v1\/(connectors|libraries)\/[^/]+\/(([^/]+\/)?share|[^/]+\/(activate|deactivate))($|[/:])/,
  ],
  chosenNames: true,
  errors: 'mistral',
  spelling: {
    prefixes: { ag_: 'agent', 'ag:': 'agent', 'ft:': 'tuned_model' },
    uuids: true,
    dialect: true,
  },
  // Preset voices have names (docs.mistral.ai/studio/audio/text-to-speech/voices); the others have
  // a UUID, and a slug that is known when it is created.
  publicObjects: { voice: /^(?![0-9a-f]{8}-[0-9a-f-]{27}$)/i },
  usage: 'openai',
}
