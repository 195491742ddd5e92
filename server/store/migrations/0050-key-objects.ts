import type { Migration } from './migration.ts'

/**
 * The providers that a key may call, whether it may only read there, and whose stored objects it
 * may name. Keys from before this migration may name all objects of the provider's account, as
 * before.
 */
export const keyObjects: Migration = {
  name: '0050-key-objects',
  up: (schema) => [
    schema
      .alterTable('keys')
      .addColumn('objects', 'text', (c) => c.notNull().defaultTo('upstream')),
    schema.alterTable('keys').addColumn('providers', 'text'),
    schema.alterTable('keys').addColumn('read_only', 'integer', (c) => c.notNull().defaultTo(0)),
    schema
      .createTable('shared_objects')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('key_id', 'text', (c) => c.notNull().references('keys.id'))
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('object_id', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addUniqueConstraint('shared_objects_once', ['key_id', 'provider', 'kind', 'object_id']),
  ],
}
