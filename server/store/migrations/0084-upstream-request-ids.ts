import type { Migration } from './migration.ts'

/** The upstream's id of a request; null in older rows. */
export const upstreamRequestIds: Migration = {
  name: '0084-upstream-request-ids',
  up: (schema) => [schema.alterTable('requests').addColumn('upstream_request_id', 'text')],
}
