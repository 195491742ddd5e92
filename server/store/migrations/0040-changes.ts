import type { Migration } from './index.ts'

/**
 * The channel on which PostgreSQL tells of changes; what is told is the name of the process that
 * made them.
 */
export const CHANNEL = 'tollmark_changes'

/**
 * SQL that lets every process know when a table has changed. Not for tables that each request
 * writes: telling is one at a time in PostgreSQL.
 */
export function announce(table: string): string {
  return `create trigger tollmark_announce after insert or update or delete on ${table} for each statement execute function tollmark_announce()`
}

export const changes: Migration = {
  name: '0040-changes',
  up: () => [],
  postgres: [
    `create function tollmark_announce() returns trigger language plpgsql as $$
     begin
       perform pg_notify('${CHANNEL}', current_setting('application_name'));
       return null;
     end $$`,
    announce('accounts'),
    announce('keys'),
    announce('credentials'),
  ],
}
