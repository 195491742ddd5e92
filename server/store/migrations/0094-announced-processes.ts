import type { Migration } from './migration.ts'

/**
 * Announces to the processes that admit requests when another one has written the processes that it
 * counts (server/ledger/admission/web-processes.ts); heartbeats are not announced.
 */
export const announcedProcesses: Migration = {
  name: '0094-announced-processes',
  up: () => [],
  postgres: [
    'create trigger tollmark_announce after update of known on instances for each statement execute function tollmark_announce()',
  ],
}
