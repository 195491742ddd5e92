import type { Migration } from './migration.ts'
import { LOCK_LEDGER } from './lock-ledger.ts'

// On PostgreSQL, the indexes of `requests` by account, key and child key have hashes in place of
// these ids of 26 characters. An entry is then as small as two numbers of 64 bits. PostgreSQL
// splits a page of such entries where a new one is added (_bt_afternewitemoff in nbtsplitloc.c), so
// pages are full even if many keys are used at once; with ids they were half full. The index by
// account had the model as well, of which rows are found by an index of their own now. A row takes
// 135 bytes less: 472 in place of 607 with four accounts, 64 keys and the providers' request ids.
//
// Building indexes of a large table takes minutes. So older rows stay in requests_older, with the
// indexes that it has, until the retention deletes them.

/** Renames the table, its indexes and its sequence. */
const SET_ASIDE = `do $$
  declare
    one record;
  begin
    alter table requests rename to requests_older;
    for one in select indexrelid::regclass::text as name from pg_index where indrelid = 'requests_older'::regclass loop
      execute format('alter index %s rename to %s', one.name, replace(one.name, 'requests', 'requests_older'));
    end loop;
    alter sequence requests_seq_seq rename to requests_older_seq_seq;
  end $$`

/** Continues the table's numbers, and puts the other tables of the ledger below the new one. */
const GO_ON = `do $$
  declare
    one record;
  begin
    perform setval('requests_seq_seq', last_value, is_called) from requests_older_seq_seq;
    alter table admissions alter column seq set default nextval('requests_seq_seq');
    for one in select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests_older'::regclass loop
      execute format('alter table %s no inherit requests_older', one.name);
      execute format('alter table %s inherit requests', one.name);
    end loop;
    if exists (select from requests_older) then
      drop trigger tollmark_count_older on requests_older;
      alter table requests_older inherit requests;
    else
      drop table requests_older;
    end if;
  end $$`

/** Smaller indexes of the ledger on PostgreSQL. */
export const hashedIds: Migration = {
  name: '0102-hashed-ids',
  lock: LOCK_LEDGER,
  up: () => [],
  postgres: [
    SET_ASIDE,
    'create table requests (like requests_older including defaults including identity)',
    'alter table requests set (autovacuum_vacuum_scale_factor = 0.05)',
    'alter table requests add primary key (seq)',
    'create unique index requests_id_key on requests (id)',
    'create index requests_key on requests (hashtextextended(key_id, 0), seq)',
    'create index requests_account on requests (hashtextextended(account_id, 0), seq)',
    'create index requests_model on requests (hashtext(account_id), hashtext(model), seq)',
    'create index requests_child on requests (hashtextextended(child_id, 0), seq) where child_id is not null',
    `create index requests_odd on requests (hashtextextended(account_id, 0), seq) where (status >= 300 or error is not null or state = 'aborted' or state = 'unknown')`,
    `create index requests_reserved on requests (hashtextextended(account_id, 0), seq) where state = 'reserved'`,
    GO_ON,
    'create trigger tollmark_count_older after insert on requests for each row when (new.nth is not null) execute function tollmark_count_older()',
  ],
}
