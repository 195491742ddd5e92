import type { EndpointRow, ModelPlace } from '../endpoint-row.ts'
import { GEMINI_BATCH, GEMINI_CALL } from '../gemini-bodies.ts'
import { GEMINI_LIVE, GEMINI_MUSIC } from '../gemini-sockets.ts'
import { BODY, toolsIn, within } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS, INTERACTION_TOOLS } from '../tools.ts'

const VERSIONS = ['v1beta', 'v1', 'v1alpha'] as const
/** Sockets of a version: a live session with a key, one with a token of `authTokens`, and music. */
const socketRows = (version: string): EndpointRow[] =>
  (
    [
      ['BidiGenerateContent', GEMINI_LIVE],
      ['BidiGenerateContentConstrained', GEMINI_LIVE],
      ['BidiGenerateMusic', GEMINI_MUSIC],
    ] as const
  ).map(([method, socket]) =>
    model(
      `GET /ws/google.ai.generativelanguage.${version}.GenerativeService.${method}`,
      { at: 'query' },
      { socket },
    ),
  )

/** An agent's environment: its name, or its contents. */
const environment = (at: string): Record<string, string> => ({
  [at]: 'environment',
  [`${at}.environment_id`]: 'environment',
  [`${at}.env.*.credential`]: 'credential',
  [`${at}.network.allowlist[].credential`]: 'credential',
})

const INTERACTION = {
  agent: 'agent',
  ...environment('environment'),
  previous_interaction_id: 'interaction',
  'generation_config.speech_config.voice': 'voice',
  'generation_config.speech_config[].voice': 'voice',
  'input.uri': 'file',
  'input[].uri': 'file',
  'input[].content[].uri': 'file',
  'input[].result[].uri': 'file',
  'tools[].file_search_store_names[]': 'file_search_store',
}

const SAID = [
  'input',
  'system_instruction',
  'input.text',
  'input[].text',
  'input[].content',
  'input[].content[].text',
  'input[].result',
]

const TRIGGER = { environment_id: 'environment', ...within('interaction.', INTERACTION) }

const call: ModelPlace = { at: 'path', body: GEMINI_CALL }
const batch: ModelPlace = { at: 'path', body: GEMINI_BATCH }
const operation = creates('operation', 'name')
const TUNED = 'tunedModels/{model}'

/** Calls on `models/{model}` and `tunedModels/{model}`. */
const modelRows = (version: string, kind: 'models' | 'tunedModels'): EndpointRow[] => {
  const at = `/${version}/${kind}/{model}`
  const rows = [
    model(`POST ${at}:generateContent`, call),
    model(`POST ${at}:streamGenerateContent`, call),
    model(`POST ${at}:countTokens`, call),
    model(`POST ${at}:embedContent`, call),
    model(`POST ${at}:batchEmbedContents`, call),
    model(`POST ${at}:predict`, call),
    model(`POST ${at}:predictLongRunning`, call, operation),
    model(`POST ${at}:batchGenerateContent`, batch, creates('batch', 'name')),
    model(`POST ${at}:asyncBatchEmbedContent`, batch, creates('batch', 'name')),
    ...[
      'generateMessage',
      'generateText',
      'embedText',
      'batchEmbedText',
      'countMessageTokens',
      'countTextTokens',
      'generateAnswer',
    ].map((verb) => model(`POST ${at}:${verb}`, call)),
    neutral(`GET ${at}`),
    neutral(`GET ${at}/operations`, { listed: { 'operations[].name': 'operation' } }),
    neutral(
      `GET ${at}/operations/{operation}`,
      creates('file', 'response.generateVideoResponse.generatedSamples[].video.uri'),
    ),
    neutral(`POST ${at}/operations/{operation}:cancel`),
  ]
  return kind === 'models' ? rows : rows.map((row) => ({ ...row, modelName: TUNED }))
}

const tunedModelRows = (v: string): EndpointRow[] => [
  model(`PATCH DELETE ${v}/tunedModels/{model}`, call, {
    modelName: TUNED,
    modelObject: 'tuned_model',
  }),
  model(
    `POST ${v}/tunedModels`,
    { at: 'body', body: { required: ['baseModel', 'base_model'], also: ['model'] } },
    {
      creates: { name: 'operation', 'metadata.tunedModel': 'tuned_model' },
      chosen: true,
      changes: true,
    },
  ),
  neutral(`POST ${v}/tunedModels/{tuned_model}:cancel`),
  neutral(`GET ${v}/models`),
  neutral(`GET ${v}/tunedModels`, { listed: { 'tunedModels[].name': 'tuned_model' } }),
]

/** An agent runs models of its own choice; its name is checked against the scope like a model's. */
export const interactionRows = (v: string): EndpointRow[] => [
  model(
    `POST ${v}/interactions`,
    {
      at: 'body',
      body: {
        required: ['model', 'agent'],
        also: ['tools[].model', 'agent_config.model', 'agentConfig.model'],
        tools: toolsIn('', INTERACTION_TOOLS),
        prose: SAID,
        objects: INTERACTION,
      },
    },
    {
      usage: 'interactions',
      creates: {
        id: 'interaction',
        'interaction.id': 'interaction',
        environment_id: 'environment',
        'interaction.environment_id': 'environment',
      },
    },
  ),
  neutral(`GET ${v}/interactions/{interaction}`, { usage: 'interactions' }),
  neutral(`DELETE ${v}/interactions/{interaction}`),
  neutral(`POST ${v}/interactions/{interaction}/cancel`),
]

/** Agents, their environments and tools. */
const agentRows = (v: string): EndpointRow[] => [
  model(`POST ${v}/agents`, STORED, {
    ...creates('agent', 'id', 'name'),
    chosen: true,
    names: { base_agent: 'agent', ...environment('base_environment') },
  }),
  neutral(`GET ${v}/agents`),
  neutral(`GET DELETE ${v}/agents/{agent}`),
  neutral(`GET POST ${v}/environments`, {
    ...creates('environment'),
    names: { from_environment: 'environment', 'network.allowlist[].credential': 'credential' },
  }),
  neutral(`GET DELETE ${v}/environments/{environment}`),
  neutral(`GET ${v}/environments/{environment}/files/{path*}`),
  neutral(`POST PUT /upload${v}/environments/{environment}/files/{path*}`, {
    uploads: 'body',
    asks: { upload_id: 'upload' },
  }),
  neutral(`GET POST ${v}/credentials`, creates('credential')),
  neutral(`GET PATCH DELETE ${v}/credentials/{credential}`),
  model(`POST ${v}/voices`, STORED, creates('voice')),
  neutral(`GET ${v}/voices`),
  neutral(`GET DELETE ${v}/voices/{voice}`),
]

const triggerRows = (v: string): EndpointRow[] => [
  model(`POST ${v}/triggers`, STORED, { ...creates('trigger'), names: TRIGGER }),
  neutral(`GET ${v}/triggers`),
  neutral(`GET DELETE ${v}/triggers/{trigger}`),
  model(`PATCH ${v}/triggers/{trigger}`, STORED, { names: TRIGGER }),
  model(`POST ${v}/triggers/{trigger}/executions`, STORED, {
    creates: { interaction_id: 'interaction', environment_id: 'environment' },
  }),
  neutral(`GET ${v}/triggers/{trigger}/executions`),
]

/** Files, batches that write them, and corpora. */
const fileRows = (v: string): EndpointRow[] => [
  neutral(`GET ${v}/files`),
  neutral(`GET DELETE ${v}/files/{file}`),
  neutral(`GET ${v}/files/{file}:download`),
  neutral(`POST ${v}/files`, { ...creates('file', 'file.name'), chosen: true }),
  neutral(`POST ${v}/files:register`, creates('file', 'files[].name')),
  neutral(`GET ${v}/generatedFiles`, { listed: { 'generatedFiles[].name': 'generated_file' } }),
  neutral(`GET ${v}/generatedFiles/{generated_file}`),
  neutral(`GET ${v}/batches`, { listed: { 'operations[].name': 'batch' } }),
  neutral(
    `GET DELETE ${v}/batches/{batch}`,
    creates('file', 'metadata.output.responsesFile', 'response.responsesFile'),
  ),
  neutral(`POST ${v}/batches/{batch}:cancel`),
  neutral(`GET ${v}/operations/{operation}`),
  neutral(`GET POST ${v}/corpora`, { ...creates('corpus', 'name'), chosen: true }),
  neutral(`GET PATCH DELETE ${v}/corpora/{corpus}`),
]

const fileSearchRows = (v: string): EndpointRow[] => [
  neutral(`GET ${v}/fileSearchStores`),
  model(
    `POST ${v}/fileSearchStores`,
    { at: 'body', body: { required: ['embeddingModel', 'embedding_model'] } },
    creates('file_search_store', 'name'),
  ),
  neutral(`GET DELETE ${v}/fileSearchStores/{file_search_store}`),
  neutral(`POST ${v}/fileSearchStores/{file_search_store}:importFile`, {
    ...operation,
    names: { fileName: 'file', file_name: 'file' },
  }),
  neutral(`GET ${v}/fileSearchStores/{file_search_store}/documents`),
  neutral(`GET DELETE ${v}/fileSearchStores/{file_search_store}/documents/{any}`),
  neutral(`GET ${v}/fileSearchStores/{file_search_store}/operations/{operation}`),
  neutral(`GET ${v}/fileSearchStores/{file_search_store}/upload/operations/{operation}`),
]

/** Upload and download of a file's bytes. */
const uploadRows = (v: string): EndpointRow[] => [
  neutral(`POST PUT /upload${v}/files`, {
    ...creates('file', 'file.name'),
    chosen: true,
    uploads: 'body',
    asks: { upload_id: 'upload' },
  }),
  neutral(`POST PUT /upload${v}/fileSearchStores/{file_search_store}:uploadToFileSearchStore`, {
    ...operation,
    uploads: 'body',
    asks: { upload_id: 'upload' },
  }),
  neutral(`GET /download${v}/files/{file}:download`),
]

/**
 * Google's OpenAI dialect reads its key from Authorization: ai.google.dev/gemini-api/docs/openai
 */
const dialectRows = (v: string): EndpointRow[] =>
  compatibleRows(`${v}/openai`, {
    tools: toolsIn('', CALLER_TOOLS),
    objects: { ...BODY.objects, 'extra_body.google.cached_content': 'cached_content' },
  }).map((row) => ({
    ...row,
    auth: { header: 'Authorization', scheme: 'Bearer' },
    usage: 'openai',
  }))

const versionRows = (version: string): EndpointRow[] => {
  const v = `/${version}`
  return [
    ...modelRows(version, 'models'),
    ...modelRows(version, 'tunedModels'),
    ...tunedModelRows(v),
    model(`POST ${v}/dynamic/{any}:generateContent`, STORED),
    model(`POST ${v}/dynamic/{any}:streamGenerateContent`, STORED),
    model(
      `POST ${v}/cachedContents`,
      { at: 'body', body: { ...GEMINI_CALL, required: ['model'], also: [] } },
      creates('cached_content', 'name'),
    ),
    neutral(`GET ${v}/cachedContents`),
    neutral(`GET PATCH DELETE ${v}/cachedContents/{cached_content}`),
    ...interactionRows(v),
    ...agentRows(v),
    ...triggerRows(v),
    model(`POST ${v}/decisions`),
    ...fileRows(v),
    ...fileSearchRows(v),
    ...uploadRows(v),
    ...dialectRows(v),
  ]
}

/** The batch surface, which wraps any other call in a multipart body. */
export const GOOGLE_MINTING: readonly RegExp[] = [/^\/batch($|[/:])/]

/**
 * An upload that was begun is named by its address, at any path of the host, and by a header:
 * https://ai.google.dev/api/files
 */
export const GOOGLE_UPLOADS = {
  asks: { upload_id: 'upload' },
  objectHeaders: { 'x-guploader-uploadid': 'upload' },
} as const

/** Gemini API: https://ai.google.dev/api */
export const google: ProviderRow = {
  id: 'google',
  name: 'Google Gemini',
  variable: 'GOOGLE_GENERATIVE_AI_API_KEY',
  base: 'https://generativelanguage.googleapis.com/v1beta',
  hosts: ['generativelanguage.googleapis.com'],
  auth: { header: 'x-goog-api-key' },
  probe: { path: '/v1beta/models?pageSize=1' },
  keyParameters: ['key', 'access_token'],
  endpoints: [...VERSIONS.flatMap(versionRows), ...VERSIONS.flatMap(socketRows)],
  mints: Object.fromEntries(
    VERSIONS.map((version) => [`POST /${version}/auth_tokens`, 'google-auth-token'] as const),
  ),
  minting: GOOGLE_MINTING,
  admin: [
    /\/permissions($|[/:])/,
    /:transferownership$/,
    /permissionservice\//,
    /\/webhooks($|[/:])/,
  ],
  // Its OpenAI dialect has ids of that form.
  spelling: {
    prefixes: { v1_: 'interaction' },
    dialect: true,
    collections: {
      files: 'file',
      cachedContents: 'cached_content',
      tunedModels: 'tuned_model',
      fileSearchStores: 'file_search_store',
      batches: 'batch',
      corpora: 'corpus',
      operations: 'operation',
      agents: 'agent',
      environments: 'environment',
      voices: 'voice',
      triggers: 'trigger',
      interactions: 'interaction',
      credentials: 'credential',
      generatedFiles: 'generated_file',
    },
  },
  chosenNames: true,
  errors: 'google',
  usage: 'gemini',
  accountChoice: ['x-goog-user-project'],
  ...GOOGLE_UPLOADS,
  // Stock voices have names, Google's agents are public, and an environment may be given by its
  // type: ai.google.dev/api/interactions-api.
  publicObjects: {
    voice: /^[A-Z][a-z]+$/,
    agent: /^(?:deep-research|antigravity|computer-use)(?:-|$)/,
    environment: /^(?:remote|none)$/,
  },
  // `openai` bodies write the bare name, cachedContents `models/…`, paths the bare name after
  // `models/`.
  modelNames: (name) =>
    name.startsWith('models/')
      ? [name.slice('models/'.length), name]
      : name.startsWith('tunedModels/')
        ? [name]
        : [name, `models/${name}`],
}
