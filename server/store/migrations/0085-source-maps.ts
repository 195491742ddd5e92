import type { Migration } from './migration.ts'

/** Whether a job's document has a source map. */
export const sourceMaps: Migration = {
  name: '0085-source-maps',
  up: (schema) => [
    schema.alterTable('jobs').addColumn('source_map', 'integer', (c) => c.notNull().defaultTo(0)),
  ],
}
