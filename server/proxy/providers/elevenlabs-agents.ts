// Endpoint rows of ElevenLabs' agents: https://elevenlabs.io/docs/api-reference/agents/create
//
// An agent chooses models of its own for its language, its speech and each step of its workflow, so
// no key that is limited to models may create, change or run one. Secrets, signed addresses and the
// settings of the workspace are closed for every key.
import type { EndpointRow } from './endpoint-row.ts'
import { within } from './body-rules.ts'
import { creates, model, neutral, STORED } from './row-builders.ts'
import { BY_MINUTE, type SocketRow } from './socket-row.ts'

const AT = '/v1/convai'

/** The knowledge, tools and voices of an agent. */
const PROMPT = {
  'tool_ids[]': 'tool',
  'mcp_server_ids[]': 'mcp_server',
  'knowledge_base[].id': 'document',
} as const
const SPEECH = {
  voice_id: 'voice',
  'supported_voices[].voice_id': 'voice',
  'pronunciation_dictionary_locators[].pronunciation_dictionary_id': 'dictionary',
} as const
/**
 * The configuration of an agent, and the changes to it by a language, a workflow step or a call.
 */
const CONFIG = {
  ...within('agent.prompt.', PROMPT),
  ...within('tts.', SPEECH),
  ...within('language_presets.*.overrides.agent.prompt.', PROMPT),
  ...within('language_presets.*.overrides.tts.', SPEECH),
}
const AGENT = {
  ...within('conversation_config.', CONFIG),
  ...within('workflow.nodes.*.conversation_config.', CONFIG),
  'workflow.nodes.*.additional_tool_ids[]': 'tool',
  'workflow.nodes.*.additional_knowledge_base[].id': 'document',
  'workflow.nodes.*.agent_id': 'agent',
  'platform_settings.testing.attached_tests[].test_id': 'agent_test',
} as const

/** The caller of a phone call. */
const CALLER = {
  agent_id: 'agent',
  agent_phone_number_id: 'phone_number',
  whatsapp_phone_number_id: 'whatsapp_account',
} as const
const CALLS = [
  'twilio/outbound-call',
  'twilio/register-call',
  'sip-trunk/outbound-call',
  'exotel/outbound-call',
  'whatsapp/outbound-call',
  'whatsapp/outbound-message',
]

/** The endpoints of a collection: the list, a new item, and each item with everything below it. */
const collection = (
  path: string,
  kind: string,
  { list, id = 'id' }: { readonly list: string; readonly id?: string },
): EndpointRow[] => {
  const one = `${AT}/${path}/{${kind}}`
  return [
    neutral(`POST ${AT}/${path}`, creates(kind, id)),
    neutral(`GET ${AT}/${path}`, { listed: { [`${list}[].${id}`]: kind } }),
    neutral(`GET PATCH PUT DELETE ${one}`),
    neutral(`GET ${one}/{any*}`),
  ]
}

/**
 * A conversation with an agent: https://elevenlabs.io/docs/api-reference/websockets/convai, and
 * `agent.asyncapi.yaml` of @elevenlabs/types. Audio may begin a response at any time, and no
 * message reports tokens; the provider bills minutes, too.
 */
const CONVERSATION: SocketRow = {
  ...BY_MINUTE,
  body: {
    required: [],
    prose: [
      'user_audio_chunk',
      'text',
      'text.text',
      'result',
      'conversation_config_override.agent.first_message',
      'conversation_config_override.agent.prompt.prompt',
    ],
    objects: {
      ...within('conversation_config_override.', CONFIG),
      'conversation_config_override.agent.native_mcp_server_ids[]': 'mcp_server',
    },
  },
  quiet: ['pong', 'user_activity', 'feedback', 'contextual_update'].map((type) => `type=${type}`),
  mayStart: [
    'user_audio_chunk',
    ...[
      'conversation_initiation_client_data',
      'user_message',
      'multimodal_message',
      'client_tool_result',
      'mcp_tool_approval_result',
    ].map((type) => `type=${type}`),
  ],
  error: {
    type: 'error',
    error_event: { code: '{status}', message: '{message}', error_type: '{code}' },
  },
}

const agentRows = (agents: string, one: string): EndpointRow[] => [
  model(`POST ${agents}/create`, STORED, { ...creates('agent', 'agent_id'), names: AGENT }),
  neutral(`GET ${agents}`, { listed: { 'agents[].agent_id': 'agent' } }),
  neutral(`GET ${agents}/summaries`, { asks: { agent_ids: 'agent' }, listed: null }),
  neutral(`GET DELETE ${one}`),
  model(`PATCH ${one}`, STORED, { names: AGENT }),
  model(`POST ${one}/duplicate`, STORED, creates('agent', 'agent_id')),
  model(`POST ${one}/run-tests`, STORED, {
    ...creates('test_invocation'),
    names: { 'tests[].test_id': 'agent_test', ...within('agent_config_override.', AGENT) },
  }),
  neutral(`GET DELETE ${one}/{any*}`),
  model(`POST PUT PATCH ${one}/{any*}`, STORED, { names: AGENT }),
  neutral(`GET ${AT}/agent/{agent}/knowledge-base/size`),
  neutral(`POST ${AT}/agent/{agent}/llm-usage/calculate`, { changes: false }),
  neutral(`POST ${AT}/llm-usage/calculate`, { changes: false }),
  neutral(`GET ${AT}/llm/list`, { listed: null }),
]

const testRows = (tests: string, runs: string): EndpointRow[] => [
  neutral(`POST ${tests}/create`, creates('agent_test')),
  neutral(`GET ${tests}`, { listed: { 'tests[].id': 'agent_test' } }),
  neutral(`POST ${tests}/folders`, {
    ...creates('test_folder'),
    names: { parent_folder_id: 'test_folder' },
  }),
  neutral(`GET PATCH DELETE ${tests}/folders/{test_folder}`),
  neutral(`POST ${tests}/bulk-move`, {
    names: { 'entity_ids[]': 'agent_test', move_to: 'test_folder' },
  }),
  neutral(`POST ${tests}/summaries`, { names: { 'test_ids[]': 'agent_test' }, changes: false }),
  neutral(`GET PUT DELETE ${tests}/{agent_test}`),
  neutral(`GET ${runs}`, { listed: { 'results[].id': 'test_invocation' } }),
  neutral(`GET ${runs}/{test_invocation}`),
  neutral(`POST ${runs}/{test_invocation}/cancel`),
  model(`POST ${runs}/{test_invocation}/resubmit`, STORED, { names: { agent_id: 'agent' } }),
]

const conversationRows = (all: string, batches: string): EndpointRow[] => [
  model(`GET ${AT}/conversation`, STORED, { asks: { agent_id: 'agent' }, socket: CONVERSATION }),
  ...CALLS.map((call) =>
    model(`POST ${AT}/${call}`, STORED, {
      ...creates('conversation', 'conversation_id'),
      names: CALLER,
    }),
  ),
  model(`POST ${batches}/submit`, STORED, { ...creates('batch_call'), names: CALLER }),
  neutral(`GET ${batches}/workspace`, { listed: { 'batch_calls[].id': 'batch_call' } }),
  neutral(`GET DELETE ${batches}/{batch_call}`, {
    creates: { 'recipients[].conversation_id': 'conversation' },
  }),
  neutral(`GET ${batches}/{batch_call}/export`),
  neutral(`POST ${batches}/{batch_call}/cancel`),
  model(`POST ${batches}/{batch_call}/retry`, STORED),
  neutral(`GET ${all}`, {
    listed: { 'conversations[].conversation_id': 'conversation' },
    asks: { agent_id: 'agent' },
  }),
  neutral(`GET ${all}/resolve`, { listed: { conversation_id: 'conversation' } }),
  ...['smart-search', 'text-search'].map((way) =>
    neutral(`GET ${all}/messages/${way}`, {
      listed: { 'results[].conversation_id': 'conversation' },
      asks: { agent_id: 'agent' },
    }),
  ),
  neutral(`GET DELETE ${all}/{conversation}`),
  neutral(`GET DELETE ${all}/{conversation}/{any*}`),
  neutral(`POST ${all}/{conversation}/files`, { uploads: 'form' }),
  ...['feedback', 'tags'].map((what) =>
    neutral(`POST ${all}/{conversation}/${what}`, { names: { 'tag_ids[]': 'tag' } }),
  ),
  // A model reads it again.
  model(`POST ${all}/{conversation}/{any*}`, STORED),
]

const knowledgeRows = (all: string, one: string): EndpointRow[] => [
  ...['', '/url', '/text', '/file', '/folder'].map((form) =>
    neutral(`POST ${all}${form}`, {
      ...creates('document'),
      names: { parent_folder_id: 'document' },
      uploads: 'form',
    }),
  ),
  neutral(`GET ${all}`, { listed: { 'documents[].id': 'document' } }),
  neutral(`GET ${all}/summaries`, { asks: { document_ids: 'document' }, listed: null }),
  neutral(`GET ${all}/search`, { listed: { 'results[].document_id': 'document' } }),
  ...['bulk-delete', 'bulk-move', 'dependent-agents'].map((verb) =>
    neutral(`POST ${all}/${verb}`, {
      names: { 'document_ids[]': 'document', move_to: 'document' },
    }),
  ),
  neutral(`POST ${all}/crawl`, {
    creates: { id: 'crawl', root_folder_id: 'document' },
    names: { parent_folder_id: 'document' },
  }),
  neutral(`GET ${all}/crawl`, { listed: { 'crawl_jobs[].id': 'crawl' } }),
  neutral(`GET ${all}/crawl/{crawl}`),
  neutral(`POST ${all}/crawl/{crawl}/cancel`),
  neutral(`GET ${all}/rag-index`, { listed: null }),
  model(`POST ${all}/rag-index`, STORED, { names: { 'items[].document_id': 'document' } }),
  model(`POST ${one}/rag-index`, {
    at: 'body',
    body: { required: ['model'], also: ['model_id'] },
  }),
  neutral(`GET PATCH DELETE ${one}`),
  neutral(`PATCH ${one}/update-file`, { uploads: 'form' }),
  neutral(`GET DELETE ${one}/{any*}`),
  neutral(`POST ${one}/move`, { names: { move_to: 'document' } }),
  neutral(`POST ${one}/refresh`),
]

const ticketRows = (all: string): EndpointRow[] => [
  neutral(`POST ${all}`, {
    ...creates('ticket', 'agentqa_ticket_id'),
    names: { agent_id: 'agent', conversation_id: 'conversation' },
  }),
  neutral(`GET ${all}`, { listed: { 'agent_conversation_tickets[].agentqa_ticket_id': 'ticket' } }),
  neutral(`GET PATCH DELETE ${all}/{ticket}`),
  ...['comments', 'turn-comments', 'merge'].map((what) =>
    neutral(`POST ${all}/{ticket}/${what}`, { names: { 'ticket_ids[]': 'ticket' } }),
  ),
]

/** All endpoint rows of ElevenLabs' agents. */
export const ELEVENLABS_AGENTS: readonly EndpointRow[] = [
  ...agentRows(`${AT}/agents`, `${AT}/agents/{agent}`),
  ...testRows(`${AT}/agent-testing`, `${AT}/test-invocations`),
  ...conversationRows(`${AT}/conversations`, `${AT}/batch-calling`),
  ...knowledgeRows(`${AT}/knowledge-base`, `${AT}/knowledge-base/{document}`),
  ...collection('mcp-servers', 'mcp_server', { list: 'mcp_servers' }),
  neutral(`PATCH ${AT}/mcp-servers/{mcp_server}/{any*}`),
  neutral(`POST DELETE ${AT}/mcp-servers/{mcp_server}/{any*}`),
  ...collection('phone-numbers', 'phone_number', { list: '', id: 'phone_number_id' }),
  neutral(`GET ${AT}/v2/phone-numbers`, {
    listed: { 'phone_numbers[].phone_number_id': 'phone_number' },
  }),
  ...collection('tools', 'tool', { list: 'tools' }),
  ...collection('tags', 'tag', { list: 'conversation_tags', id: 'tag_id' }),
  ...ticketRows(`${AT}/triage-tickets`),
  model('POST /v1/speech-engine', STORED, {
    ...creates('speech_engine', 'speech_engine_id'),
    names: within('tts.', SPEECH),
  }),
  neutral('GET /v1/speech-engine', {
    listed: { 'speech_engines[].speech_engine_id': 'speech_engine' },
  }),
  neutral('GET DELETE /v1/speech-engine/{speech_engine}'),
  model('PATCH /v1/speech-engine/{speech_engine}', STORED, { names: within('tts.', SPEECH) }),
  model(
    'POST /v1/speech-engine/{speech_engine}/duplicate',
    STORED,
    creates('speech_engine', 'speech_engine_id'),
  ),
]

/** Closed paths: those of the whole workspace, and those that give access to others. */
export const ELEVENLABS_WORKSPACE: readonly RegExp[] = [
  /^\/v1\/convai\/(?:settings|environment-variables|whatsapp-accounts|analytics|users)(?:$|\/)/,
  /\/(?:assignable-users|replicate-to-isolated-environment)(?:$|\/)/,
]
/** Closed paths that return an address with access to an agent. */
export const ELEVENLABS_LINKS: readonly RegExp[] = [/^\/v1\/convai\/agents\/[^/]+\/link(?:$|\/)/]
/**
 * Keys of a body that use resources of the workspace:
 * https://elevenlabs.io/docs/api-reference/workspace/create-secret
 */
export const ELEVENLABS_SECRETS = {
  named: { secret_id: 'secret', auth_connection_id: 'connection' },
} as const
