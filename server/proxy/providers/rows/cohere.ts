import type { ModelNames } from '../id-spelling.ts'
import { objectRef } from '../object-ref.ts'
import { body, form, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/**
 * A fine-tuned model is named by its id and `-ft`: docs.cohere.com/docs/chat-starting-the-training.
 */
const MODELS: ModelNames = {
  kinds: ['finetuned_model'],
  refsOf: (name) =>
    /-ft\s*$/i.test(name)
      ? [objectRef('finetuned_model', name.trim().slice(0, -3).toLowerCase())]
      : [],
}

/**
 * The conversation that a v1 chat starts or continues, and the operator's connectors:
 * docs.cohere.com/v1/reference/chat.
 */
const CHAT = { conversation_id: 'conversation', 'connectors[].id': 'connector' } as const

const TRAINING = { 'settings.dataset_id': 'dataset' } as const

const TOOLS = { tools: toolsIn('', CALLER_TOOLS) }

/** Text to chat about, embed, rank and so on, in either version. */
const SAID = [
  'message',
  'preamble',
  'chat_history[].message',
  'messages[].content',
  'messages[].content[].text',
  'texts[]',
  'inputs[]',
  'inputs[].content[].text',
  'query',
  'documents[]',
  'documents[].text',
  'prompt',
  'text',
]

/** Cohere: https://docs.cohere.com/reference */
export const cohere: ProviderRow = {
  id: 'cohere',
  name: 'Cohere',
  variable: 'COHERE_API_KEY',
  base: 'https://api.cohere.com/v2',
  hosts: ['api.cohere.com', 'api.cohere.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/models?page_size=1' },
  endpoints: [
    ...['/v2', '/v1'].flatMap((prefix) =>
      ['chat', 'embed', 'rerank', 'classify', 'generate', 'summarize'].map((verb) =>
        model(
          `POST ${prefix}/${verb}`,
          body({
            ...TOOLS,
            prose: SAID,
            ...(prefix === '/v1' && verb === 'chat' ? { objects: CHAT } : {}),
          }),
        ),
      ),
    ),
    model('POST /v2/parse'),
    model('POST /v2/audio/transcriptions', form()),
    model('POST /v1/tokenize'),
    model('POST /v1/detokenize'),
    neutral('GET /v1/models'),
    neutral('GET /v1/models/{any:}'),
    model(
      'POST /v1/embed-jobs',
      body({ objects: { dataset_id: 'dataset' } }),
      creates('embed_job', 'job_id'),
    ),
    neutral('GET /v1/embed-jobs'),
    neutral('GET /v1/embed-jobs/{embed_job}', creates('dataset', 'output_dataset_id')),
    neutral('POST /v1/embed-jobs/{embed_job}/cancel'),
    neutral('GET POST /v1/datasets', { ...creates('dataset'), uploads: 'form' }),
    neutral('GET DELETE /v1/datasets/{dataset}'),
    model('POST /v2/batches', STORED, {
      ...creates('batch', 'batch.id'),
      names: { input_dataset_id: 'batch_dataset' },
    }),
    ...[':', '/'].map((before) => neutral(`POST /v2/batches/{batch}${before}cancel`)),
    neutral('GET /v2/batches'),
    neutral('GET /v2/batches/{batch}', creates('dataset', 'batch.output_dataset_id')),
    model('POST /v1/finetuning/finetuned-models', STORED, {
      ...creates('finetuned_model', 'finetuned_model.id'),
      names: TRAINING,
    }),
    neutral('GET /v1/finetuning/finetuned-models'),
    neutral('GET DELETE /v1/finetuning/finetuned-models/{finetuned_model}'),
    model('PATCH /v1/finetuning/finetuned-models/{finetuned_model}', STORED, { names: TRAINING }),
    ...['events', 'training-step-metrics'].map((list) =>
      neutral(`GET /v1/finetuning/finetuned-models/{finetuned_model}/${list}`),
    ),
    ...compatibleRows('/compatibility/v1', TOOLS).map((row) => ({
      ...row,
      usage: 'openai' as const,
    })),
  ],
  admin: [/\/(check-api-key|connectors|users)($|[/:])/],
  spelling: { uuids: true, dialect: true, models: MODELS },
  publicObjects: { connector: /^web-search$/ },
  instead: {
    conversation:
      'Which key a conversation belongs to cannot be known. Send the turns in `chat_history` instead of a `conversation_id`.',
  },
  chosenNames: true,
  errors: 'cohere',
  usage: 'cohere',
}
