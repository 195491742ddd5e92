import type { Migration } from './migration.ts'

/** Whether a job is certified, and its certificate; older jobs have none. */
export const certificates: Migration = {
  name: '0088-certificates',
  up: (schema) => [
    schema.alterTable('jobs').addColumn('certify', 'integer', (c) => c.notNull().defaultTo(0)),
    schema.alterTable('jobs').addColumn('certificate', 'text'),
  ],
}
