import { sql } from 'kysely'
import type { Migration } from './migration.ts'

// Child keys, which narrow a parent key, and their requests. A request of a child has its parent as
// `key_id`, whose limit it counts under, and the child as `child_id`.
//
// On PostgreSQL, `child_nth` numbers the admissions of a child with its own limit, as `nth` does
// those of a key. All rows of a child are written under its parent's lock, so it needs none of its
// own.
export const childKeys: Migration = {
  name: '0090-child-keys',
  up: (schema) => [
    schema.alterTable('keys').addColumn('parent_id', 'text', (c) => c.references('keys.id')),
    schema.alterTable('keys').addColumn('parent_secret', 'text'),
    schema.alterTable('keys').addColumn('end_user', 'text'),
    schema
      .createIndex('keys_parent')
      .on('keys')
      .columns(['parent_id', 'expires_at'])
      .where(sql.ref('parent_id'), 'is not', null),
    schema.alterTable('requests').addColumn('child_id', 'text'),
    schema.alterTable('requests').addColumn('child_rpm', 'integer'),
    schema.alterTable('requests').addColumn('end_user', 'text'),
    schema
      .createIndex('requests_child')
      .on('requests')
      .columns(['child_id', 'seq'])
      .where(sql.ref('child_id'), 'is not', null),
  ],
  postgres: [
    'alter table requests add column child_nth bigint',
    'create unique index requests_child_nth on requests (child_id, child_nth) where child_nth is not null',

    // As in 0041-shared-ledger, with a second limit. keys: [{id, rpm, wanted, child, child_rpm},
    // …], where entries with the same id are adjacent, want no more than its rpm together, and no
    // more than child_rpm for each child. `child` is null if the rows count only under their key.
    // asked also has child_id and end_user. In `waits` and `child_waits`, only the limit that
    // refuses the next request is not 0. version is that of the correction of the ledger's time.
    `create or replace function tollmark_admit(asked json, keys json, locks bigint[], asker text, width bigint, earliest bigint, latest bigint)
     returns json language plpgsql volatile set enable_seqscan = off as $$
     declare
       present bigint := tollmark_ledger_time();
       held bigint;
       key record;
       last_key text;
       last_nth bigint;
       last_mono bigint;
       last_child_nth bigint;
       blocker_nth bigint;
       blocker_mono bigint;
       room bigint;
       child_room bigint;
       key_wait bigint;
       child_wait bigint;
       starts bigint[];
       child_starts bigint[];
       stamps bigint[];
       passed bigint[];
       waits bigint[];
       child_waits bigint[];
       numbers bigint[];
     begin
       if present < earliest or present > latest then
         return json_build_object('doubt', true);
       end if;
       foreach held in array locks loop
         perform pg_advisory_xact_lock(held);
       end loop;
       for key in select * from json_to_recordset(keys) as k(id text, rpm bigint, wanted bigint, child text, child_rpm bigint) loop
         if key.id is distinct from last_key then
           last_key := key.id;
           select nth, mono into last_nth, last_mono from requests where key_id = key.id and nth is not null order by nth desc limit 1;
           last_nth := coalesce(last_nth, 0);
           -- Never before what is written already, so that the stamps of a key never go back.
           present := greatest(tollmark_ledger_time(), last_mono);
         else
           last_nth := last_nth + room;
         end if;
         blocker_nth := null;
         blocker_mono := null;
         if key.rpm is not null then
           select nth, mono into blocker_nth, blocker_mono from requests
             where key_id = key.id and nth > last_nth - key.rpm and nth <= last_nth - key.rpm + key.wanted and mono >= present - width
             order by nth limit 1;
         end if;
         room := coalesce(blocker_nth - (last_nth - key.rpm) - 1, key.wanted);
         key_wait := coalesce(blocker_mono + width - present, 0);
         last_child_nth := null;
         child_wait := 0;
         if key.child is not null then
           select child_nth into last_child_nth from requests where child_id = key.child and child_nth is not null order by child_nth desc limit 1;
           last_child_nth := coalesce(last_child_nth, 0);
           select child_nth, mono into blocker_nth, blocker_mono from requests
             where child_id = key.child and child_nth > last_child_nth - key.child_rpm and child_nth <= last_child_nth - key.child_rpm + key.wanted
               and mono >= present - width
             order by child_nth limit 1;
           child_room := coalesce(blocker_nth - (last_child_nth - key.child_rpm) - 1, key.wanted);
           child_wait := coalesce(blocker_mono + width - present, 0);
           if room < child_room then
             child_wait := 0;
           elsif child_room < room then
             key_wait := 0;
             room := child_room;
           end if;
         end if;
         starts := starts || last_nth;
         child_starts := array_append(child_starts, last_child_nth);
         stamps := stamps || present;
         passed := passed || room;
         waits := waits || key_wait;
         child_waits := child_waits || child_wait;
       end loop;
       with written as (
         insert into requests (id, account_id, key_id, rpm, provider, model, endpoint, method, context, state, created_at, instance, mono, boot, nth,
           child_id, child_rpm, end_user, child_nth)
         select a.id, a.account_id, k.id, k.rpm, a.provider, a.model, a.endpoint, a.method, a.context, 'reserved', a.created_at, asker,
           stamps[a.key], 0, starts[a.key] + a.place, a.child_id, k.child_rpm, a.end_user, child_starts[a.key] + a.place
         from rows from (json_to_recordset(asked) as (id text, account_id text, key int, place bigint, provider text, model text, endpoint text,
             method text, context text, created_at bigint, child_id text, end_user text)) with ordinality
             as a(id, account_id, key, place, provider, model, endpoint, method, context, created_at, child_id, end_user, line)
           join rows from (json_to_recordset(keys) as (id text, rpm bigint, child_rpm bigint)) with ordinality as k(id, rpm, child_rpm, at) on k.at = a.key
         where a.place <= passed[a.key]
         order by a.line
         returning seq
       )
       select array_agg(seq order by seq) into numbers from written;
       return json_build_object('doubt', false, 'present', tollmark_ledger_time(), 'version', (select version from ledger_clock where one), 'passed', passed, 'waits', waits, 'child_waits', child_waits,
         'numbers', coalesce(numbers, '{}'));
     end $$`,
  ],
}
