import type { Migration } from './index.ts'

/**
 * Processes that admit requests hear at once when another one has written whom it counts
 * (server/ledger/admission/web-processes.ts); heartbeats are not announced.
 */
export const announcedProcesses: Migration = {
  name: '0094-announced-processes',
  up: () => [],
  postgres: [
    'create trigger tollmark_announce after update of known on instances for each statement execute function tollmark_announce()',
  ],
}
