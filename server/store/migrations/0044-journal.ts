import type { Migration } from './migration.ts'

/**
 * The write-ahead journal of admissions on SQLite: one row for each batch, as text. The batches are
 * moved to `requests` some milliseconds later, hundreds of rows at once, most of them complete: see
 * server/ledger/settlement/journal.ts. On PostgreSQL it stays empty.
 */
export const journal: Migration = {
  name: '0044-journal',
  up: (schema) => [
    schema
      .createTable('journal')
      .addColumn('seq', 'integer', (c) => c.primaryKey())
      .addColumn('instance', 'text', (c) => c.notNull())
      .addColumn('boot', 'bigint', (c) => c.notNull())
      .addColumn('rows', 'text', (c) => c.notNull()),
  ],
}
