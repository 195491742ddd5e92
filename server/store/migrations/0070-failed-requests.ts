import { CompiledQuery, sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * A request that no provider answered has the status that its caller was answered, so that whoever
 * looks for 502 finds it; and the index of what is no ordinary success holds answers that broke
 * off, too. See server/ledger/outcome.ts.
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
