import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** The path names the model; a task may read a file. */
const TASK = {
  at: 'path',
  body: { required: [], also: ['model'], prose: ['inputs', 'inputs[]'] },
} as const

/** Hugging Face Inference Providers: https://huggingface.co/docs/inference-providers */
export const huggingface: ProviderRow = {
  id: 'huggingface',
  name: 'Hugging Face',
  variable: 'HUGGINGFACE_API_KEY',
  base: 'https://router.huggingface.co/v1',
  hosts: ['router.huggingface.co'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  // Which organization pays: https://huggingface.co/docs/inference-providers/pricing
  accountChoice: ['x-hf-bill-to'],
  endpoints: [
    ...compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }),
    // It routes to other providers, which have their own dialects: `/groq/openai/v1/…`.
    ...['chat/completions', 'completions', 'embeddings', 'images/generations'].map((what) =>
      model(`POST /{base*}/${what}`, body({ tools: toolsIn('', CALLER_TOOLS) })),
    ),
    model('POST /hf-inference/models/{publisher}/{any}', TASK, { modelName: '{publisher}/{any}' }),
    model('POST /hf-inference/models/{publisher}/{any}/pipeline/{any}', TASK, {
      modelName: '{publisher}/{any}',
    }),
  ],
  spelling: { uuids: true, dialect: true },
  errors: 'openai',
  usage: 'openai',
}
