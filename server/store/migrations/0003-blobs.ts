import type { Migration } from './migration.ts'

/** Stored bytes, and the responses that an Idempotency-Key repeats. */
export const blobs: Migration = {
  name: '0003-blobs',
  up: (schema) => [
    schema
      .createTable('blobs')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('expires_at', 'bigint', (c) => c.notNull()),
    schema.createIndex('blobs_expiry').on('blobs').column('expires_at'),
    schema
      .createTable('idempotency')
      .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
      .addColumn('key', 'text', (c) => c.notNull())
      .addColumn('fingerprint', 'text', (c) => c.notNull())
      .addColumn('instance_id', 'text', (c) => c.references('instances.id').onDelete('cascade'))
      .addColumn('content_type', 'text')
      .addColumn('blob_id', 'text')
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('idempotency_key', ['account_id', 'key']),
    schema.createIndex('idempotency_instance').on('idempotency').column('instance_id'),
    schema.createIndex('idempotency_expiry').on('idempotency').column('expires_at'),
  ],
}
