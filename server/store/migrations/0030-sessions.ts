import type { Migration } from './migration.ts'

/** Passwords, sessions, invitations. */
export const sessions: Migration = {
  name: '0030-sessions',
  up: (schema) => [
    schema
      .createTable('passwords')
      .addColumn('account_id', 'text', (c) => c.primaryKey().references('accounts.id'))
      .addColumn('hash', 'text', (c) => c.notNull()),
    schema
      .createTable('sessions')
      .addColumn('public_id', 'text', (c) => c.primaryKey())
      .addColumn('hash', 'text', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull()),
    schema.createIndex('sessions_account').on('sessions').column('account_id'),
    schema.createIndex('sessions_expiry').on('sessions').column('expires_at'),
    schema
      .createTable('attempts')
      .addColumn('subject', 'text', (c) => c.primaryKey())
      .addColumn('failures', 'integer', (c) => c.notNull())
      .addColumn('blocked_until', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull()),
    schema.createIndex('attempts_expiry').on('attempts').column('expires_at'),
    schema
      .createTable('invitations')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('public_id', 'text', (c) => c.notNull().unique())
      .addColumn('hash', 'text', (c) => c.notNull())
      .addColumn('email', 'text')
      .addColumn('plan', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.references('accounts.id')),
  ],
}
