import { messagesBody } from './anthropic.ts'
import type { EndpointRow, ModelPlace } from '../endpoint-row.ts'
import type { Operated } from '../cloud-resources.ts'
import { OPENAI_PREFIXES, type ModelNames } from '../id-spelling.ts'
import { NEW, objectRef, VERSION } from '../object-ref.ts'
import { BODY, form } from '../body-rules.ts'
import { OPENAI_ADMIN, openaiRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import { withTools } from '../openai-sockets.ts'
import type { ProviderRow } from '../provider.ts'
import type { ToolPlace } from '../tool-types.ts'
import { AZURE_TOOLS, OPENAI_TOOLS, STORED_AGENT } from '../tools.ts'

// The image tool's deployment is chosen by a header:
// learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
const IMAGE_DEPLOYMENT = ['x-ms-oai-image-generation-deployment']

/**
 * The operator's data is searched with the vectors of a deployment, also under the parameter names
 * of 2023: learn.microsoft.com/azure/ai-foundry/openai/references/on-your-data
 */
const SOURCES = ['data_sources[].parameters.', 'dataSources[].parameters.']
const EMBEDDING = SOURCES.flatMap((at) =>
  [
    'embedding_dependency.deployment_name',
    'embeddingDependency.deploymentName',
    'embeddingDeploymentName',
    'embedding_deployment_name',
  ].map((name) => at + name),
)
/** An address, or the search service's own model, instead. */
const ELSEWHERE = SOURCES.flatMap((at) =>
  [
    'embedding_dependency.endpoint',
    'embedding_dependency.model_id',
    'embeddingDependency.endpoint',
    'embeddingDependency.modelId',
    'embeddingEndpoint',
    'embedding_endpoint',
  ].map((name) => at + name),
)

/** Azure's tools. */
const inFoundry = (tools: readonly ToolPlace[] = []): ToolPlace[] =>
  tools.map((place) => (place.tools === OPENAI_TOOLS ? { ...place, tools: AZURE_TOOLS } : place))

/**
 * The deployment of a path; Azure ignores a body's `model` there, but one that is not allowed is
 * still refused.
 */
const deployment: ModelPlace = {
  at: 'path',
  headers: IMAGE_DEPLOYMENT,
  body: {
    ...BODY,
    required: [],
    also: ['model', 'tools[].model', ...EMBEDDING],
    stored: ELSEWHERE,
    tools: inFoundry(BODY.tools),
    multipart: true,
  },
}

/**
 * A fine-tuned model, under which name operators deploy it too:
 * `gpt-4o-mini-2024-07-18.ft-0e208cf33a6a466994aff31a08aba678`
 * (learn.microsoft.com/azure/ai-foundry/openai/how-to/fine-tuning). The name of any other
 * deployment does not say what it runs.
 */
const TUNED = /\.ft-[0-9a-f]{32}(?![0-9a-f])/i
const MODELS: ModelNames = {
  kinds: ['tuned_model'],
  refsOf: (name) => (TUNED.test(name) ? [objectRef('tuned_model', name.trim())] : []),
}

/**
 * Agents, whose names callers choose. Creating one again creates a new version, or returns the same
 * version if nothing has changed (@azure/ai-projects 2.0, `agents.createVersion`), so an agent
 * belongs to the creator of its first version.
 */
const agentRows = (project: string): EndpointRow[] => [
  model(`POST ${project}/agents`, STORED, {
    names: { name: `${NEW}agent` },
    creates: { name: 'agent', 'versions.latest.version': VERSION },
    chosen: true,
  }),
  neutral(`GET ${project}/agents`),
  neutral(`GET DELETE ${project}/agents/{agent}`),
  neutral(`GET ${project}/agents/{agent}/versions`),
  neutral(`GET DELETE ${project}/agents/{agent}/versions/{any}`),
  ...['', '/versions'].map((path) => model(`POST ${project}/agents/{agent}${path}`, STORED)),
]

/** How a response names a Foundry agent, which uses its own model. */
const AGENTS = ['agent', 'agent_reference']
const AGENT_TOOLS: readonly ToolPlace[] = AGENTS.map((at) => ({ at, tools: STORED_AGENT }))

/**
 * Objects with names in Foundry that a response may name:
 * learn.microsoft.com/azure/ai-foundry/agents
 */
const OF_FOUNDRY = {
  'tools[].memory_store_name': 'memory_store',
  ...Object.fromEntries(
    AGENTS.flatMap((at) => [at, `${at}.name`, `${at}.id`].map((place) => [place, 'agent'])),
  ),
} as const

/**
 * With a date as its version, the API takes the deployment from another parameter:
 * learn.microsoft.com/azure/ai-foundry/openai/realtime-audio-reference
 */
const DATED_REALTIME = 'GET /openai/realtime'

/**
 * One of OpenAI's rows, in which a Foundry agent may use its own model, or have tools that do
 * (`connected_agent`, `deep_research`).
 */
const inAzure = (row: EndpointRow): EndpointRow => {
  if (row.socket !== undefined)
    return {
      ...row,
      socket: withTools(row.socket, AZURE_TOOLS),
      ...(row.on === DATED_REALTIME && { model: { at: 'query', parameter: 'deployment' } }),
    }
  if (row.model?.at !== 'body') return row
  const { also = [], stored = [], tools = [], objects, ...rule } = row.model.body
  const isResponse = /\/responses(?:$|\/)/.test(row.on)
  const ofThreads = /\/threads\b/.test(row.on) ? ['assistant_id', 'agent_id'] : []
  const body = {
    ...rule,
    objects: { ...objects, ...(isResponse ? OF_FOUNDRY : {}) },
    also: [...also, ...EMBEDDING],
    stored: [...stored, ...AGENTS, ...ofThreads, ...ELSEWHERE],
    tools: [...inFoundry(tools), ...(isResponse ? AGENT_TOOLS : [])],
  }
  return { ...row, model: { ...row.model, headers: IMAGE_DEPLOYMENT, body } }
}

/**
 * Connections hold credentials, which the service sends to the server that a tool names; indexes,
 * queues and stores are reached with the resource's own identity:
 * learn.microsoft.com/azure/ai-foundry/agents/how-to/tools, …/openai/references/on-your-data
 */
const OPERATED: Operated = {
  named: {
    ...Object.fromEntries(
      ['project_connection_id', 'project_connection_ids', 'connection_id', 'connection_ids'].map(
        (key) => [key, 'connection'],
      ),
    ),
    connection_name: 'connection',
    connection: 'connection',
    index_name: 'search_index',
    index_asset_id: 'search_index',
    queue_name: 'queue',
    queue_service_endpoint: 'queue',
    input_blob: 'blob',
  },
  present: ['output_folder'],
  chosen: ['type', 'auth_type', 'authentication_type'],
  identities:
    /^(?:managed|(?:(?:system|user)_?assigned_?|project_?)?managed_?identity|(?:project_?)?managed_?identity_?(?:system|user)_?assigned)$/i,
}

/**
 * Azure OpenAI: the deployment is the model.
 * https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
export const azure: ProviderRow = {
  id: 'azure',
  name: 'Azure OpenAI',
  variable: 'AZURE_API_KEY',
  base: 'https://{resource}.openai.azure.com/openai/v1',
  hosts: [
    '{resource}.openai.azure.com',
    '{resource}.cognitiveservices.azure.com',
    '{resource}.services.ai.azure.com',
  ],
  auth: { header: 'api-key' },
  keyParameters: ['api-key'],
  probe: { path: '/openai/v1/models' },
  endpoints: [
    // Without `/v1` the version is a date in the query; the others are Foundry's addresses of a
    // project.
    ...[
      '/openai/v1',
      '/openai',
      '/api/projects/{project}/openai/v1',
      '/api/projects/{project}/openai',
      '/api/projects/{project}',
    ]
      .flatMap(openaiRows)
      .map(inAzure),
    ...agentRows('/api/projects/{project}'),
    model('POST /openai/deployments/{model:}/{any*}', deployment),
    neutral('GET /openai/models'),
    neutral('GET /openai/models/{any:}'),
    neutral('GET /openai/deployments'),
    model('POST /anthropic/v1/messages', messagesBody(''), { usage: 'anthropic' }),
    model('POST /models/chat/completions'),
    model('POST /models/embeddings'),
    model('POST /openai/v1/video/generations/jobs', form(), creates('video_job')),
    neutral('GET /openai/v1/video/generations/jobs'),
    neutral(
      'GET DELETE /openai/v1/video/generations/jobs/{video_job}',
      creates('generation', 'generations[].id'),
    ),
    neutral('GET /openai/v1/video/generations/{generation}'),
    ...['video', 'thumbnail'].map((part) =>
      neutral(`GET /openai/v1/video/generations/{generation}/content/${part}`),
    ),
    model('POST /mai/v1/images/generations'),
    model('POST /mai/v1/images/edits', form()),
    // Speech names its model in places that are not read: in a definition, in the name of a voice.
    ...['/speechtotext/transcriptions:transcribe', '/tts/cognitiveservices/v1'].map((path) =>
      model(`POST ${path}`, STORED, { auth: { header: 'Ocp-Apim-Subscription-Key' } }),
    ),
  ],
  // A started upload gets an address of the store that gives access to all of it:
  // learn.microsoft.com/rest/api/aifoundry/aiprojects/datasets/pending-upload
  minting: [
    /\/issuetoken($|[/:])/,
    /\/(getconnectionwithcredentials|credentials)($|[/:])/,
    /\/startpendingupload($|[/:])/,
  ],
  admin: OPENAI_ADMIN,
  spelling: {
    prefixes: { ...OPENAI_PREFIXES, task_: 'video_job', gen_: 'generation' },
    uuids: true,
    clouds: true,
    models: MODELS,
  },
  operated: OPERATED,
  chosenNames: true,
  errors: 'openai',
  // It sends a request to one deployment behind an endpoint, whatever the endpoint's traffic rules
  // say: learn.microsoft.com/azure/machine-learning/how-to-safely-rollout-online-endpoints
  accountChoice: ['azureml-model-deployment', 'x-ms-model-mesh-model-name', 'x-ms-deployment'],
  usage: 'openai',
}
