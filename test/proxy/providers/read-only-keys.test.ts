// Which requests change what a provider stores: a key that is read-only may send all others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesStored } from '../../../server/proxy/providers/changes.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'

const table = createProviderTable()

/** TABLE of requests that generate or read. */
const READS: [provider: string, ...requests: string[]][] = [
  [
    'openai',
    'POST /v1/responses',
    'POST /v1/chat/completions',
    'GET /v1/files',
    'GET /v1/files/file-1/content',
    'HEAD /v1/models',
    'POST /v1/embeddings',
    'POST /v1/audio/speech',
    'POST /v1/videos',
    'POST /v1/vector_stores/vs_1/search',
    'POST /v1/responses/input_tokens',
    'POST /v1/moderations',
  ],
  [
    'google',
    'POST /v1beta/models/g:generateContent',
    'POST /v1beta/models/g:predictLongRunning',
    'POST /v1beta/interactions',
    'GET /v1beta/files/f',
    'POST /v1beta/tunedModels/t:generateContent',
  ],
  [
    'vertex',
    'POST /v1/publishers/google/models/g:streamGenerateContent',
    'POST /v1/publishers/google/models/v:fetchPredictOperation',
  ],
  [
    'anthropic',
    'POST /v1/messages',
    'POST /v1/messages/count_tokens',
    'GET /v1/messages/batches/b',
  ],
  ['mistral', 'POST /v1/conversations', 'POST /v1/ocr'],
  ['xai', 'POST /v1/documents/search', 'POST /v1/videos/generations'],
  ['perplexity', 'POST /search', 'POST /v1/async/sonar'],
  ['bedrock', 'POST /model/m/converse'],
  ['fireworks', 'POST /inference/v1/workflows/accounts/fireworks/models/m/text_to_image'],
]

/** TABLE of requests that make, change or end something, or of which that is not known. */
const CHANGES: [provider: string, ...requests: string[]][] = [
  [
    'openai',
    'POST /v1/files',
    'DELETE /v1/files/f',
    'POST /v1/batches',
    'POST /v1/batches/b/cancel',
    'POST /v1/responses/r/cancel',
    'DELETE /v1/responses/r',
    'POST /v1/conversations',
    'POST /v1/conversations/c/items',
    'POST /v1/assistants',
    'POST /v1/assistants/a',
    'POST /v1/threads/runs',
    'POST /v1/threads/t/runs',
    'POST /v1/fine_tuning/jobs',
    'POST /v1/chat/completions/c',
    'DELETE /v1/models/ft:m',
    'POST /v1/vector_stores',
    'POST /v1/unknown',
    'POST /v1/Responses',
    'POST /v1/responses/',
    'PATCH /v1/responses',
    'PUT /v1/anything',
  ],
  [
    'google',
    'POST /v1beta/tunedModels',
    'PATCH /v1beta/tunedModels/t',
    'DELETE /v1beta/tunedModels/t',
    'POST /v1beta/cachedContents',
    'POST /v1beta/models/g:batchGenerateContent',
    'POST /upload/v1beta/files',
    'POST /v1beta/models/g/operations/o:cancel',
    'POST /v1beta/agents',
  ],
  [
    'vertex',
    'POST /v1/projects/p/locations/l/cachedContents',
    'POST /v1/projects/p/locations/l/tuningJobs',
  ],
  [
    'anthropic',
    'POST /v1/messages/batches',
    'POST /v1/files',
    'POST /v1/sessions',
    'POST /v1/agents',
  ],
  [
    'mistral',
    'POST /v1/conversations/c',
    'POST /v1/agents',
    'POST /v1/batch/jobs',
    'POST /v1/agents/completions',
  ],
  ['together', 'POST /v1/fine-tunes'],
]

for (const [changes, rows] of [
  [false, READS],
  [true, CHANGES],
] as const) {
  for (const [id, ...requests] of rows) {
    test(`${id}: ${changes ? 'changes what is stored' : 'generates or reads'}`, () => {
      for (const request of requests) {
        const [method = '', path = ''] = request.split(' ')
        assert.equal(
          changesStored(classify(table.byId(id)!, method, path), method),
          changes,
          request,
        )
      }
    })
  }
}

test('no row treats a method other than GET and POST as a read', () => {
  for (const { id, endpoints } of PROVIDERS) {
    for (const { on } of endpoints) {
      const [path = '', ...methods] = on.split(' ').toReversed()
      for (const method of methods.filter((one) => one !== 'GET' && one !== 'POST')) {
        assert.ok(
          changesStored(
            classify(table.byId(id)!, method, path.replaceAll(/\{\w+[:*]?\}/g, 'x')),
            method,
          ),
          `${id} ${method} ${path}`,
        )
      }
    }
  }
})
