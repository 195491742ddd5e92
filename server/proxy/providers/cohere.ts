import { body, compatibleRows, creates, form, model, neutral, STORED, toolsIn } from './openai-rows.ts'
import type { ProviderRow } from './provider.ts'
import { CALLER_TOOLS } from './tools.ts'

const TRAINING = { 'settings.dataset_id': 'dataset' } as const

const TOOLS = { tools: toolsIn('', CALLER_TOOLS) }

/** Cohere: https://docs.cohere.com/reference */
export const cohere: ProviderRow = {
  id: 'cohere',
  name: 'Cohere',
  base: 'https://api.cohere.com/v2',
  hosts: ['api.cohere.com', 'api.cohere.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    ...['/v2', '/v1'].flatMap((prefix) => ['chat', 'embed', 'rerank', 'classify', 'generate', 'summarize'].map((verb) => model(`POST ${prefix}/${verb}`, body(TOOLS)))),
    model('POST /v2/parse'),
    model('POST /v2/audio/transcriptions', form()),
    model('POST /v1/tokenize'),
    model('POST /v1/detokenize'),
    neutral('GET /v1/models'),
    neutral('GET /v1/models/{any:}'),
    model('POST /v1/embed-jobs', body({ objects: { dataset_id: 'dataset' } }), creates('embed_job', 'job_id')),
    neutral('GET /v1/embed-jobs'),
    neutral('GET /v1/embed-jobs/{embed_job}', creates('dataset', 'output_dataset_id')),
    neutral('POST /v1/embed-jobs/{embed_job}/cancel'),
    neutral('GET POST /v1/datasets', { ...creates('dataset'), uploads: 'form' }),
    neutral('GET DELETE /v1/datasets/{dataset}'),
    model('POST /v2/batches', STORED, { ...creates('batch', 'batch.id'), names: { input_dataset_id: 'batch_dataset' } }),
    ...[':', '/'].map((before) => neutral(`POST /v2/batches/{batch}${before}cancel`)),
    neutral('GET /v2/batches'),
    neutral('GET /v2/batches/{batch}', creates('dataset', 'batch.output_dataset_id')),
    model('POST /v1/finetuning/finetuned-models', STORED, { ...creates('finetuned_model', 'finetuned_model.id'), names: TRAINING }),
    neutral('GET /v1/finetuning/finetuned-models'),
    neutral('GET DELETE /v1/finetuning/finetuned-models/{finetuned_model}'),
    model('PATCH /v1/finetuning/finetuned-models/{finetuned_model}', STORED, { names: TRAINING }),
    ...['events', 'training-step-metrics'].map((list) => neutral(`GET /v1/finetuning/finetuned-models/{finetuned_model}/${list}`)),
    ...compatibleRows('/compatibility/v1', TOOLS).map((row) => ({ ...row, usage: 'openai' as const })),
  ],
  admin: [/\/(check-api-key|connectors|users)($|[/:])/],
  spelling: { uuids: true, dialect: true },
  chosenNames: true,
  errors: 'cohere',
  usage: 'cohere',
}
