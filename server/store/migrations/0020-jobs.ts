import type { Migration } from './migration.ts'

/** Background conversions. */
export const jobs: Migration = {
  name: '0020-jobs',
  up: (schema) => [
    schema
      .createTable('jobs')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('format', 'text', (c) => c.notNull())
      .addColumn('include_metadata', 'integer', (c) => c.notNull())
      .addColumn('file_name', 'text', (c) => c.notNull())
      .addColumn('file_size', 'bigint', (c) => c.notNull())
      .addColumn('upload_blob', 'text')
      .addColumn('result_blob', 'text')
      .addColumn('pages_done', 'integer', (c) => c.notNull())
      .addColumn('pages_total', 'integer')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .addColumn('error_code', 'text')
      .addColumn('error_detail', 'text')
      .addColumn('claimable_at', 'bigint', (c) => c.notNull())
      .addColumn('instance_id', 'text', (c) => c.references('instances.id').onDelete('set null'))
      .addColumn('claim', 'text')
      .addColumn('claims', 'integer', (c) => c.notNull())
      .addColumn('failures', 'integer', (c) => c.notNull()),
    schema.createIndex('jobs_account').on('jobs').columns(['account_id', 'id']),
    schema.createIndex('jobs_claimable').on('jobs').columns(['status', 'claimable_at']),
    schema.createIndex('jobs_finished').on('jobs').column('finished_at'),
    schema.createIndex('jobs_instance').on('jobs').column('instance_id'),
    schema.alterTable('blobs').addColumn('instance_id', 'text'),
    schema.alterTable('idempotency').addColumn('job_id', 'text'),
  ],
}
