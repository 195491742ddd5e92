import type { Migration } from './migration.ts'

/** Providers that an administrator added. */
export const providers: Migration = {
  name: '0031-providers',
  up: (schema) => [
    schema
      .createTable('providers')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('origin', 'text', (c) => c.notNull().unique())
      .addColumn('dial', 'text')
      .addColumn('auth_header', 'text')
      .addColumn('auth_scheme', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull()),
    // Requests that a key's limit refused. They are not in the ledger.
    schema
      .createTable('refused_hours')
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('hour', 'bigint', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.notNull())
      .addColumn('refused', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('refused_hours_pk', ['key_id', 'hour']),
    schema.createIndex('refused_hours_account').on('refused_hours').columns(['account_id', 'hour']),
  ],
}
