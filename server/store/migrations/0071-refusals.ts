import type { Migration } from './migration.ts'

/**
 * Samples of the requests that the proxy refused, and their numbers by key, code and minute: see
 * server/ledger/refusals/refusal-log.ts.
 */
export const refusals: Migration = {
  name: '0071-refusals',
  up: (schema) => [
    schema
      .createTable('refusals')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('provider', 'text')
      .addColumn('model', 'text')
      .addColumn('method', 'text', (c) => c.notNull())
      .addColumn('status', 'integer', (c) => c.notNull())
      .addColumn('code', 'text', (c) => c.notNull())
      .addColumn('detail', 'text', (c) => c.notNull())
      .addColumn('count', 'bigint', (c) => c.notNull()),
    schema.createIndex('refusals_key').on('refusals').columns(['key_id', 'created_at', 'id']),
    schema
      .createIndex('refusals_account')
      .on('refusals')
      .columns(['account_id', 'created_at', 'id']),
    schema.createIndex('refusals_time').on('refusals').columns(['created_at', 'id']),
    schema
      .createTable('refusal_minutes')
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('minute', 'bigint', (c) => c.notNull())
      .addColumn('code', 'text', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.notNull())
      .addColumn('refused', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('refusal_minutes_pk', ['key_id', 'minute', 'code']),
    schema
      .createIndex('refusal_minutes_account')
      .on('refusal_minutes')
      .columns(['account_id', 'minute']),
    schema.createIndex('refusal_minutes_time').on('refusal_minutes').column('minute'),
  ],
}
