import type { Migration } from './migration.ts'

/**
 * When an account was deleted; its row stays, because others refer to it. And links to reset a
 * password.
 */
export const accountEnds: Migration = {
  name: '0074-account-ends',
  up: (schema) => [
    schema.alterTable('accounts').addColumn('deleted_at', 'bigint'),
    schema
      .createTable('password_resets')
      .addColumn('account_id', 'text', (c) => c.primaryKey().references('accounts.id'))
      .addColumn('public_id', 'text', (c) => c.notNull().unique())
      .addColumn('hash', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull()),
  ],
}
