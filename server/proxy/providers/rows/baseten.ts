import type { EndpointRow } from '../endpoint-row.ts'
import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

const TOOLS = { tools: toolsIn('', CALLER_TOOLS) }

/** The endpoints of a deployment, which runs one model, whatever the body calls it. */
const deployed: EndpointRow[] = [
  'environments/{any}',
  'deployment/{any}',
  'production',
  'development',
].flatMap((at) =>
  [
    ...['chat/completions', 'completions', 'embeddings'].map((path) => `sync/v1/${path}`),
    'predict',
    'async_predict',
  ].map((path) =>
    model(
      `POST /${at}/${path}`,
      { at: 'path', body: { ...TOOLS, required: [] } },
      { modelName: '<deployment>' },
    ),
  ),
)

/**
 * Baseten: https://docs.baseten.co/reference. Public models are named in the body; an own
 * deployment by its host, `model-abc123.api.baseten.co`, and also by that name in a key's models.
 */
export const baseten: ProviderRow = {
  id: 'baseten',
  name: 'Baseten',
  variable: 'BASETEN_API_KEY',
  base: 'https://inference.baseten.co/v1',
  hosts: ['inference.baseten.co'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  sites: [{ hosts: ['<deployment>.api.baseten.co'], endpoints: deployed }],
  endpoints: [...compatibleRows('/v1', TOOLS), model('POST /v1/rerank', body(TOOLS))],
  spelling: { uuids: true, dialect: true },
  errors: { error: { message: '{message}', type: '{type}', code: '{code}' } },
  usage: 'openai',
}
