import type { Migration } from './index.ts'

/** Sweeps look at what is due, and never at everything. */
export const sweeps: Migration = {
  name: '0021-sweeps',
  up: (schema) => [
    schema.createIndex('jobs_expiry').on('jobs').columns(['status', 'expires_at']),
    schema.createIndex('blobs_instance').on('blobs').column('instance_id'),
  ],
}
