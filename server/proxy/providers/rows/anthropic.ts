import type { EndpointRow, ModelPlace } from '../endpoint-row.ts'
import { referring, within } from '../body-rules.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import type { ToolPlace, ToolTypes } from '../tool-types.ts'
import { ANTHROPIC_TOOLS } from '../tools.ts'

/**
 * Places of Messages that name a model beside their own: tools, which a message may bring too, and
 * the chain of fallbacks. The text "default" instead of that chain leaves the choice to Anthropic,
 * and is refused: platform.claude.com/docs/en/build-with-claude/refusals-and-fallback
 */
export const inMessages = (
  at: string,
  tools: ToolTypes = ANTHROPIC_TOOLS,
): {
  readonly also: readonly string[]
  readonly texts: readonly string[]
  readonly tools: readonly ToolPlace[]
} => {
  const places = [
    'tools[]',
    'messages[].content[].tool.definition',
    'messages[].content[].tool_changes[].tool.definition',
  ].map((place) => at + place)
  return {
    also: [...places.map((place) => `${place}.model`), `${at}fallbacks[].model`],
    texts: [`${at}messages[].content`],
    tools: places.map((place) => ({ at: place, by: 'type', tools })),
  }
}

/** Text of people, tools and models. */
const SAID = [
  'system',
  'system[].text',
  'messages[].content',
  'messages[].content[].text',
  'messages[].content[].content',
  'messages[].content[].content[].text',
]

/** A Messages body; gateways try `models` in turn. */
export const messagesBody = (at: string): ModelPlace => ({
  at: 'body',
  body: {
    required: [`${at}model`],
    texts: inMessages(at).texts,
    prose: SAID.map((place) => at + place),
    also: [`${at}models[]`, ...inMessages(at).also],
    tools: inMessages(at).tools,
    objects: {
      [`${at}messages[].content[].source.file_id`]: 'file',
      [`${at}messages[].content[].file_id`]: 'file',
      [`${at}messages[].content[].content[].source.file_id`]: 'file',
      ...referring(`${at}container`, 'container'),
      [`${at}container.skills[].skill_id`]: 'skill',
      [`${at}thread.previous_message_id`]: 'message',
    },
    keeps: { at: `${at}thread.type`, by: ['create', 'continue'] },
  },
})

const SKILLS = { 'skills[].skill_id': 'skill' } as const
/** Other agents that an agent may call. */
const CALLED = [
  'agents[]',
  'callable_agents[]',
  'multiagent.agents[]',
  'multiagent.subagents.predefined_agents[]',
  'multiagent.workflows.predefined_agents[]',
]
const ROSTER = Object.fromEntries(
  CALLED.flatMap((place) => Object.entries(referring(place, 'agent'))),
)
/** The resources of a session in its container. */
const RESOURCE = { file_id: 'file', memory_store_id: 'memory_store' } as const
const EVENT = { 'content[].source.file_id': 'file', 'rubric.file_id': 'file' } as const
/** A session, and a deployment, which creates sessions. */
const SESSION = {
  ...referring('agent', 'agent'),
  ...within('agent.', SKILLS),
  environment_id: 'environment',
  'vault_ids[]': 'vault',
  ...within('resources[].', RESOURCE),
  ...within('initial_events[].', EVENT),
}
/** A dream runs in a session, on memory that it may create. */
const DREAMT = { session_id: 'session', 'outputs[].memory_store_id': 'memory_store' } as const
const DREAM = {
  'inputs[].memory_store_id': 'memory_store',
  'inputs[].session_ids[]': 'session',
  'output_behavior.memory_store_id': 'memory_store',
} as const

/** Other stored objects, which run nothing by themselves. */
const storedRows = (kind: string): EndpointRow[] => {
  const at = `/v1/${kind}s`
  return [
    neutral(`GET POST ${at}`, creates(kind)),
    neutral(`GET POST DELETE ${at}/{${kind}}`),
    neutral(`POST ${at}/{${kind}}/archive`),
  ]
}

/**
 * Objects that a message may create: itself if it is kept in a thread, the container of its code,
 * and the files that the code wrote.
 */
const MADE = {
  id: 'message',
  'message.id': 'message',
  'container.id': 'container',
  'message.container.id': 'container',
  'delta.container.id': 'container',
  'content[].content.content[].file_id': 'file',
  'content_block.content.content[].file_id': 'file',
} as const
const RESULT = within('result.message.', {
  'container.id': 'container',
  'content[].content.content[].file_id': 'file',
})

/**
 * Anthropic: https://docs.claude.com/en/api. Sessions, agents and deployments run a stored model.
 */
export const anthropic: ProviderRow = {
  id: 'anthropic',
  name: 'Anthropic',
  variable: 'ANTHROPIC_API_KEY',
  base: 'https://api.anthropic.com/v1',
  hosts: ['api.anthropic.com'],
  auth: { header: 'x-api-key' },
  probe: { path: '/v1/models?limit=1', headers: ['anthropic-version', '2023-06-01'] },
  // On AWS a key is for an account, and every request has to name the workspace.
  elsewhere: {
    hosts: ['aws-external-anthropic.{region}.api.aws'],
    auth: { header: 'x-api-key' },
    accountChoice: [],
  },
  endpoints: [
    model('POST /v1/messages', messagesBody(''), { creates: MADE, kept: 'message' }),
    model('POST /v1/messages/count_tokens', messagesBody('')),
    model('POST /v1/complete', messagesBody('')),
    model('POST /v1/messages/batches', messagesBody('requests[].params.'), creates('batch')),
    neutral('GET /v1/messages/batches'),
    neutral('GET DELETE /v1/messages/batches/{batch}'),
    neutral('POST /v1/messages/batches/{batch}/cancel'),
    neutral('GET /v1/messages/batches/{batch}/results', { creates: RESULT }),
    neutral('GET /v1/models'),
    neutral('GET /v1/models/{any:}'),
    neutral('POST /v1/files', { ...creates('file'), uploads: 'form' }),
    neutral('GET /v1/files', { asks: { scope_id: 'session' } }),
    neutral('GET DELETE /v1/files/{file}'),
    neutral('GET /v1/files/{file}/content'),
    neutral('POST /v1/skills', { ...creates('skill'), uploads: 'form' }),
    neutral('GET /v1/skills'),
    neutral('GET DELETE /v1/skills/{skill}'),
    neutral('GET POST /v1/skills/{skill}/versions', { uploads: 'form' }),
    neutral('GET DELETE /v1/skills/{skill}/versions/{any}'),
    neutral('GET /v1/skills/{skill}/versions/{any}/content'),
    ...['memory_store', 'environment', 'vault', 'user_profile', 'tunnel'].flatMap(storedRows),
    neutral('GET POST /v1/memory_stores/{memory_store}/memories'),
    neutral('GET POST DELETE /v1/memory_stores/{memory_store}/memories/{any}'),
    neutral('GET /v1/memory_stores/{memory_store}/memory_versions'),
    neutral('GET /v1/memory_stores/{memory_store}/memory_versions/{any}'),
    neutral('POST /v1/memory_stores/{memory_store}/memory_versions/{any}/redact'),
    model(
      'POST /v1/agents',
      {
        at: 'body',
        body: {
          required: ['model'],
          stored: [...Object.keys(ROSTER), 'multiagent.type'],
          objects: { ...SKILLS, ...ROSTER },
        },
      },
      creates('agent'),
    ),
    model('POST /v1/agents/{agent}', STORED, { names: { ...SKILLS, ...ROSTER } }),
    neutral('GET /v1/agents'),
    neutral('GET /v1/agents/{agent}'),
    neutral('POST /v1/agents/{agent}/archive'),
    neutral('GET /v1/agents/{agent}/versions'),
    model('POST /v1/sessions', STORED, { ...creates('session'), names: SESSION }),
    model('POST /v1/sessions/{session}', STORED, { names: SESSION }),
    model('POST /v1/sessions/{session}/events', STORED, { names: within('events[].', EVENT) }),
    neutral('GET POST /v1/sessions/{session}/resources', { names: RESOURCE }),
    neutral('GET /v1/sessions'),
    neutral('GET DELETE /v1/sessions/{session}'),
    neutral('GET /v1/sessions/{session}/events'),
    neutral('GET /v1/sessions/{session}/events/stream'),
    neutral('GET POST DELETE /v1/sessions/{session}/resources/{any}', { names: RESOURCE }),
    neutral('POST /v1/sessions/{session}/archive'),
    neutral('GET /v1/sessions/{session}/threads'),
    neutral('GET /v1/sessions/{session}/threads/{any}'),
    neutral('POST /v1/sessions/{session}/threads/{any}/archive'),
    neutral('GET /v1/sessions/{session}/threads/{any}/events'),
    neutral('GET /v1/sessions/{session}/threads/{any}/stream'),
    model('POST /v1/deployments', STORED, { ...creates('deployment'), names: SESSION }),
    model('POST /v1/deployments/{deployment}', STORED, { names: SESSION }),
    model('POST /v1/deployments/{deployment}/run', STORED, {
      creates: { id: 'deployment_run', session_id: 'session' },
    }),
    neutral('GET /v1/deployments'),
    neutral('GET /v1/deployments/{deployment}'),
    neutral('POST /v1/deployments/{deployment}/archive'),
    neutral('POST /v1/deployments/{deployment}/pause'),
    model('POST /v1/deployments/{deployment}/unpause', STORED),
    neutral('GET /v1/deployment_runs', {
      listed: { 'data[].deployment_id': 'deployment' },
      asks: { deployment_id: 'deployment' },
    }),
    neutral('GET /v1/deployment_runs/{deployment_run}', { creates: { session_id: 'session' } }),
    model('POST /v1/dreams', STORED, { creates: { id: 'dream', ...DREAMT }, names: DREAM }),
    neutral('GET /v1/dreams'),
    neutral('GET /v1/dreams/{dream}', { creates: DREAMT }),
    neutral('POST /v1/dreams/{dream}/archive'),
    neutral('POST /v1/dreams/{dream}/cancel'),
  ],
  minting: [
    /\/tunnels\/[^/]+\/(reveal_token|rotate_token|certificates)($|[/:])/,
    /\/vaults\/[^/]+\/credentials($|[/:])/,
    /\/user_profiles\/[^/]+\/(enrollment_url|action_urls)($|[/:])/,
    // Work for a self-hosted worker includes access to its session.
    /\/environments\/[^/]+\/work($|[/:])/,
    /\/oauth\/token($|[/:])/,
  ],
  // Keys and buckets of the account, in which conversations are stored.
  admin: [/\/(compliance|data_controls)($|[/:])/],
  errors: 'anthropic',
  usage: 'anthropic',
  accountChoice: ['anthropic-workspace-id'],
  passes: ['anthropic-user-profile-id'],
  // https://docs.claude.com/en/api/files-create, …/creating-message-batches, …/skills/create-skill
  // and so on
  spelling: {
    prefixes: {
      file_: 'file',
      msgbatch_: 'batch',
      container_: 'container',
      skill_: 'skill',
      memstore_: 'memory_store',
      env_: 'environment',
      vlt_: 'vault',
      agent_: 'agent',
      sesn_: 'session',
      dep_: 'deployment',
      drun_: 'deployment_run',
      drm_: 'dream',
      uprof_: 'user_profile',
      tnl_: 'tunnel',
      msg_: 'message',
    },
  },
  objectHeaders: { 'anthropic-user-profile-id': 'user_profile' },
}
