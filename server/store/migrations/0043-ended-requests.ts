import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * The requests of an account, and of its models, in one index in place of two. It holds a request
 * from its end on: hundreds enter it together and share pages, where each reservation would be
 * written by itself. Those under way are in the small index that tells them from the others.
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
