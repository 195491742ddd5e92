import type { CreateTableBuilder } from 'kysely'
import type { Migration } from './migration.ts'

/** The columns of usage_hours that are summed; those of TOKENS may be null. */
const COUNTS = [
  'requests',
  'errors',
  'aborted',
  'unknown',
  'unmetered',
  'bytes_in',
  'bytes_out',
  'answered',
  'first_byte_ms',
  'total_ms',
]
const TOKENS = ['tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning']

function withSums(table: CreateTableBuilder<string, string>): CreateTableBuilder<string, string> {
  for (const name of COUNTS) table = table.addColumn(name, 'bigint', (c) => c.notNull())
  for (const name of TOKENS) table = table.addColumn(name, 'bigint')
  return table
}

/**
 * Roll-ups of whole accounts, and totals of keys. They are empty at first: maintenance fills them
 * an hour at a time from usage_hours (server/ledger/rollups/coarser.ts), and reports read hours
 * until then.
 */
export const usageTotals: Migration = {
  name: '0081-usage-totals',
  up: (schema) => [
    ...(['hour', 'day'] as const).flatMap((time) => {
      const table = `usage_account_${time}s`
      return [
        withSums(
          schema
            .createTable(table)
            .addColumn('account_id', 'text', (c) => c.notNull())
            .addColumn(time, 'bigint', (c) => c.notNull())
            .addColumn('provider', 'text', (c) => c.notNull())
            .addColumn('model', 'text', (c) => c.notNull()),
        ).addPrimaryKeyConstraint(`${table}_pk`, ['account_id', time, 'provider', 'model']),
        schema
          .createIndex(`${table}_by_${time}`)
          .on(table)
          .columns([time, 'account_id', 'provider', 'model']),
      ]
    }),
    withSums(
      schema
        .createTable('usage_keys')
        .addColumn('key_id', 'text', (c) => c.primaryKey())
        .addColumn('account_id', 'text', (c) => c.notNull()),
    ),
    schema.createIndex('usage_keys_account').on('usage_keys').columns(['account_id', 'key_id']),
    schema
      .createTable('usage_key_days')
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('day', 'bigint', (c) => c.notNull())
      .addColumn('requests', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('usage_key_days_pk', ['key_id', 'day']),
  ],
}
