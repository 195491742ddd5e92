import { creates, model, neutral } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'

/** Rev AI: https://docs.rev.ai/api. Which transcriber works is an option of the job. */
export const revai: ProviderRow = {
  id: 'revai',
  name: 'Rev AI',
  variable: 'REVAI_API_KEY',
  base: 'https://api.rev.ai/speechtotext/v1',
  hosts: ['api.rev.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/speechtotext/v1/jobs?limit=1' },
  endpoints: [
    model(
      'POST /speechtotext/v1/jobs',
      { at: 'path', body: { required: [], also: ['model'], multipart: true } },
      { modelName: 'revai/jobs', ...creates('job') },
    ),
    neutral('GET /speechtotext/v1/jobs'),
    neutral('GET DELETE /speechtotext/v1/jobs/{job}'),
    ...['transcript', 'transcript/summary', 'captions'].map((what) =>
      neutral(`GET /speechtotext/v1/jobs/{job}/${what}`),
    ),
  ],
  spelling: {},
  errors: {
    title: '{message}',
    detail: '{message}',
    status: '{status}',
    error: { message: '{message}', code: '{status}' },
  },
  usage: 'openai',
}
