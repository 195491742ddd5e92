import type { Migration } from './index.ts'

/**
 * Up to which roll-up of the hour that begins at the mark has been added; null: to none
 * (server/ledger/rollups/coarser.ts).
 */
export const usageSteps: Migration = {
  name: '0082-usage-steps',
  up: (schema) =>
    ['key_id', 'provider', 'model'].map((column) =>
      schema.alterTable('usage_added').addColumn(column, 'text'),
    ),
}
