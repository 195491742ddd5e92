import type { ModelPlace } from '../endpoint-row.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** JSON, or a form with the job as JSON and its input files. */
const JOB: ModelPlace = {
  at: 'body',
  body: {
    required: ['type'],
    prose: ['config.prompt'],
    formJson: { part: 'job', files: ['input'] },
  },
}

/** Prodia: https://docs.prodia.com/reference. A job's `type` names the model and what it does. */
export const prodia: ProviderRow = {
  id: 'prodia',
  name: 'Prodia',
  variable: 'PRODIA_TOKEN',
  base: 'https://inference.prodia.com/v2',
  hosts: ['inference.prodia.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v2/job/00000000-0000-0000-0000-000000000000', opens: [404] },
  endpoints: [
    model('POST /v2/job', JOB, creates('job')),
    model('POST /v2/job/async', JOB, creates('job')),
    neutral('GET /v2/job/{job}'),
  ],
  spelling: { uuids: true },
  errors: { message: '{message}', detail: '{message}', error: '{message}' },
  usage: 'openai',
}
