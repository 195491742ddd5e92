import type { Migration } from './index.ts'

/**
 * Which providers a key may call, whether it may change anything there, and whose stored objects it
 * may name. Keys made before this migration keep what they could do until then: they may name
 * everything that the account with the provider holds.
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
