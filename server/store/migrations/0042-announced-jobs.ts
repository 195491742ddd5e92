import type { Migration } from './index.ts'

/**
 * A job that has come, and one that has changed its state, is heard of at once by the processes
 * that run jobs or show them; progress is not.
 */
export const announcedJobs: Migration = {
  name: '0042-announced-jobs',
  up: () => [],
  postgres: [
    'create trigger tollmark_announce after insert or update of status on jobs for each statement execute function tollmark_announce()',
  ],
}
