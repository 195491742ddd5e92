import type { Migration } from './migration.ts'

/** Indexes by which sweeps find the rows that are due without reading all others. */
export const sweeps: Migration = {
  name: '0021-sweeps',
  up: (schema) => [
    schema.createIndex('jobs_expiry').on('jobs').columns(['status', 'expires_at']),
    schema.createIndex('blobs_instance').on('blobs').column('instance_id'),
  ],
}
