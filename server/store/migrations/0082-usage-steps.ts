import type { Migration } from './migration.ts'

/**
 * The last row of usage_hours, in the hour that begins at the mark, that has been added; null: none
 * (server/ledger/rollups/coarser.ts).
 */
export const usageSteps: Migration = {
  name: '0082-usage-steps',
  up: (schema) =>
    ['key_id', 'provider', 'model'].map((column) =>
      schema.alterTable('usage_added').addColumn(column, 'text'),
    ),
}
