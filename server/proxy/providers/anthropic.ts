import type { ModelPlace } from './endpoint.ts'
import { creates, model, neutral, STORED } from './openai-rows.ts'
import type { ProviderRow } from './provider.ts'

/** Places of Messages that name a model beside their own: the advisor tool, which a message may bring too, and the chain of fallbacks. */
export const inMessages = (at: string): { readonly also: readonly string[]; readonly texts: readonly string[] } => ({
  also: [`${at}tools[].model`, `${at}messages[].content[].tool.definition.model`, `${at}messages[].content[].tool_changes[].tool.definition.model`, `${at}fallbacks[].model`],
  texts: [`${at}messages[].content`],
})

/** A Messages body; gateways try `models` in turn. */
export const messagesBody = (at: string): ModelPlace => ({
  at: 'body',
  body: {
    required: [`${at}model`],
    texts: inMessages(at).texts,
    also: [`${at}models[]`, ...inMessages(at).also],
    objects: {
      [`${at}messages[].content[].source.file_id`]: 'file',
      [`${at}messages[].content[].file_id`]: 'file',
      [`${at}messages[].content[].content[].source.file_id`]: 'file',
      [`${at}container`]: 'container',
      [`${at}thread.previous_message_id`]: 'message',
    },
    keeps: { at: `${at}thread.type`, by: ['create', 'continue'] },
  },
})

const SKILLS = { 'skills[].skill_id': 'skill' } as const

/** What may come into being with a message: itself where it is kept in a thread, the container of its code, and the files that the code wrote. */
const MADE = {
  id: 'message',
  'message.id': 'message',
  'container.id': 'container',
  'message.container.id': 'container',
  'delta.container.id': 'container',
  'content[].content.content[].file_id': 'file',
  'content_block.content.content[].file_id': 'file',
} as const

/** Anthropic: https://docs.claude.com/en/api. Sessions, agents and deployments run a stored model. */
export const anthropic: ProviderRow = {
  id: 'anthropic',
  name: 'Anthropic',
  base: 'https://api.anthropic.com/v1',
  hosts: ['api.anthropic.com'],
  auth: { header: 'x-api-key' },
  elsewhere: { hosts: ['aws-external-anthropic.{region}.api.aws'], auth: { header: 'x-api-key' } },
  endpoints: [
    model('POST /v1/messages', messagesBody(''), { creates: MADE, kept: 'message' }),
    model('POST /v1/messages/count_tokens', messagesBody('')),
    model('POST /v1/complete', messagesBody('')),
    model('POST /v1/messages/batches', messagesBody('requests[].params.'), creates('batch')),
    neutral('GET /v1/messages/batches'),
    neutral('GET DELETE /v1/messages/batches/{batch}'),
    neutral('POST /v1/messages/batches/{batch}/cancel'),
    neutral('GET /v1/messages/batches/{batch}/results'),
    neutral('GET /v1/models'),
    neutral('GET /v1/models/{any:}'),
    neutral('POST /v1/files', creates('file')),
    neutral('GET /v1/files'),
    neutral('GET DELETE /v1/files/{file}'),
    neutral('GET /v1/files/{file}/content'),
    neutral('POST /v1/skills', creates('skill')),
    neutral('GET /v1/skills'),
    neutral('GET DELETE /v1/skills/{skill}'),
    neutral('GET POST /v1/skills/{skill}/versions'),
    neutral('GET DELETE /v1/skills/{skill}/versions/{any}'),
    neutral('GET /v1/skills/{skill}/versions/{any}/content'),
    model('POST /v1/agents', { at: 'body', body: { required: ['model'], stored: ['agents', 'multiagent', 'callable_agents'], objects: SKILLS } }, creates('agent')),
    model('POST /v1/agents/{agent}', STORED, { names: SKILLS }),
    neutral('GET /v1/agents'),
    neutral('GET /v1/agents/{agent}'),
    model('POST /v1/sessions', STORED, { ...creates('session'), names: { agent: 'agent', 'resources[].file_id': 'file' } }),
    model('POST /v1/sessions/{session}/events', STORED, { names: { 'events[].content[].source.file_id': 'file' } }),
    neutral('GET POST /v1/sessions/{session}/resources', { names: { file_id: 'file' } }),
    neutral('GET /v1/sessions'),
    neutral('GET DELETE /v1/sessions/{session}'),
    neutral('GET /v1/sessions/{session}/events'),
    neutral('GET /v1/sessions/{session}/events/stream'),
    model('POST /v1/deployments', STORED, creates('deployment')),
    model('POST /v1/deployments/{deployment}/run', STORED),
    model('POST /v1/dreams', STORED, creates('dream')),
  ],
  minting: [
    /\/tunnels\/[^/]+\/(reveal_token|rotate_token)($|[/:])/,
    /\/vaults\/[^/]+\/credentials($|[/:])/,
    /\/user_profiles\/[^/]+\/(enrollment_url|action_urls)($|[/:])/,
    // Work for a worker of one's own comes with what opens its session.
    /\/environments\/[^/]+\/work($|[/:])/,
    /\/oauth\/token($|[/:])/,
  ],
  admin: [/\/compliance($|[/:])/],
  errors: 'anthropic',
  usage: 'anthropic',
}
