import type { Migration } from './migration.ts'

/** The program that a job's pages are for; null if it makes one document. */
export const pageFlavors: Migration = {
  name: '0087-page-flavors',
  up: (schema) => [schema.alterTable('jobs').addColumn('flavor', 'text')],
}
