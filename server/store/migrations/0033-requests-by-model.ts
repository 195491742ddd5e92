import type { Migration } from './migration.ts'

/**
 * For lists of one model's requests: without it, a search for a rarely used model reads every row.
 */
export const requestsByModel: Migration = {
  name: '0033-requests-by-model',
  up: (schema) => [
    schema.createIndex('requests_model').on('requests').columns(['account_id', 'model', 'seq']),
  ],
}
