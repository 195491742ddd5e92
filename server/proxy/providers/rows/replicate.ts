import type { ModelPlace } from '../endpoint-row.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

const PROSE = ['input.prompt', 'input.system_prompt', 'input.text']
const AT_PATH: ModelPlace = {
  at: 'path',
  body: { required: [], also: ['model', 'version'], prose: PROSE },
}
const PREDICTION = creates('prediction')

/**
 * Replicate: https://replicate.com/docs/reference/http. Models are named by their path, or by a
 * version: `owner/name:version`, for a key with models also under `owner/name`.
 */
export const replicate: ProviderRow = {
  id: 'replicate',
  name: 'Replicate',
  variable: 'REPLICATE_API_TOKEN',
  base: 'https://api.replicate.com/v1',
  hosts: ['api.replicate.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/account' },
  sites: [
    {
      hosts: ['replicate.delivery', '*.replicate.delivery'],
      anonymous: true,
      endpoints: [neutral('GET /{path*}')],
    },
  ],
  endpoints: [
    ...['/v1', ''].map((at) =>
      model(`POST ${at}/models/{publisher}/{any}/predictions`, AT_PATH, {
        modelName: '{publisher}/{any}',
        ...PREDICTION,
      }),
    ),
    model('POST /v1/deployments/{publisher}/{any}/predictions', AT_PATH, {
      modelName: 'deployments/{publisher}/{any}',
      ...PREDICTION,
    }),
    model(
      'POST /v1/predictions',
      { at: 'body', body: { required: ['version'], also: ['model'], prose: PROSE } },
      PREDICTION,
    ),
    neutral('GET /v1/predictions'),
    neutral('GET /v1/predictions/{prediction}'),
    neutral('POST /v1/predictions/{prediction}/cancel'),
    model(
      'POST /v1/models/{publisher}/{any}/versions/{any}/trainings',
      STORED,
      creates('training'),
    ),
    neutral('GET /v1/trainings', { listed: { 'results[].id': 'training' } }),
    neutral('GET /v1/trainings/{training}'),
    neutral('POST /v1/trainings/{training}/cancel'),
    neutral('POST /v1/files', { ...creates('file'), uploads: 'form' }),
    neutral('GET /v1/files'),
    neutral('GET DELETE /v1/files/{file}'),
    neutral('GET POST /v1/models', { listed: null }),
    neutral('GET /v1/models/{any*}'),
    ...['collections', 'collections/{any}', 'hardware'].map((what) =>
      neutral(`GET /v1/${what}`, { listed: null }),
    ),
  ],
  // Hardware that is billed by the hour.
  admin: [/^\/v1\/deployments(?:\/[^/]+\/[^/]+)?$/],
  spelling: { collections: { files: 'file' } },
  errors: { title: '{type}', detail: '{message}', status: '{status}', error: '{message}' },
  usage: 'openai',
  modelNames: (name) => {
    const model = /^([\w.-]+\/[\w.-]+):[0-9a-f]+$/.exec(name)?.[1]
    return model === undefined ? [name] : [model, name]
  },
}
