import { inMessages } from './anthropic.ts'
import type { Operated } from '../cloud-resources.ts'
import type { EndpointRow, ModelPlace } from '../endpoint-row.ts'
import type { BodyRule } from '../body-rule.ts'
import { GEMINI_ROUTED, GEMINI_SAID, GEMINI_STORED } from '../gemini-bodies.ts'
import { GOOGLE_MINTING, GOOGLE_UPLOADS, interactionRows } from './google.ts'
import { body, toolsIn } from '../body-rules.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS, GEMINI_TOOL_KEYS } from '../tools.ts'

/** The path names the model; an Anthropic body inside may bring an advisor or fallbacks. */
const CALL: BodyRule = {
  required: [],
  also: ['model', 'requests[].model', ...inMessages('').also, ...GEMINI_ROUTED],
  texts: inMessages('').texts,
  tools: inMessages('').tools,
  stored: GEMINI_STORED,
  // A body in Anthropic's, Mistral's or OpenAI's dialect has tools with a type or a name.
  keyedTools: { at: ['tools[]'], keys: GEMINI_TOOL_KEYS, others: ['type', 'name'] },
  prose: [
    ...GEMINI_SAID,
    'contents[].parts[].functionCall.args.**',
    'contents[].parts[].functionResponse.response.**',
    'messages[].content[].input.**',
  ],
  objects: { cachedContent: 'cached_content', cached_content: 'cached_content' },
}
const call: ModelPlace = { at: 'path', body: CALL }
/** A call in Gemini's own dialect. */
const gemini: ModelPlace = {
  at: 'path',
  body: { ...CALL, keyedTools: { at: ['tools[]'], keys: GEMINI_TOOL_KEYS } },
}
const poll: ModelPlace = {
  at: 'path',
  body: { ...CALL, objects: { operationName: 'operation', operation_name: 'operation' } },
}
const named = { modelName: 'publishers/{publisher}/models/{model}' }

/** Calls on `publishers/{publisher}/models/{model}`; express mode has them without a project. */
const publisherRows = (at: string): EndpointRow[] => [
  ...['generateContent', 'streamGenerateContent', 'countTokens', 'computeTokens'].map((verb) =>
    model(`POST ${at}/publishers/{publisher}/models/{model}:${verb}`, gemini, named),
  ),
  ...['embedContent', 'predict', 'rawPredict', 'streamRawPredict'].map((verb) =>
    model(`POST ${at}/publishers/{publisher}/models/{model}:${verb}`, call, named),
  ),
  model(`POST ${at}/publishers/{publisher}/models/{model}:predictLongRunning`, call, {
    ...named,
    ...creates('operation', 'name'),
  }),
  model(`POST ${at}/publishers/{publisher}/models/{model}:fetchPredictOperation`, poll, named),
  neutral(`GET ${at}/publishers/{publisher}/models`),
  neutral(`GET ${at}/publishers/{publisher}/models/{any}`),
]

/** Jobs, whose models are named in their input, and their kinds. */
const JOBS = { batchPredictionJobs: 'batch', tuningJobs: 'tuning_job' } as const

const versionRows = (version: string): EndpointRow[] => {
  const project = `/${version}/projects/{project}/locations/{location}`
  return [
    ...publisherRows(`/${version}`),
    ...publisherRows(project),
    ...interactionRows(project),
    model(
      `POST ${project}/endpoints/openapi/chat/completions`,
      body({ tools: toolsIn('', CALLER_TOOLS) }),
      { usage: 'openai' },
    ),
    model(`POST ${project}/endpoints/{endpoint}:{any}`, STORED),
    model(
      `POST ${project}/cachedContents`,
      {
        at: 'body',
        body: {
          required: ['model'],
          stored: GEMINI_STORED,
          keyedTools: { at: ['tools[]'], keys: GEMINI_TOOL_KEYS },
        },
      },
      creates('cached_content', 'name'),
    ),
    neutral(`GET PATCH DELETE ${project}/cachedContents/{cached_content}`),
    ...Object.entries(JOBS).flatMap(([jobs, kind]) => [
      model(`POST ${project}/${jobs}`, STORED, creates(kind, 'name')),
      neutral(`GET ${project}/${jobs}`),
      neutral(
        `GET DELETE ${project}/${jobs}/{${kind}}`,
        kind === 'tuning_job' ? creates('endpoint', 'tunedModel.endpoint') : {},
      ),
      neutral(`POST ${project}/${jobs}/{${kind}}:cancel`),
    ]),
  ]
}

/**
 * How an API that a call names is authenticated: by one of the project's secrets, or its accounts
 * (cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1/Tool, `AuthConfig`).
 */
const OPERATED: Operated = {
  named: {
    apiKeySecret: 'secret',
    apiKeySecretVersion: 'secret',
    credentialSecret: 'secret',
    accessTokenSecret: 'secret',
  },
  present: ['googleServiceAccountConfig', 'oidcConfig'],
  chosen: ['authType', 'serviceAccount'],
  identities: /^(?:GOOGLE_SERVICE_ACCOUNT_AUTH|OIDC_AUTH)$|\.gserviceaccount\.com$/,
}

/**
 * Vertex AI in express mode:
 * https://cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode/overview
 */
export const vertex: ProviderRow = {
  id: 'vertex',
  name: 'Google Vertex AI',
  variable: 'GOOGLE_VERTEX_API_KEY',
  base: 'https://aiplatform.googleapis.com/v1/publishers/google',
  hosts: ['aiplatform.googleapis.com'],
  auth: { header: 'x-goog-api-key' },
  // Express mode has no list that a key can read; counting tokens is free.
  probe: {
    path: '/v1/publishers/google/models/gemini-2.5-flash:countTokens',
    headers: ['Content-Type', 'application/json'],
    body: '{"contents":[{"role":"user","parts":[{"text":"x"}]}]}',
  },
  keyParameters: ['key'],
  elsewhere: {
    hosts: ['{region}-aiplatform.googleapis.com', 'aiplatform.{region}.rep.googleapis.com'],
    auth: { header: 'Authorization', scheme: 'Bearer' },
  },
  endpoints: ['v1', 'v1beta1'].flatMap(versionRows),
  minting: GOOGLE_MINTING,
  // The project's own models and endpoints are copied, deployed and removed for all users.
  admin: [
    /:(set|get|testiam)iampolic(y|ies)$/,
    /:testiampermissions$/,
    /:(?:un)?deploymodel$/,
    /:mutatedeployedmodel$/,
    /\/locations\/[^/]+\/models(?:\/[^/:]+)?:/,
  ],
  spelling: {
    collections: {
      cachedContents: 'cached_content',
      batchPredictionJobs: 'batch',
      tuningJobs: 'tuning_job',
      operations: 'operation',
      interactions: 'interaction',
      ragCorpora: 'rag_corpus',
      ragFiles: 'rag_file',
      reasoningEngines: 'reasoning_engine',
      endpoints: 'endpoint',
      dataStores: 'data_store',
    },
    clouds: true,
  },
  operated: OPERATED,
  chosenNames: true,
  errors: 'google',
  usage: 'gemini',
  accountChoice: ['x-goog-user-project'],
  ...GOOGLE_UPLOADS,
  modelNames: (name) => {
    const found =
      /^(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/([^/]+)\/models\/([^/]+)$/.exec(name)
    const [, publisher, id] = found ?? []
    if (publisher === undefined || id === undefined) return [name]
    const long = `publishers/${publisher}/models/${id}`
    // The AI SDK names Google's and Anthropic's models without their publisher.
    const isBare = publisher === 'google' || (publisher === 'anthropic' && id.startsWith('claude-'))
    return isBare ? [id, `${publisher}/${id}`, long] : [`${publisher}/${id}`, long]
  },
}
