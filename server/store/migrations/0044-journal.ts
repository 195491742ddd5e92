import type { Migration } from './index.ts'

/**
 * Where requests are written down when they are let through, on SQLite: one row for all of a
 * moment, as text. They enter `requests` some milliseconds later, hundreds at once, and most of
 * them complete: see server/ledger/settlement/journal.ts. On PostgreSQL it stays empty.
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
