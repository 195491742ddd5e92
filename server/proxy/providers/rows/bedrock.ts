import type { ModelPlace } from '../endpoint-row.ts'
import type { BodyRule } from '../body-rule.ts'
import { inMessages, messagesBody } from './anthropic.ts'
import { OPENAI_PREFIXES, type ModelNames } from '../id-spelling.ts'
import { objectRef } from '../object-ref.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/**
 * An Anthropic body, and the fields of one that Converse passes on: they may bring an advisor or
 * fallbacks.
 */
const INSIDE = ['', 'additionalModelRequestFields.'].map((at) => inMessages(at))
/** The model is in the path. */
const CALL: BodyRule = {
  required: [],
  also: ['model', 'additionalModelRequestFields.model', ...INSIDE.flatMap(({ also }) => also)],
  texts: INSIDE.flatMap(({ texts }) => texts),
  tools: INSIDE.flatMap(({ tools }) => tools),
  prose: [
    'system[].text',
    'messages[].content[].text',
    'messages[].content[].toolUse.input.**',
    'messages[].content[].input.**',
    'messages[].content[].toolResult.content[].text',
    'messages[].content[].toolResult.content[].json.**',
    'messages[].content',
  ],
}
const call: ModelPlace = { at: 'path', body: CALL }

/**
 * The question:
 * docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_RetrieveAndGenerate.html
 */
const RETRIEVED = {
  sessionId: 'session',
  'retrieveAndGenerateConfiguration.knowledgeBaseConfiguration.knowledgeBaseId': 'knowledge_base',
} as const

/**
 * Everything with an account's number except the profiles that AWS defines: prompts, purchased
 * throughput, tuned or imported models.
 */
const OF_ACCOUNT = /^arn:aws[a-z-]*:bedrock:[^:]*:\d+:(?!inference-profile\/)/
const MODELS: ModelNames = {
  kinds: ['tuned_model'],
  refsOf: (name) => (OF_ACCOUNT.test(name) ? [objectRef('tuned_model', name)] : []),
}

/** Amazon Bedrock with a bearer token: https://docs.aws.amazon.com/bedrock/latest/APIReference */
export const bedrock: ProviderRow = {
  id: 'bedrock',
  name: 'Amazon Bedrock',
  variable: 'AWS_BEARER_TOKEN_BEDROCK',
  base: 'https://bedrock-runtime.{region}.amazonaws.com',
  hosts: [
    'bedrock-runtime.{region}.amazonaws.com',
    'bedrock-agent-runtime.{region}.amazonaws.com',
    'bedrock-mantle.{region}.api.aws',
  ],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/async-invoke?maxResults=1' },
  endpoints: [
    ...[
      'converse',
      'converse-stream',
      'invoke',
      'invoke-with-response-stream',
      'invoke-with-bidirectional-stream',
      'count-tokens',
    ].map((verb) => model(`POST /model/{model:}/${verb}`, call)),
    neutral('POST /guardrail/{guardrail:}/version/{any}/apply', { changes: false }),
    model(
      'POST /guardrail-checks/invoke',
      { at: 'path', body: { required: [], also: ['modelId'] } },
      { modelName: 'bedrock/guardrail-checks' },
    ),
    model(
      'POST /async-invoke',
      { at: 'body', body: { required: ['modelId'] } },
      creates('invocation', 'invocationArn'),
    ),
    ...['retrieveAndGenerate', 'retrieveAndGenerateStream'].map((verb) =>
      model(`POST /${verb}`, STORED, { ...creates('session', 'sessionId'), names: RETRIEVED }),
    ),
    neutral('GET /async-invoke'),
    neutral('GET /async-invoke/{invocation:}'),
    model('POST /rerank', {
      at: 'body',
      body: {
        required: [
          'rerankingConfiguration.bedrockRerankingConfiguration.modelConfiguration.modelArn',
        ],
      },
    }),
    ...['/v1', '/openai/v1'].flatMap((prefix) =>
      compatibleRows(prefix).map((row) => ({ ...row, usage: 'openai' as const })),
    ),
    model('POST /anthropic/v1/messages', messagesBody(''), { usage: 'anthropic' }),
    model('POST /v1/messages', messagesBody(''), { usage: 'anthropic' }),
  ],
  spelling: {
    prefixes: OPENAI_PREFIXES,
    collections: { 'async-invoke': 'invocation' },
    clouds: true,
    models: MODELS,
  },
  chosenNames: true,
  errors: 'bedrock',
  usage: 'bedrock',
  // Of Mantle: docs.aws.amazon.com/bedrock/latest/userguide/projects.html
  accountChoice: ['openai-project'],
  encoded: ['model', 'invocation'],
  modelNames: (name) => {
    const id =
      /^arn:aws[a-z-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile)\/([^/]+)$/.exec(
        name,
      )?.[1]
    return id === undefined ? [name] : [id, name]
  },
}
