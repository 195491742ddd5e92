import type { Migration } from './index.ts'

/** The id by which the upstream knows a request; null in rows from before. */
export const upstreamRequestIds: Migration = {
  name: '0084-upstream-request-ids',
  up: (schema) => [schema.alterTable('requests').addColumn('upstream_request_id', 'text')],
}
