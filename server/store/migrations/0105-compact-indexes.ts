import type { Migration } from './migration.ts'
import { LOCK_LEDGER } from './lock-ledger.ts'

// On PostgreSQL, rows share entries of two indexes of the ledger. PostgreSQL then stores their key
// once, and six bytes for each row.
//
// The index of ids has only their time, in steps of 62 ms (server/common/ids.ts): it takes 22 bytes
// a row in place of 50, or 11 with a hundred requests a second. Looking up an id reads the requests
// of that time. The index of models has numbers in steps of 4,096: 10 bytes in place of 32. Only
// searches use it, which read a bounded range of numbers at a time.
//
// Partitions that exist keep their indexes; the same conditions have the columns themselves for
// them.

/** Indexes of a table, as SQL's `format` takes them. */
const ID = 'create index %I on %I (substr(id, 5, 7))'
const MODEL = 'create index %I on %I (hashtext(account_id), hashtext(model), (seq >> 12))'

/** Smaller indexes of new partitions, and of a ledger that is empty. */
export const compactIndexes: Migration = {
  name: '0105-compact-indexes',
  lock: LOCK_LEDGER,
  up: () => [],
  postgres: [
    `do $$
     begin
       if exists (select from requests_first) then
         return;
       end if;
       drop index requests_first_id_key, requests_first_model;
       execute format('${ID}', 'requests_first_id', 'requests_first');
       execute format('${MODEL}', 'requests_first_model', 'requests_first');
     end $$`,

    // As in 0104-partitions, with these indexes.
    `create or replace function tollmark_add_partition(number bigint) returns void language plpgsql as $$
     declare
       name constant text := 'requests_' || number / 100000000000;
     begin
       perform from retention_mark where one = 1 for update;
       if to_regclass(name) is not null then
         return;
       end if;
       execute format('create table %I (like requests_ended including defaults) with (autovacuum_vacuum_scale_factor = 0.05)', name);
       execute format('alter table %I add primary key (seq)', name);
       execute format('${ID}', name || '_id', name);
       execute format('create index %I on %I (hashtextextended(key_id, 0), seq)', name || '_key', name);
       execute format('create index %I on %I (hashtextextended(account_id, 0), seq)', name || '_account', name);
       execute format('${MODEL}', name || '_model', name);
       execute format('create index %I on %I (hashtextextended(child_id, 0), seq) where child_id is not null', name || '_child', name);
       execute format('create index %I on %I (account_id, seq) where (status >= 300 or error is not null or state = ''aborted'' or state = ''unknown'')', name || '_odd', name);
       execute format('alter table requests_ended attach partition %I for values from (%s) to (%s)', name, number, number + 100000000000);
     end $$`,
  ],
}
