import { CompiledQuery } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * The days of the ledger that `tollmark verify` has read and proved (server/ledger/reports/
 * sealed-days.ts), and the last row up to which retention may have deleted rows. Earlier versions
 * did not record it, so at first it is the newest row.
 */
export const sealedDays: Migration = {
  name: '0096-sealed-days',
  up: (schema) => [
    schema
      .createTable('sealed_days')
      .addColumn('day', 'bigint', (c) => c.primaryKey())
      .addColumn('first_seq', 'bigint', (c) => c.notNull())
      .addColumn('last_seq', 'bigint', (c) => c.notNull())
      .addColumn('overlap_seq', 'bigint', (c) => c.notNull())
      .addColumn('requests', 'bigint', (c) => c.notNull())
      .addColumn('limited', 'bigint', (c) => c.notNull())
      .addColumn('outage', 'bigint', (c) => c.notNull())
      .addColumn('missing', 'bigint', (c) => c.notNull())
      .addColumn('violations', 'text')
      .addColumn('digest', 'text', (c) => c.notNull()),
    schema
      .createTable('retention_mark')
      .addColumn('one', 'integer', (c) => c.primaryKey())
      .addColumn('seq', 'bigint', (c) => c.notNull()),
    {
      compile: () =>
        CompiledQuery.raw(
          'insert into retention_mark (one, seq) select 1, coalesce(max(seq), 0) from requests',
        ),
    },
  ],
}
