import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The requests of keys, and their usage by the hour. */
export const ledger: Migration = {
  name: '0011-ledger',
  up: (schema) => [
    schema
      .createTable('requests')
      .addColumn('seq', 'integer', (c) => c.primaryKey())
      .addColumn('id', 'text', (c) => c.notNull().unique())
      .addColumn('account_id', 'text', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('rpm', 'integer')
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('model', 'text')
      .addColumn('endpoint', 'text', (c) => c.notNull())
      .addColumn('method', 'text', (c) => c.notNull())
      .addColumn('context', 'text')
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('instance', 'text', (c) => c.notNull())
      .addColumn('mono', 'bigint', (c) => c.notNull())
      .addColumn('boot', 'bigint', (c) => c.notNull())
      .addColumn('status', 'integer')
      .addColumn('error', 'text')
      .addColumn('credential_id', 'text')
      .addColumn('first_byte_ms', 'integer')
      .addColumn('total_ms', 'integer')
      .addColumn('bytes_in', 'bigint')
      .addColumn('bytes_out', 'bigint')
      .addColumn('tokens_in', 'bigint')
      .addColumn('tokens_out', 'bigint')
      .addColumn('tokens_cached', 'bigint')
      .addColumn('tokens_reasoning', 'bigint'),
    // For a key's window and its newest requests; an account's newest requests; the open requests
    // of dead processes.
    schema.createIndex('requests_key').on('requests').columns(['key_id', 'seq']),
    schema.createIndex('requests_account').on('requests').columns(['account_id', 'seq']),
    schema
      .createIndex('requests_reserved')
      .on('requests')
      .column('instance')
      .where(sql.ref('state'), '=', 'reserved'),
    schema
      .createTable('usage_hours')
      .addColumn('hour', 'bigint', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('model', 'text', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.notNull())
      .addColumn('requests', 'bigint', (c) => c.notNull())
      .addColumn('errors', 'bigint', (c) => c.notNull())
      .addColumn('aborted', 'bigint', (c) => c.notNull())
      .addColumn('unknown', 'bigint', (c) => c.notNull())
      .addColumn('unmetered', 'bigint', (c) => c.notNull())
      .addColumn('bytes_in', 'bigint', (c) => c.notNull())
      .addColumn('bytes_out', 'bigint', (c) => c.notNull())
      .addColumn('tokens_in', 'bigint')
      .addColumn('tokens_out', 'bigint')
      .addColumn('tokens_cached', 'bigint')
      .addColumn('tokens_reasoning', 'bigint')
      .addColumn('answered', 'bigint', (c) => c.notNull())
      .addColumn('first_byte_ms', 'bigint', (c) => c.notNull())
      .addColumn('total_ms', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('usage_hours_pk', ['key_id', 'hour', 'provider', 'model']),
    schema.createIndex('usage_hours_account').on('usage_hours').columns(['account_id', 'hour']),
  ],
}
