import { CompiledQuery } from 'kysely'
import type { Migration } from './index.ts'

/**
 * Jobs of all accounts in one order in which the accounts take turns: `turn`, and what a job that
 * fails gives back: a conversion of `counted_day`, at most `quota_limit` times a day (null: the
 * plan has no limit). What waits already gets its turns as if it had just come; it counted for
 * good.
 */
export const fairJobs: Migration = {
  name: '0060-fair-jobs',
  up: (schema) => [
    schema.alterTable('jobs').addColumn('turn', 'bigint', (c) => c.notNull().defaultTo(0)),
    schema.alterTable('jobs').addColumn('counted_day', 'integer'),
    schema.alterTable('jobs').addColumn('quota_limit', 'bigint'),
    { compile: () => CompiledQuery.raw(TURNS) },
    schema.dropIndex('jobs_claimable'),
    schema.createIndex('jobs_turns').on('jobs').columns(['status', 'turn', 'id']),
    schema.createIndex('jobs_of_account').on('jobs').columns(['account_id', 'turn']),
    schema
      .alterTable('quota_days')
      .addColumn('given_back', 'integer', (c) => c.notNull().defaultTo(0)),
  ],
}

const UNFINISHED = `status in ('queued', 'running')`
const TURNS = `update jobs set turn = (select count(*) from jobs other where other.account_id = jobs.account_id and other.${UNFINISHED} and other.id < jobs.id) where ${UNFINISHED}`
