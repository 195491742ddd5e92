import type { Migration } from './index.ts'

/**
 * Accounts that were deleted, whose rows stay for what refers to them; and links by which a person
 * sets a new password.
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
