import { body, compatibleRows, creates, form, model, neutral, STORED } from './openai-rows.ts'
import type { ProviderRow } from './provider.ts'

const MESSAGES = { 'messages[].content[].file_id': 'file' } as const
const INPUTS = { 'inputs[].content[].file_id': 'file' } as const
const AGENT = { agent_id: 'agent' } as const

/** Mistral: https://docs.mistral.ai/api. Agents run a stored model. */
export const mistral: ProviderRow = {
  id: 'mistral',
  name: 'Mistral',
  base: 'https://api.mistral.ai/v1',
  hosts: ['api.mistral.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    ...compatibleRows('/v1', { objects: MESSAGES }).filter((row) => !row.on.includes('/batches')),
    model('POST /v1/fim/completions'),
    model('POST /v1/agents/completions', STORED, { names: { ...AGENT, ...MESSAGES } }),
    model('POST /v1/ocr', body({ objects: { 'document.file_id': 'file' } })),
    model('POST /v1/classifications'),
    model('POST /v1/chat/classifications'),
    model('POST /v1/chat/moderations'),
    model('POST /v1/audio/transcriptions', form({ objects: { file_id: 'file' } })),
    model('GET /v1/audio/transcriptions/realtime', { at: 'query' }),
    // With an agent id the agent's stored model answers, whatever `model` says.
    model('POST /v1/conversations', body({ stored: ['agent_id'], objects: { ...AGENT, ...INPUTS } }), creates('conversation', 'conversation_id')),
    neutral('GET /v1/conversations'),
    neutral('GET DELETE /v1/conversations/{conversation}'),
    model('POST /v1/conversations/{conversation}', STORED, { names: INPUTS }),
    model('POST /v1/conversations/{conversation}/restart', STORED, { names: INPUTS }),
    neutral('GET /v1/conversations/{conversation}/history'),
    neutral('GET /v1/conversations/{conversation}/messages'),
    model('POST /v1/batch/jobs', body({ stored: ['input_files[]', 'agent_id'], also: ['requests[].body.model'], objects: { ...AGENT, 'input_files[]': 'file', 'requests[].body.messages[].content[].file_id': 'file' } }), creates('batch')),
    neutral('GET /v1/batch/jobs'),
    neutral('GET /v1/batch/jobs/{batch}'),
    neutral('POST /v1/batch/jobs/{batch}/cancel'),
    model('POST /v1/fine_tuning/jobs', body({ objects: { 'training_files[].file_id': 'file', 'validation_files[]': 'file' } }), creates('fine_tuning_job')),
    neutral('GET /v1/fine_tuning/jobs'),
    neutral('GET /v1/fine_tuning/jobs/{fine_tuning_job}'),
    neutral('POST /v1/fine_tuning/jobs/{fine_tuning_job}/cancel'),
    neutral('GET /v1/files/{file}/url'),
    model('POST /v1/agents', body({ objects: { 'handoffs[]': 'agent' } }), creates('agent')),
    neutral('GET /v1/agents'),
    neutral('GET /v1/agents/{agent}'),
  ],
  minting: [/\/(audio|client)\/sessions($|[/:])/, /\/connectors\/[^/]+\/([^/]+\/)?(credentials|auth_url)($|[/:])/],
  // What observability finds is what every key has asked and was answered.
  admin: [/^\/v1\/(workspaces?|admin|users|billing|service-accounts|observability)($|[/:])/],
  errors: 'mistral',
  usage: 'openai',
}
