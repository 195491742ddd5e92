import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** Rev AI: https://docs.rev.ai/api. The transcriber is an option of the job. */
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
      {
        at: 'path',
        body: {
          required: [],
          also: ['model'],
          multipart: true,
          objects: { custom_vocabulary_id: 'vocabulary' },
        },
      },
      { modelName: 'revai/jobs', ...creates('job') },
    ),
    neutral('GET /speechtotext/v1/jobs'),
    neutral('GET DELETE /speechtotext/v1/jobs/{job}'),
    ...['transcript', 'transcript/summary', 'captions'].map((what) =>
      neutral(`GET /speechtotext/v1/jobs/{job}/${what}`),
    ),
    ...['transcript', 'captions'].map((what) =>
      neutral(`GET /speechtotext/v1/jobs/{job}/${what}/translation/{any}`),
    ),
    neutral('GET POST /speechtotext/v1/vocabularies', creates('vocabulary')),
    neutral('GET DELETE /speechtotext/v1/vocabularies/{vocabulary}'),
    ...['languageid', 'sentiment_analysis', 'topic_extraction'].flatMap((task) => [
      model(
        `POST /${task}/v1/jobs`,
        { at: 'path', body: { required: [], also: ['model'], multipart: true, prose: ['text'] } },
        { modelName: `revai/${task}`, ...creates('job') },
      ),
      neutral(`GET /${task}/v1/jobs`),
      neutral(`GET DELETE /${task}/v1/jobs/{job}`),
      neutral(`GET /${task}/v1/jobs/{job}/result`),
    ]),
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
