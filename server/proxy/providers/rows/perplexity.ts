import { BODY, body, responding, toolsIn } from '../body-rules.ts'
import { RESPONSE } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { PERPLEXITY_TOOLS } from '../tools.ts'

// The agent API tries `models` in turn, and a preset or a stored profile has a model of its own:
// docs.perplexity.ai/docs/agent-api
const agent = responding({
  ...BODY,
  required: ['model', 'models[]'],
  stored: ['preset', 'profile'],
  tools: toolsIn('', PERPLEXITY_TOOLS),
})

// Search results may be ranked by another model (@perplexity-ai/perplexity_ai 0.38,
// `ranking_model`).
const ALSO = [...(BODY.also ?? []), 'ranking_model']
const sonar = body({
  also: ALSO,
  tools: toolsIn('', PERPLEXITY_TOOLS),
})

// The same for asynchronous requests: the request is in `request`, and a model beside it is one too
// many.
const queued = body({
  required: ['request.model'],
  also: ['model', ...ALSO, ...ALSO.map((place) => `request.${place}`)],
  tools: toolsIn('request.', PERPLEXITY_TOOLS),
  objects: {},
})

/** Perplexity: https://docs.perplexity.ai/api-reference */
export const perplexity: ProviderRow = {
  id: 'perplexity',
  name: 'Perplexity',
  variable: 'PERPLEXITY_API_KEY',
  base: 'https://api.perplexity.ai',
  hosts: ['api.perplexity.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/async/chat/completions' },
  endpoints: [
    ...['', '/v1'].flatMap((prefix) => [
      model(`POST ${prefix}/chat/completions`, sonar),
      model(`POST ${prefix}/embeddings`),
      model(`POST ${prefix}/decisions`),
      model(`POST ${prefix}/contextualizedembeddings`),
      model(`POST ${prefix}/responses`, agent, { usage: 'openai', ...RESPONSE }),
      model(`POST ${prefix}/agent`, agent, { usage: 'openai', ...RESPONSE }),
      neutral(`GET ${prefix}/responses/{response}`),
      neutral(`POST ${prefix}/responses/{response}/cancel`),
      neutral(`GET ${prefix}/responses/{response}/files`),
      neutral(`GET ${prefix}/responses/{response}/files/{any}/content`),
      model(`POST ${prefix}/async/chat/completions`, queued, creates('completion')),
      model(`POST ${prefix}/async/sonar`, queued, creates('completion')),
      neutral(`GET ${prefix}/async/chat/completions`),
      neutral(`GET ${prefix}/async/chat/completions/{completion}`),
      neutral(`GET ${prefix}/async/sonar/{completion}`),
      neutral(`GET ${prefix}/models`),
    ]),
    model('POST /v1/sonar', sonar),
    model('POST /v1/browser/sessions', STORED, creates('browser_session', 'session_id')),
    neutral('POST /search', { changes: false }),
  ],
  minting: [/\/(generate_auth_token|revoke_auth_token)($|[/:])/],
  admin: [/\/(api_?groups?|billing)($|[/:])/],
  spelling: { prefixes: { resp_: 'response' }, uuids: true, dialect: true },
  errors: 'perplexity',
  usage: 'perplexity',
}
