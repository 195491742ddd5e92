import { CompiledQuery, sql } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * A request without a provider's response gets the status that its caller received, so that a
 * search for 502 finds it. The index of requests that did not simply succeed includes incomplete
 * responses. See server/ledger/outcome.ts.
 */
export const failedRequests: Migration = {
  name: '0070-failed-requests',
  up: (schema) => [
    schema.dropIndex('requests_odd'),
    { compile: () => CompiledQuery.raw(ANSWERED) },
    schema
      .createIndex('requests_odd')
      .on('requests')
      .columns(['account_id', 'seq'])
      .where(
        sql<boolean>`(status >= 300 or error is not null or state = 'aborted' or state = 'unknown')`,
      ),
  ],
}

const ANSWERED = `update requests set status = case error when 'upstream_timeout' then 504 else 502 end where status is null and error is not null`
