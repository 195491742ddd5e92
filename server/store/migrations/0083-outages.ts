import type { Migration } from './migration.ts'

/**
 * `outage` is 1 for a request that was admitted while the store did not respond
 * (server/ledger/admission/outage-fallback.ts); null for all others. `role` says whether an
 * instance admits requests; null if an older version wrote it, which admits requests.
 */
export const outages: Migration = {
  name: '0083-outages',
  up: (schema) => [
    schema.alterTable('requests').addColumn('outage', 'integer'),
    schema.alterTable('instances').addColumn('role', 'text'),
  ],
}
