import type { Migration } from './migration.ts'

/** Proxy keys. */
export const keys: Migration = {
  name: '0010-keys',
  up: (schema) => [
    schema
      .createTable('keys')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('public_id', 'text', (c) => c.notNull())
      .addColumn('models', 'text')
      .addColumn('rpm', 'integer')
      .addColumn('allowed_origins', 'text')
      .addColumn('expires_at', 'bigint')
      .addColumn('disabled', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('revoked_at', 'bigint')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('revision', 'bigint', (c) => c.notNull().unique()),
    schema.createIndex('keys_account').on('keys').columns(['account_id', 'created_at']),
    schema
      .createTable('key_secrets')
      .addColumn('public_id', 'text', (c) => c.primaryKey())
      .addColumn('key_id', 'text', (c) => c.notNull().references('keys.id'))
      .addColumn('hash', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'bigint'),
    schema.createIndex('key_secrets_key').on('key_secrets').column('key_id'),
  ],
}
