import { messagesBody } from './anthropic.ts'
import type { ModelPlace } from '../endpoint-row.ts'
import type { ModelNames } from '../id-spelling.ts'
import { objectRef } from '../object-ref.ts'
import { toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

const image: ModelPlace = { at: 'path', body: { required: [], also: ['model'], multipart: true } }

/**
 * A model or a deployment of an account; those of Fireworks itself are public. A deployment is
 * named after `#`: docs.fireworks.ai/guides/ondemand-deployments,
 * docs.fireworks.ai/fine-tuning/deploying-loras.
 */
const isOfAccount = (part: string, at: number): boolean =>
  (at === 0 ? /^\s*\/*accounts\/+(?!fireworks\/)/i : /^(?!\s*\/*accounts\/+fireworks\/)/i).test(
    part,
  )
const MODELS: ModelNames = {
  kinds: ['account_model'],
  refsOf: (name) =>
    name
      .split('#')
      .flatMap((part, at) => (isOfAccount(part, at) ? [objectRef('account_model', part)] : [])),
}

/**
 * Fireworks: https://docs.fireworks.ai/api-reference. Image models are in the path, with their
 * slashes.
 */
export const fireworks: ProviderRow = {
  id: 'fireworks',
  name: 'Fireworks AI',
  variable: 'FIREWORKS_API_KEY',
  base: 'https://api.fireworks.ai/inference/v1',
  hosts: ['api.fireworks.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/inference/v1/models' },
  endpoints: [
    ...compatibleRows('/inference/v1', { tools: toolsIn('', CALLER_TOOLS) }),
    neutral('GET DELETE /inference/v1/responses/{response}'),
    model('POST /inference/v1/messages', messagesBody(''), { usage: 'anthropic' }),
    ...['text_to_image', 'image_to_image', 'control_net'].map((verb) =>
      model(`POST /inference/v1/workflows/{model*}/${verb}`, image),
    ),
    model('POST /inference/v1/workflows/{model*}/get_result', {
      at: 'path',
      body: { required: [], also: ['model'], objects: { id: 'result' } },
    }),
    model('POST /inference/v1/workflows/{model*}', image, creates('result', 'request_id')),
    model('POST /inference/v1/image_generation/{model*}', image),
  ],
  // The control plane: deployments, users, keys, secrets, billing.
  admin: [/^\/v1($|\/)/, /^\/(v1\/)?accounts($|\/)/],
  spelling: { prefixes: { resp_: 'response' }, uuids: true, dialect: true, models: MODELS },
  errors: 'fireworks',
  usage: 'openai',
  accountHeaders: ['x-fireworks-account', 'fireworks-account-id'],
}
