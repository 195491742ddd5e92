import type { Migration } from './index.ts'

/**
 * Keys that were taken out of every list: their rows stay, because reports name them and changes of
 * keys are numbered by the highest one.
 */
export const purgedKeys: Migration = {
  name: '0073-purged-keys',
  up: (schema) => [schema.alterTable('keys').addColumn('purged_at', 'bigint')],
}
