import type { Migration } from './migration.ts'

/**
 * The error texts of upstreams for failed requests. In a separate table, because few requests have
 * one, of a few hundred bytes.
 */
export const upstreamErrors: Migration = {
  name: '0072-upstream-errors',
  up: (schema) => [
    schema
      .createTable('upstream_errors')
      .addColumn('request_id', 'text', (c) => c.primaryKey())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('upstream_request_id', 'text')
      .addColumn('text', 'text'),
    schema.createIndex('upstream_errors_time').on('upstream_errors').column('created_at'),
    schema.createIndex('upstream_errors_id').on('upstream_errors').column('upstream_request_id'),
  ],
}
