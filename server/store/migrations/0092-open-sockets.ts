import type { Migration } from './migration.ts'

/**
 * Open WebSockets through the proxy, each written by its process
 * (server/proxy/socket/socket-table.ts) and deleted with that process's instance. `ending` is 1 if
 * an operator has asked to close a socket: the only change that is announced.
 */
export const openSockets: Migration = {
  name: '0092-open-sockets',
  up: (schema) => [
    schema
      .createTable('open_sockets')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('instance', 'text', (c) =>
        c.notNull().references('instances.id').onDelete('cascade'),
      )
      .addColumn('account_id', 'text', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('child_id', 'text')
      .addColumn('end_user', 'text')
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('endpoint', 'text', (c) => c.notNull())
      .addColumn('opened_at', 'bigint', (c) => c.notNull())
      .addColumn('model', 'text')
      .addColumn('requests', 'bigint', (c) => c.notNull())
      .addColumn('tokens_in', 'bigint')
      .addColumn('tokens_out', 'bigint')
      .addColumn('bytes_in', 'bigint', (c) => c.notNull())
      .addColumn('bytes_out', 'bigint', (c) => c.notNull())
      .addColumn('ending', 'integer', (c) => c.notNull().defaultTo(0)),
    schema.createIndex('open_sockets_account').on('open_sockets').columns(['account_id', 'id']),
    schema.createIndex('open_sockets_instance').on('open_sockets').columns(['instance', 'ending']),
  ],
  postgres: [
    'create trigger tollmark_announce after update of ending on open_sockets for each statement execute function tollmark_announce()',
  ],
}
