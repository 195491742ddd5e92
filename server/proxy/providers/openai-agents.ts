// Endpoint rows of OpenAI's agents: https://platform.openai.com/docs/api-reference/agents
//
// An agent chooses models for its sub-agents, so no key that is limited to models may run one.
// Vaults, which hold credentials, are closed for every key.
import type { EndpointRow } from './endpoint-row.ts'
import { within } from './body-rules.ts'
import { creates, model, neutral, STORED } from './row-builders.ts'

/** The contents of an environment. */
const MADE_OF = {
  'files[].file_id': 'file',
  'skills[].skill_id': 'skill',
  environment_template_id: 'environment_template',
} as const
const ENVIRONMENT = { ...MADE_OF, environment_id: 'environment' } as const
/** A credential in a vault, for a tool server. */
const TOOLS = { 'tools[].credential_id': 'credential' } as const
const FILE = { file_id: 'file' } as const
const SESSION = {
  agent_id: 'agent',
  'vault_ids[]': 'vault',
  ...within('environment.', ENVIRONMENT),
  ...within('agent.', TOOLS),
}

export const agentRows = (p: string): EndpointRow[] => [
  model(`POST ${p}/agents`, STORED, { ...creates('agent'), names: TOOLS }),
  neutral(`GET ${p}/agents`),
  neutral(`GET DELETE ${p}/agents/{agent}`),
  model(`POST ${p}/agents/{agent}`, STORED, { names: TOOLS }),
  ...automationRows(`${p}/agents/automations`),
  ...sessionRows(`${p}/agents/sessions`),
  neutral(`POST ${p}/agents/environments`, { ...creates('environment'), names: ENVIRONMENT }),
  neutral(`GET ${p}/agents/environments`),
  neutral(`GET ${p}/agents/environments/{environment}`),
  neutral(`GET POST ${p}/agents/environments/{environment}/files`, { names: FILE }),
  neutral(`POST ${p}/agents/environments/templates`, {
    ...creates('environment_template'),
    names: MADE_OF,
  }),
  neutral(`GET ${p}/agents/environments/templates`),
  neutral(`GET POST DELETE ${p}/agents/environments/templates/{environment_template}`, {
    names: MADE_OF,
  }),
]

/** Automations start or continue sessions, now and by a schedule. */
const automationRows = (automations: string): EndpointRow[] => {
  const one = `${automations}/{automation}`
  const target = { ...within('target.', SESSION), 'target.session_id': 'agent_session' }
  return [
    model(`POST ${automations}`, STORED, { ...creates('automation'), names: target }),
    neutral(`GET ${automations}`),
    neutral(`GET DELETE ${one}`),
    model(`POST ${one}`, STORED, { names: target }),
    neutral(`POST ${one}/pause`),
    model(`POST ${one}/resume`, STORED),
    model(`POST ${one}/invocations`, STORED, { creates: { session_id: 'agent_session' } }),
    neutral(`GET ${one}/invocations`),
    neutral(`GET ${one}/invocations/{any}`, { creates: { session_id: 'agent_session' } }),
  ]
}

const sessionRows = (sessions: string): EndpointRow[] => {
  const one = `${sessions}/{agent_session}`
  return [
    model(`POST ${sessions}`, STORED, {
      ...creates('agent_session', 'id', 'session.id'),
      names: SESSION,
    }),
    neutral(`GET ${sessions}`, { asks: { agent_id: 'agent' } }),
    neutral(`GET DELETE ${one}`),
    model(`POST ${one}`, STORED, { names: within('agent.', TOOLS) }),
    model(`POST ${one}/events`, STORED),
    ...['events', 'items', 'turns', 'traces', 'artifacts', 'subagents'].map((kind) =>
      neutral(`GET ${one}/${kind}`),
    ),
    neutral(`GET ${one}/turns/{any}`),
    neutral(`GET ${one}/turns/{any}/items`),
    neutral(`GET DELETE ${one}/artifacts/{any}`),
    neutral(`GET ${one}/artifacts/{any}/content`),
    neutral(`GET ${one}/subagents/{any}`),
    neutral(`GET ${one}/subagents/{any}/items`),
    neutral(`GET ${one}/subagents/{any}/turns`),
    neutral(`GET ${one}/subagents/{any}/turns/{any}`),
    neutral(`GET ${one}/subagents/{any}/turns/{any}/items`),
  ]
}
