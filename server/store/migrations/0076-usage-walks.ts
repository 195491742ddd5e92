import type { Migration } from './migration.ts'

/**
 * Roll-ups are summed a bounded number of rows at a time, so the indexes by time have all columns
 * that distinguish rows.
 */
export const usageWalks: Migration = {
  name: '0076-usage-walks',
  up: (schema) => [
    schema.dropIndex('usage_hours_account'),
    schema.dropIndex('usage_hours_hour'),
    schema.dropIndex('usage_days_account'),
    schema
      .createIndex('usage_hours_by_account')
      .on('usage_hours')
      .columns(['account_id', 'hour', 'key_id', 'provider', 'model']),
    schema
      .createIndex('usage_hours_by_hour')
      .on('usage_hours')
      .columns(['hour', 'key_id', 'provider', 'model']),
    schema
      .createIndex('usage_days_by_account')
      .on('usage_days')
      .columns(['account_id', 'day', 'key_id', 'provider', 'model']),
    schema
      .createIndex('usage_days_by_day')
      .on('usage_days')
      .columns(['day', 'key_id', 'provider', 'model']),
  ],
}
