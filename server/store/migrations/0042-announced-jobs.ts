import type { Migration } from './migration.ts'

/**
 * Announces new jobs and changes of their status to the processes that run or show jobs; progress
 * is not announced.
 */
export const announcedJobs: Migration = {
  name: '0042-announced-jobs',
  up: () => [],
  postgres: [
    'create trigger tollmark_announce after insert or update of status on jobs for each statement execute function tollmark_announce()',
  ],
}
