import type { ModelNames } from '../id-spelling.ts'
import { objectRef } from '../object-ref.ts'
import { BODY, body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/**
 * A fine-tuned model ends with the job's hash, `acme/Meta-Llama-3-8b-1a2b3c4d` (openapi of
 * Together's, FinetuneResponse).
 */
const TUNED = /-[0-9a-f]{8}(?::[\w-]*)?\s*$/
/** A date, with which public models end: such a name is owned only if a job created it. */
const DATED = /-20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\s*$/
const MODELS: ModelNames = {
  kinds: ['tuned_model'],
  refsOf: (name) =>
    TUNED.test(name)
      ? [{ ...objectRef('tuned_model', name), ...(DATED.test(name) ? { mayBeUnknown: true } : {}) }]
      : [],
}

/** A job, and the model that it creates. */
const JOB = {
  creates: { id: 'fine_tuning_job', model_output_name: 'tuned_model', output_name: 'tuned_model' },
} as const

// A job may continue from another's checkpoint.
const tuning = body({
  stored: ['from_checkpoint', 'from_hf_model'],
  objects: { training_file: 'file', validation_file: 'file', from_checkpoint: 'fine_tuning_job' },
})

/** Together: https://docs.together.ai/reference */
export const together: ProviderRow = {
  id: 'together',
  name: 'Together AI',
  variable: 'TOGETHER_API_KEY',
  base: 'https://api.together.xyz/v1',
  hosts: ['api.together.xyz', 'api.together.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: [
    ...compatibleRows('/v1', {
      also: [...(BODY.also ?? []), 'safety_model', 'reference_models[]'],
      tools: toolsIn('', CALLER_TOOLS),
    }).map((row) => {
      if (row.creates?.['id'] === 'batch') return { ...row, ...creates('batch', 'id', 'job.id') }
      // A POST there creates a job, but the list there is of models.
      return row.on === 'GET /v1/models' ? { ...row, listed: null } : row
    }),
    ...['/v1', '/v2'].flatMap((prefix) => [
      model(`POST ${prefix}/videos`, undefined, creates('video')),
      neutral(`GET ${prefix}/videos/{video}`),
    ]),
    neutral('POST /v1/files/upload', { ...creates('file'), uploads: 'form' }),
    model('POST /v1/fine-tunes', tuning, JOB),
    ...['estimate-price', 'preview'].map((verb) => model(`POST /v1/fine-tunes/${verb}`, tuning)),
    neutral('GET /v1/fine-tunes'),
    neutral('GET DELETE /v1/fine-tunes/{fine_tuning_job}', JOB),
    ...['events', 'checkpoints', 'metrics', 'download-tokenized-dataset'].map((part) =>
      neutral(`GET /v1/fine-tunes/{fine_tuning_job}/${part}`),
    ),
    neutral('GET /v1/fine-tunes/models/limits'),
    neutral('POST /v1/fine-tunes/{fine_tuning_job}/cancel'),
    neutral('GET /v1/finetune/download', { asks: { ft_id: 'fine_tuning_job' } }),
    // A judge, and the models that it judges, may run anywhere.
    model('POST /v1/evaluation', STORED, {
      ...creates('evaluation', 'workflow_id'),
      names: { 'parameters.input_data_file_path': 'file' },
    }),
    neutral('GET /v1/evaluation'),
    neutral('GET /v1/evaluation/{evaluation}', creates('file', 'results.result_file_id')),
    neutral('GET /v1/evaluation/{evaluation}/status', creates('file', 'results.result_file_id')),
    model('POST /v1/models', STORED, creates('job', 'data.job_id')),
    neutral('GET /v1/jobs/{job}'),
    model('POST /v1/tci/execute', STORED, {
      ...creates('code_session', 'data.session_id'),
      names: { session_id: 'code_session' },
    }),
    model('POST /v1/queue/submit', STORED, creates('queued', 'requestId')),
    neutral('GET /v1/queue/status', { asks: { request_id: 'queued' } }),
    neutral('POST /v1/queue/cancel', { names: { request_id: 'queued' } }),
    neutral('GET /v1/voices'),
    neutral('GET /v1/supported-models'),
    neutral('GET /v1/supported-models/{any*}'),
    neutral('GET /v1/public/inference-instance-types'),
    neutral('GET /v1/public/inference-instance-types/{any}'),
  ],
  admin: [
    // All requests queued for a model.
    /^\/v[0-9]+\/queue\/(clear|metrics)($|[/:])/,
    // Dedicated endpoints, clusters and volumes are rented machines.
    /^\/v[0-9]+\/(endpoints|clusters?|compute|gpu_cluster|hardware|storage|projects|users|billing|deployments)($|[/:])/,
  ],
  spelling: {
    prefixes: { 'file-': 'file', 'ft-': 'fine_tuning_job', 'eval-': 'evaluation' },
    uuids: true,
    dialect: true,
    models: MODELS,
  },
  errors: 'openai',
  usage: 'openai',
}
