import type { Migration } from './index.ts'

/**
 * For lists of one model's requests: without it, a model that hardly anybody calls is looked for in
 * every row.
 */
export const requestsByModel: Migration = {
  name: '0033-requests-by-model',
  up: (schema) => [
    schema.createIndex('requests_model').on('requests').columns(['account_id', 'model', 'seq']),
  ],
}
