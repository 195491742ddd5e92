import type { Migration } from './migration.ts'
import { LOCK_LEDGER } from './lock-ledger.ts'

// On PostgreSQL, `requests` is partitioned: `admissions` has the requests in progress, and
// `requests_ended` the others, by ranges of their numbers. With a retention, the numbers jump to a
// range of their own every day or every few days (server/ledger/retention/partitions.ts), so the
// retention drops a table in place of deleting its rows. `request_partitions` has the first number
// of each range and when the numbers reached it. Everything before the first jump stays in
// requests_first, in place.
//
// `key_uses` has when keys were last used, from partitions that were dropped.

/** The columns of the ledger, except `instance`, which complete rows do not need. */
const COLUMNS = `(select string_agg(quote_ident(attname), ', ') from pg_attribute
  where attrelid = 'requests'::regclass and attnum > 0 and not attisdropped and attname <> 'instance')`

/**
 * All numbers below this are in the first partition: 2024-10-04 in days since 1970, times 10^11.
 */
const FIRST_BOUND = '2000000000000000'

/**
 * Promises that every row fits into its partition. PostgreSQL checks that without a lock, and need
 * not check it again when the table becomes a partition.
 */
const BOUND_FIRST = [
  `do $$
  begin
    if to_regclass('requests_ended') is not null or exists (select from pg_constraint where conname = 'requests_first_bounds') then
      return;
    end if;
    loop
      begin
        perform set_config('lock_timeout', '300ms', false);
        lock table only requests in access exclusive mode;
        exit;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.05);
      end;
    end loop;
    perform set_config('lock_timeout', '0', false);
    -- Those that a process before 0095-admissions has recorded after an outage.
    execute format('with gone as (delete from only requests where state = ''reserved'' returning *) insert into admissions (%1$s, instance) select %1$s, coalesce(instance, '''') from gone', ${COLUMNS});
    alter table requests add constraint requests_first_bounds check (seq < ${FIRST_BOUND} and state in ('settled', 'aborted', 'unknown')) no inherit not valid;
  end $$`,
  `do $$
  begin
    if to_regclass('requests_ended') is null then
      alter table requests validate constraint requests_first_bounds;
    end if;
  end $$`,
]

/** Moves the rows that earlier migrations set aside, and those in the wrong table. */
const MOVE = `do $$
  declare
    one regclass;
    columns constant text := ${COLUMNS};
  begin
    for one in select inhrelid::regclass from pg_inherits where inhparent = 'requests'::regclass and inhrelid <> 'admissions'::regclass loop
      execute format('alter table %s no inherit requests', one);
      execute format('insert into admissions (%1$s, instance) select %1$s, coalesce(instance, '''') from %2$s where state = ''reserved''', columns, one);
      execute format('insert into requests (%1$s) select %1$s from %2$s where state <> ''reserved''', columns, one);
      execute format('drop table %s', one);
    end loop;
    execute format('with gone as (delete from admissions where state <> ''reserved'' returning *) insert into requests (%1$s) select %1$s from gone', columns);
  end $$`

/** Renames the table and its indexes, and continues its numbers. */
const SET_ASIDE = `do $$
  declare
    one record;
  begin
    alter table admissions no inherit requests, alter column seq drop default;
    alter table requests rename to requests_first;
    for one in select indexrelid::regclass::text as name from pg_index where indrelid = 'requests_first'::regclass loop
      execute format('alter index %s rename to %s', one.name, replace(one.name, 'requests', 'requests_first'));
    end loop;
    select last_value, is_called into one from requests_seq_seq;
    alter table requests_first alter column seq drop identity;
    create sequence requests_seq_seq as bigint;
    perform setval('requests_seq_seq', one.last_value, one.is_called);
  end $$`

/** Partitions of PostgreSQL's ledger. */
export const partitions: Migration = {
  name: '0104-partitions',
  prepare: BOUND_FIRST,
  lock: LOCK_LEDGER,
  up: (schema) => [
    schema
      .createTable('request_partitions')
      .addColumn('first', 'bigint', (c) => c.primaryKey())
      .addColumn('since', 'bigint', (c) => c.notNull()),
    schema
      .createTable('key_uses')
      .addColumn('key_id', 'text', (c) => c.primaryKey())
      .addColumn('last_used_at', 'bigint', (c) => c.notNull()),
  ],
  postgres: [
    'drop trigger tollmark_count_older on requests',
    MOVE,
    SET_ASIDE,
    'drop index requests_first_reserved, admissions_ended',
    'create table requests (like requests_first including defaults) partition by list (state)',
    `alter table requests alter column seq set default nextval('requests_seq_seq')`,
    `alter table admissions alter column seq set default nextval('requests_seq_seq')`,
    'alter sequence requests_seq_seq owned by requests.seq',
    `alter table requests attach partition admissions for values in ('reserved')`,
    `create table requests_ended partition of requests for values in ('settled', 'aborted', 'unknown') partition by range (seq)`,
    `alter table requests_ended attach partition requests_first for values from (minvalue) to (${FIRST_BOUND})`,
    'alter table requests_first drop constraint requests_first_bounds',
    // Of rows that a process before 0095-admissions records after an outage.
    `create trigger tollmark_count_older after insert on requests for each row when (new.nth is not null and new.state = 'reserved') execute function tollmark_count_older()`,

    // Creates the table of a partition, unless it exists. Nobody waits for it: only changes of
    // partitions do. Its numbers are not used yet.
    `create function tollmark_add_partition(number bigint) returns void language plpgsql as $$
     declare
       name constant text := 'requests_' || number / 100000000000;
     begin
       perform from retention_mark where one = 1 for update;
       if to_regclass(name) is not null then
         return;
       end if;
       execute format('create table %I (like requests_ended including defaults) with (autovacuum_vacuum_scale_factor = 0.05)', name);
       execute format('alter table %I add primary key (seq)', name);
       execute format('create unique index %I on %I (id)', name || '_id', name);
       execute format('create index %I on %I (hashtextextended(key_id, 0), seq)', name || '_key', name);
       execute format('create index %I on %I (hashtextextended(account_id, 0), seq)', name || '_account', name);
       execute format('create index %I on %I (hashtext(account_id), hashtext(model), seq)', name || '_model', name);
       execute format('create index %I on %I (hashtextextended(child_id, 0), seq) where child_id is not null', name || '_child', name);
       execute format('create index %I on %I (account_id, seq) where (status >= 300 or error is not null or state = ''aborted'' or state = ''unknown'')', name || '_odd', name);
       execute format('alter table requests_ended attach partition %I for values from (%s) to (%s)', name, number, number + 100000000000);
     end $$`,

    // Lets the numbers jump to a partition. If a process died in between, they are there already.
    `create function tollmark_begin_partition(number bigint, at bigint) returns void language plpgsql as $$
     begin
       perform from retention_mark where one = 1 for update;
       if exists (select from request_partitions where first >= number) then
         return;
       end if;
       insert into request_partitions (first, since)
         select number, coalesce((select least(created_at, at) from requests where seq >= number order by seq limit 1), at);
       perform setval('requests_seq_seq', number) from requests_seq_seq where last_value < number;
     end $$`,

    // Drops a partition whose rows end with a number. Settlements and reports wait for a moment,
    // and it gives up if a long report reads the ledger. Returns whether it is gone.
    `create function tollmark_drop_partition(number bigint, newest bigint) returns boolean language plpgsql as $$
     begin
       perform from retention_mark where one = 1 for update;
       if not exists (select from request_partitions where first = number) then
         return true;
       end if;
       begin
         perform set_config('lock_timeout', '100ms', true);
         lock table requests_ended in access exclusive mode;
         perform set_config('lock_timeout', '0', true);
       exception when lock_not_available or deadlock_detected then
         return false;
       end;
       if exists (select from admissions where seq >= number and seq < number + 100000000000) then
         return false;
       end if;
       execute format('drop table %I', 'requests_' || number / 100000000000);
       delete from request_partitions where first = number;
       update retention_mark set seq = newest where one = 1 and seq < newest;
       return true;
     end $$`,

    // As in 0095-admissions. Bounds of their numbers tell in which partitions the rows are, if the
    // plan is made for them.
    `create or replace function tollmark_restamp(locks bigint[], key_ids text[], numbers bigint[], stamp bigint) returns void language plpgsql volatile
     set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
     declare
       held bigint;
       lowest bigint := (select min(number) from unnest(numbers) as number);
       highest bigint := (select max(number) from unnest(numbers) as number);
     begin
       foreach held in array locks loop
         perform pg_advisory_xact_lock(held);
       end loop;
       update admission_stamps s set mono = stamp
         from (select o.owner, min(r.mono) as since from unnest(numbers) as late(number) join requests r on r.seq = late.number,
             lateral (values (r.key_id), (case when r.child_rpm is not null then r.child_id end)) as o(owner)
           where r.seq between lowest and highest and o.owner is not null group by o.owner) as late
         where s.owner = late.owner and s.mono >= late.since and s.mono < stamp;
     end $$`,
  ],
}
