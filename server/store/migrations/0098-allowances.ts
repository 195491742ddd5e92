import type { Migration } from './migration.ts'

/**
 * tollmark_admit as in 0097-lock-waits, with an `allowance` (microseconds): how much later than
 * promptly the process may release the requests. The stamps of their windows are later by that, so
 * no second call has to move them. Decisions use the present time, which stamps may be ahead of: by
 * at most 250 ms, unless the clock was set back. Rows have the time of the decision.
 *
 * It reads only the stamps of a window that can refuse one of the wanted requests. Without an upper
 * bound, it would read all stamps of a key whose window is not full.
 */
export const allowances: Migration = {
  name: '0098-allowances',
  up: () => [],
  postgres: [
    `create function tollmark_admit(asked json, keys json, locks bigint[], asker text, width bigint, earliest bigint, latest bigint, allowance bigint)
     returns json language plpgsql volatile set enable_seqscan = off as $$
     declare
       present bigint := tollmark_ledger_time();
       held bigint;
       waited bigint;
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
       decisions bigint[];
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
       waited := tollmark_ledger_time() - present;
       for key in select * from json_to_recordset(keys) as k(id text, rpm bigint, wanted bigint, child text, child_rpm bigint) loop
         if key.id is distinct from last_key then
           last_key := key.id;
           select s.last, s.mono into last_nth, last_mono from admission_stamps s where s.owner = key.id order by s.last desc limit 1;
           last_nth := coalesce(last_nth, 0);
           present := greatest(tollmark_ledger_time(), last_mono - 250000);
         else
           last_nth := last_nth + room;
         end if;
         blocker_nth := null;
         blocker_mono := null;
         if key.rpm is not null then
           select greatest(s.first, last_nth - key.rpm + 1), s.mono into blocker_nth, blocker_mono from admission_stamps s
             where s.owner = key.id and s.last > last_nth - key.rpm and s.first <= last_nth - key.rpm + key.wanted and s.mono >= present - width
               and s.last <= coalesce((select min(e.last) from admission_stamps e where e.owner = key.id and e.last >= last_nth - key.rpm + key.wanted), last_nth)
             order by s.last limit 1;
         end if;
         room := coalesce(blocker_nth - (last_nth - key.rpm) - 1, key.wanted);
         key_wait := coalesce(blocker_mono + width - present, 0);
         last_child_nth := null;
         child_wait := 0;
         if key.child is not null then
           select s.last into last_child_nth from admission_stamps s where s.owner = key.child order by s.last desc limit 1;
           last_child_nth := coalesce(last_child_nth, 0);
           select greatest(s.first, last_child_nth - key.child_rpm + 1), s.mono into blocker_nth, blocker_mono from admission_stamps s
             where s.owner = key.child and s.last > last_child_nth - key.child_rpm and s.first <= last_child_nth - key.child_rpm + key.wanted
               and s.mono >= present - width
               and s.last <= coalesce((select min(e.last) from admission_stamps e where e.owner = key.child and e.last >= last_child_nth - key.child_rpm + key.wanted), last_child_nth)
             order by s.last limit 1;
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
         decisions := decisions || present;
         -- Never before what is written already, so that the stamps of a key never go back.
         stamps := stamps || greatest(present + least(allowance, 250000), last_mono);
         passed := passed || room;
         waits := waits || key_wait;
         child_waits := child_waits || child_wait;
       end loop;
       insert into admission_stamps (owner, first, last, mono)
       select o.owner, o.start + 1, o.start + passed[k.at], stamps[k.at]
         from rows from (json_to_recordset(keys) as (id text, child text)) with ordinality as k(id, child, at),
           lateral (values (k.id, starts[k.at]), (k.child, child_starts[k.at])) as o(owner, start)
         where o.owner is not null and passed[k.at] > 0;
       with written as (
         insert into admissions (id, account_id, key_id, rpm, provider, model, endpoint, method, context, state, created_at, instance, mono, child_id,
           child_rpm, end_user)
         select a.id, a.account_id, k.id, k.rpm, a.provider, a.model, a.endpoint, a.method, a.context, 'reserved', a.created_at, asker,
           decisions[a.key], a.child_id, k.child_rpm, a.end_user
         from rows from (json_to_recordset(asked) as (id text, account_id text, key int, place bigint, provider text, model text, endpoint text,
             method text, context text, created_at bigint, child_id text, end_user text)) with ordinality
             as a(id, account_id, key, place, provider, model, endpoint, method, context, created_at, child_id, end_user, line)
           join rows from (json_to_recordset(keys) as (id text, rpm bigint, child_rpm bigint)) with ordinality as k(id, rpm, child_rpm, at) on k.at = a.key
         where a.place <= passed[a.key]
         order by a.line
         returning seq
       )
       select array_agg(seq order by seq) into numbers from written;
       return json_build_object('doubt', false, 'present', tollmark_ledger_time(), 'waited', waited, 'version', (select version from ledger_clock where one), 'passed', passed, 'waits', waits, 'child_waits', child_waits,
         'numbers', coalesce(numbers, '{}'));
     end $$`,

    // Called by processes of the previous version. It is replaced in place, because a call that has
    // already looked it up would not find another one.
    `create or replace function tollmark_admit(asked json, keys json, locks bigint[], asker text, width bigint, earliest bigint, latest bigint)
     returns json language plpgsql volatile set enable_seqscan = off as $$
     begin
       return tollmark_admit(asked, keys, locks, asker, width, earliest, latest, 0);
     end $$`,
  ],
}
