import { body } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** Voyage AI: https://docs.voyageai.com/reference */
export const voyage: ProviderRow = {
  id: 'voyage',
  name: 'Voyage AI',
  variable: 'VOYAGE_API_KEY',
  base: 'https://api.voyageai.com/v1',
  hosts: ['api.voyageai.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/files?limit=1' },
  endpoints: [
    ...compatibleRows('/v1').filter(({ on }) => /\/(?:embeddings|rerank|files|batches)/.test(on)),
    ...['multimodalembeddings', 'contextualizedembeddings'].map((what) =>
      model(`POST /v1/${what}`, body({ prose: ['inputs[]', 'inputs[][]'] })),
    ),
  ],
  spelling: { uuids: true, dialect: true },
  errors: { detail: '{message}' },
  usage: 'embedding',
}
