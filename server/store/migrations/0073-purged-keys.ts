import type { Migration } from './migration.ts'

/**
 * When a key was removed from every list. Its row stays, because reports name it, and because the
 * highest `revision` among the rows numbers the next change.
 */
export const purgedKeys: Migration = {
  name: '0073-purged-keys',
  up: (schema) => [schema.alterTable('keys').addColumn('purged_at', 'bigint')],
}
