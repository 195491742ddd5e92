import type { Migration } from './migration.ts'

/**
 * Warnings, and pages that could not be converted: of the documents of jobs, and of those kept for
 * an Idempotency-Key. Null for documents that are older than this.
 */
export const warnings: Migration = {
  name: '0080-warnings',
  up: (schema) =>
    ['jobs', 'idempotency'].flatMap((table) =>
      ['warnings', 'failed_pages'].map((column) =>
        schema.alterTable(table).addColumn(column, 'integer'),
      ),
    ),
}
