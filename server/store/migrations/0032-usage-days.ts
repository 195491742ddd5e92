import { sql } from 'kysely'
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

/** The usage of keys by the day, summed from the hours. */
export const usageDays: Migration = {
  name: '0032-usage-days',
  up: (schema) => {
    let days = schema
      .createTable('usage_days')
      .addColumn('day', 'bigint', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('model', 'text', (c) => c.notNull())
      .addColumn('account_id', 'text', (c) => c.notNull())
    for (const name of COUNTS) days = days.addColumn(name, 'bigint', (c) => c.notNull())
    for (const name of TOKENS) days = days.addColumn(name, 'bigint')
    return [
      days.addPrimaryKeyConstraint('usage_days_pk', ['key_id', 'day', 'provider', 'model']),
      schema.createIndex('usage_days_account').on('usage_days').columns(['account_id', 'day']),
      // For the hours that have not been added to their days yet.
      schema.createIndex('usage_hours_hour').on('usage_hours').column('hour'),
      schema
        .createTable('usage_added')
        .addColumn('name', 'text', (c) => c.primaryKey())
        .addColumn('before', 'bigint', (c) => c.notNull()),
      // For requests that did not simply succeed: few rows among many.
      schema
        .createIndex('requests_odd')
        .on('requests')
        .columns(['account_id', 'seq'])
        .where(sql<boolean>`status >= 300 or state = 'aborted' or state = 'unknown'`),
    ]
  },
}
