import type { Migration } from './migration.ts'

/**
 * The channel on which PostgreSQL announces changes; the payload is the name of the process that
 * made them.
 */
export const CHANNEL = 'tollmark_changes'

/**
 * SQL that announces every change to a table to all processes. Not for tables that each request
 * writes: PostgreSQL sends notifications one transaction at a time.
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
