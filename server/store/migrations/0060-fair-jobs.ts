import { CompiledQuery } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * `turn` orders the jobs of all accounts, so that accounts take turns. A job that fails is
 * refunded: one conversion of `counted_day`, of which the account has `quota_limit` a day (null: no
 * limit). Waiting jobs get their turns as if they had just been created, and are not refunded.
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
