import type { Migration } from './migration.ts'

/** Running processes, and the conversions of each account by day. */
export const quota: Migration = {
  name: '0002-quota',
  up: (schema) => [
    schema
      .createTable('instances')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('host', 'text', (c) => c.notNull())
      .addColumn('pid', 'integer', (c) => c.notNull())
      .addColumn('seen_at', 'bigint', (c) => c.notNull()),
    schema
      .createTable('quota_days')
      .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
      .addColumn('day', 'integer', (c) => c.notNull())
      .addColumn('used', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('quota_days_key', ['account_id', 'day']),
    schema
      .createTable('reservations')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
      .addColumn('day', 'integer', (c) => c.notNull())
      .addColumn('instance_id', 'text', (c) =>
        c.notNull().references('instances.id').onDelete('cascade'),
      ),
    schema.createIndex('reservations_account').on('reservations').columns(['account_id', 'day']),
    schema.createIndex('reservations_instance').on('reservations').column('instance_id'),
  ],
}
