import { BODY, body, creates, compatibleRows, model, neutral } from './openai-rows.ts'
import type { ProviderRow } from './provider.ts'

/** Together: https://docs.together.ai/reference */
export const together: ProviderRow = {
  id: 'together',
  name: 'Together AI',
  base: 'https://api.together.xyz/v1',
  hosts: ['api.together.xyz', 'api.together.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    ...compatibleRows('/v1', { also: [...(BODY.also ?? []), 'safety_model'] }).map((row) => (row.creates?.['id'] === 'batch' ? { ...row, ...creates('batch', 'id', 'job.id') } : row)),
    ...['/v1', '/v2'].flatMap((prefix) => [model(`POST ${prefix}/videos`, undefined, creates('video')), neutral(`GET ${prefix}/videos/{video}`)]),
    neutral('POST /v1/files/upload', creates('file')),
    model('POST /v1/fine-tunes', body({ objects: { training_file: 'file', validation_file: 'file' } }), creates('fine_tuning_job')),
    neutral('GET /v1/fine-tunes'),
    neutral('GET /v1/fine-tunes/{fine_tuning_job}'),
    neutral('GET /v1/fine-tunes/{fine_tuning_job}/events'),
    neutral('POST /v1/fine-tunes/{fine_tuning_job}/cancel'),
  ],
  // Dedicated endpoints, clusters and volumes are rented machines.
  admin: [/^\/v[0-9]+\/(endpoints|clusters?|compute|gpu_cluster|hardware|storage|projects|users|billing|deployments)($|[/:])/],
  errors: 'openai',
  usage: 'openai',
}
