import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * One index for the requests of an account, and of its models, instead of two. It has only ended
 * requests: hundreds are added together and share pages, where each reservation would be written
 * separately. Requests in progress have a small index of their own.
 */
export const endedRequests: Migration = {
  name: '0043-ended-requests',
  up: (schema) => [
    schema.dropIndex('requests_account'),
    schema.dropIndex('requests_model'),
    schema.dropIndex('requests_reserved'),
    schema
      .createIndex('requests_account')
      .on('requests')
      .columns(['account_id', 'seq', 'model'])
      .where(sql.ref('state'), '<>', 'reserved'),
    schema
      .createIndex('requests_reserved')
      .on('requests')
      .columns(['account_id', 'seq'])
      .where(sql.ref('state'), '=', 'reserved'),
  ],
}
