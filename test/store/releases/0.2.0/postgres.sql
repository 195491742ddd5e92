SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.tollmark_add_partition(number bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
     declare
       name constant text := 'requests_' || number / 100000000000;
     begin
       perform from retention_mark where one = 1 for update;
       if to_regclass(name) is not null then
         return;
       end if;
       execute format('create table %I (like requests_ended including defaults) with (autovacuum_vacuum_scale_factor = 0.05)', name);
       execute format('alter table %I add primary key (seq)', name);
       execute format('create index %I on %I (substr(id, 5, 7))', name || '_id', name);
       execute format('create index %I on %I (hashtextextended(key_id, 0), seq)', name || '_key', name);
       execute format('create index %I on %I (hashtextextended(account_id, 0), seq)', name || '_account', name);
       execute format('create index %I on %I (hashtext(account_id), hashtext(model), (seq >> 12))', name || '_model', name);
       execute format('create index %I on %I (hashtextextended(child_id, 0), seq) where child_id is not null', name || '_child', name);
       execute format('create index %I on %I (account_id, seq) where (status >= 300 or error is not null or state = ''aborted'' or state = ''unknown'')', name || '_odd', name);
       execute format('alter table requests_ended attach partition %I for values from (%s) to (%s)', name, number, number + 100000000000);
     end $$;
CREATE FUNCTION public.tollmark_admit(asked json, keys json, locks bigint[], asker text, width bigint, earliest bigint, latest bigint) RETURNS json
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
     begin
       return tollmark_admit(asked, keys, locks, asker, width, earliest, latest, 0);
     end $$;
CREATE FUNCTION public.tollmark_admit(asked json, keys json, locks bigint[], asker text, width bigint, earliest bigint, latest bigint, allowance bigint) RETURNS json
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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
     end $$;
CREATE FUNCTION public.tollmark_announce() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
     begin
       perform pg_notify('tollmark_changes', current_setting('application_name'));
       return null;
     end $$;
CREATE FUNCTION public.tollmark_begin_partition(number bigint, at bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
     begin
       perform from retention_mark where one = 1 for update;
       if exists (select from request_partitions where first >= number) then
         return;
       end if;
       insert into request_partitions (first, since)
         select number, coalesce((select least(created_at, at) from requests where seq >= number order by seq limit 1), at);
       perform setval('requests_seq_seq', number) from requests_seq_seq where last_value < number;
     end $$;
CREATE FUNCTION public.tollmark_count_older() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
     begin
       insert into admission_stamps (owner, first, last, mono)
       select o.owner, coalesce(newest.last, 0) + 1, coalesce(newest.last, 0) + 1, greatest(new.mono, newest.mono)
         from (values (new.key_id), (case when new.child_nth is not null then new.child_id end)) as o(owner)
           left join lateral (select s.last, s.mono from admission_stamps s where s.owner = o.owner order by s.last desc limit 1) as newest on true
         where o.owner is not null;
       return null;
     end $$;
CREATE FUNCTION public.tollmark_drop_partition(number bigint, newest bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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
     end $$;
CREATE FUNCTION public.tollmark_ledger_time() RETURNS bigint
    LANGUAGE sql
    AS $$
       select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint + correction from ledger_clock where one
     $$;
CREATE FUNCTION public.tollmark_restamp(locks bigint[], key_ids text[], numbers bigint[], stamp bigint) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
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
     end $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.accounts (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    plan text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    disabled integer DEFAULT 0 NOT NULL,
    deleted_at bigint
);
CREATE TABLE public.admission_stamps (
    owner text NOT NULL COLLATE pg_catalog."C",
    first bigint NOT NULL,
    last bigint NOT NULL,
    mono bigint NOT NULL
);
CREATE TABLE public.requests (
    seq bigint NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
PARTITION BY LIST (state);
CREATE SEQUENCE public.requests_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.requests_seq_seq OWNED BY public.requests.seq;
CREATE TABLE public.admissions (
    seq bigint DEFAULT nextval('public.requests_seq_seq'::regclass) NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', vacuum_truncate=off);
CREATE TABLE public.attempts (
    subject text NOT NULL COLLATE pg_catalog."C",
    failures integer NOT NULL,
    blocked_until bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.blobs (
    id text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL,
    instance_id text COLLATE pg_catalog."C"
);
CREATE TABLE public.credential_tests (
    credential_id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    ok integer NOT NULL,
    status integer,
    detail text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.credentials (
    id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    sealed text NOT NULL COLLATE pg_catalog."C",
    host_values text NOT NULL COLLATE pg_catalog."C",
    weight integer NOT NULL,
    paused integer DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL
);
CREATE TABLE public.idempotency (
    account_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    instance_id text COLLATE pg_catalog."C",
    content_type text COLLATE pg_catalog."C",
    blob_id text COLLATE pg_catalog."C",
    expires_at bigint NOT NULL,
    job_id text COLLATE pg_catalog."C",
    warnings integer,
    failed_pages integer
);
CREATE TABLE public.instances (
    id text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    pid integer NOT NULL,
    seen_at bigint NOT NULL,
    role text COLLATE pg_catalog."C",
    known text COLLATE pg_catalog."C"
);
CREATE TABLE public.invitations (
    id text NOT NULL COLLATE pg_catalog."C",
    public_id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    plan text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    account_id text COLLATE pg_catalog."C"
);
CREATE TABLE public.jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    include_metadata integer NOT NULL,
    file_name text NOT NULL COLLATE pg_catalog."C",
    file_size bigint NOT NULL,
    upload_blob text COLLATE pg_catalog."C",
    result_blob text COLLATE pg_catalog."C",
    pages_done integer NOT NULL,
    pages_total integer,
    created_at bigint NOT NULL,
    started_at bigint,
    finished_at bigint,
    expires_at bigint,
    error_code text COLLATE pg_catalog."C",
    error_detail text COLLATE pg_catalog."C",
    claimable_at bigint NOT NULL,
    instance_id text COLLATE pg_catalog."C",
    claim text COLLATE pg_catalog."C",
    claims integer NOT NULL,
    failures integer NOT NULL,
    turn bigint DEFAULT 0 NOT NULL,
    counted_day integer,
    quota_limit bigint,
    warnings integer,
    failed_pages integer,
    source_map integer DEFAULT 0 NOT NULL,
    flavor text COLLATE pg_catalog."C",
    certify integer DEFAULT 0 NOT NULL,
    certificate text COLLATE pg_catalog."C"
);
CREATE TABLE public.journal (
    seq integer NOT NULL,
    instance text NOT NULL COLLATE pg_catalog."C",
    boot bigint NOT NULL,
    rows text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.key_secrets (
    public_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint
);
CREATE TABLE public.key_uses (
    key_id text NOT NULL COLLATE pg_catalog."C",
    last_used_at bigint NOT NULL
);
CREATE TABLE public.keys (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    public_id text NOT NULL COLLATE pg_catalog."C",
    models text COLLATE pg_catalog."C",
    rpm integer,
    allowed_origins text COLLATE pg_catalog."C",
    expires_at bigint,
    disabled integer DEFAULT 0 NOT NULL,
    revoked_at bigint,
    created_at bigint NOT NULL,
    revision bigint NOT NULL,
    objects text DEFAULT 'upstream'::text NOT NULL COLLATE pg_catalog."C",
    providers text COLLATE pg_catalog."C",
    read_only integer DEFAULT 0 NOT NULL,
    purged_at bigint,
    parent_id text COLLATE pg_catalog."C",
    parent_secret text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C"
);
CREATE TABLE public.ledger_clock (
    one boolean NOT NULL,
    correction bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT ledger_clock_one_check CHECK (one)
);
CREATE TABLE public.migrations (
    name text NOT NULL,
    applied_at bigint NOT NULL
);
CREATE TABLE public.objects (
    provider text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    object_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    credential_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.open_sockets (
    id text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    opened_at bigint NOT NULL,
    model text COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    tokens_in bigint,
    tokens_out bigint,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    ending integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.password_resets (
    account_id text NOT NULL COLLATE pg_catalog."C",
    public_id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.passwords (
    account_id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.providers (
    id text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL COLLATE pg_catalog."C",
    dial text COLLATE pg_catalog."C",
    auth_header text COLLATE pg_catalog."C",
    auth_scheme text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    speaks text COLLATE pg_catalog."C",
    own_api text COLLATE pg_catalog."C"
);
CREATE TABLE public.quota_days (
    account_id text NOT NULL COLLATE pg_catalog."C",
    day integer NOT NULL,
    used integer NOT NULL,
    given_back integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.refusal_minutes (
    key_id text NOT NULL COLLATE pg_catalog."C",
    minute bigint NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    refused bigint NOT NULL
);
CREATE TABLE public.refusals (
    id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);
CREATE TABLE public.refused_hours (
    key_id text NOT NULL COLLATE pg_catalog."C",
    hour bigint NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    refused bigint NOT NULL
);
CREATE TABLE public.request_partitions (
    first bigint NOT NULL,
    since bigint NOT NULL
);
CREATE TABLE public.requests_ended (
    seq bigint DEFAULT nextval('public.requests_seq_seq'::regclass) NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
PARTITION BY RANGE (seq);
CREATE TABLE public.requests_20781 (
    seq bigint DEFAULT nextval('public.requests_seq_seq'::regclass) NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE public.requests_20782 (
    seq bigint DEFAULT nextval('public.requests_seq_seq'::regclass) NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE public.requests_20783 (
    seq bigint DEFAULT nextval('public.requests_seq_seq'::regclass) NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE public.requests_20784 (
    seq bigint DEFAULT nextval('public.requests_seq_seq'::regclass) NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE public.requests_first (
    seq bigint DEFAULT NULL NOT NULL,
    created_at bigint NOT NULL,
    mono bigint NOT NULL,
    nth bigint,
    child_nth bigint,
    bytes_in bigint,
    bytes_out bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    rpm integer,
    child_rpm integer,
    status integer,
    first_byte_ms integer,
    total_ms integer,
    outage integer,
    boot smallint DEFAULT 0 NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    credential_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    child_id text COLLATE pg_catalog."C",
    end_user text COLLATE pg_catalog."C",
    upstream_request_id text COLLATE pg_catalog."C",
    instance text COLLATE pg_catalog."C",
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
)
WITH (autovacuum_vacuum_scale_factor='0.05');
CREATE TABLE public.reservations (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    day integer NOT NULL,
    instance_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.retention_mark (
    one integer NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE public.sealed_days (
    day bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    overlap_seq bigint NOT NULL,
    requests bigint NOT NULL,
    limited bigint NOT NULL,
    outage bigint NOT NULL,
    missing bigint NOT NULL,
    violations text COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.sessions (
    public_id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.shared_objects (
    id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    object_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    public_id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint,
    revoked_at bigint,
    created_at bigint NOT NULL,
    last_used_at bigint
);
CREATE TABLE public.upstream_errors (
    request_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    upstream_request_id text COLLATE pg_catalog."C",
    text text COLLATE pg_catalog."C"
);
CREATE TABLE public.usage_account_days (
    account_id text NOT NULL COLLATE pg_catalog."C",
    day bigint NOT NULL,
    provider text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    aborted bigint NOT NULL,
    unknown bigint NOT NULL,
    unmetered bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    answered bigint NOT NULL,
    first_byte_ms bigint NOT NULL,
    total_ms bigint NOT NULL,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
);
CREATE TABLE public.usage_account_hours (
    account_id text NOT NULL COLLATE pg_catalog."C",
    hour bigint NOT NULL,
    provider text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    aborted bigint NOT NULL,
    unknown bigint NOT NULL,
    unmetered bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    answered bigint NOT NULL,
    first_byte_ms bigint NOT NULL,
    total_ms bigint NOT NULL,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
);
CREATE TABLE public.usage_added (
    name text NOT NULL COLLATE pg_catalog."C",
    before bigint NOT NULL,
    key_id text COLLATE pg_catalog."C",
    provider text COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C"
);
CREATE TABLE public.usage_days (
    day bigint NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    aborted bigint NOT NULL,
    unknown bigint NOT NULL,
    unmetered bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    answered bigint NOT NULL,
    first_byte_ms bigint NOT NULL,
    total_ms bigint NOT NULL,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
);
CREATE TABLE public.usage_hours (
    hour bigint NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    aborted bigint NOT NULL,
    unknown bigint NOT NULL,
    unmetered bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    answered bigint NOT NULL,
    first_byte_ms bigint NOT NULL,
    total_ms bigint NOT NULL,
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
);
CREATE TABLE public.usage_key_days (
    key_id text NOT NULL COLLATE pg_catalog."C",
    day bigint NOT NULL,
    requests bigint NOT NULL
);
CREATE TABLE public.usage_keys (
    key_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    aborted bigint NOT NULL,
    unknown bigint NOT NULL,
    unmetered bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    answered bigint NOT NULL,
    first_byte_ms bigint NOT NULL,
    total_ms bigint NOT NULL,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_reasoning bigint,
    tokens_cache_write bigint,
    tokens_audio_in bigint,
    tokens_audio_out bigint
);
ALTER TABLE ONLY public.requests ATTACH PARTITION public.admissions FOR VALUES IN ('reserved');
ALTER TABLE ONLY public.requests_ended ATTACH PARTITION public.requests_20781 FOR VALUES FROM ('2078100000000000') TO ('2078200000000000');
ALTER TABLE ONLY public.requests_ended ATTACH PARTITION public.requests_20782 FOR VALUES FROM ('2078200000000000') TO ('2078300000000000');
ALTER TABLE ONLY public.requests_ended ATTACH PARTITION public.requests_20783 FOR VALUES FROM ('2078300000000000') TO ('2078400000000000');
ALTER TABLE ONLY public.requests_ended ATTACH PARTITION public.requests_20784 FOR VALUES FROM ('2078400000000000') TO ('2078500000000000');
ALTER TABLE ONLY public.requests ATTACH PARTITION public.requests_ended FOR VALUES IN ('settled', 'aborted', 'unknown');
ALTER TABLE ONLY public.requests_ended ATTACH PARTITION public.requests_first FOR VALUES FROM (MINVALUE) TO ('2000000000000000');
ALTER TABLE ONLY public.requests ALTER COLUMN seq SET DEFAULT nextval('public.requests_seq_seq'::regclass);
INSERT INTO public.accounts VALUES
	('acc_0VbkKl5eHB7jmsCSil3pzl', 'admin', 'ada@example.com', 'free', 'admin', 1795388876922, 0, NULL);
INSERT INTO public.admission_stamps VALUES
	('key_0VbkKl7GK8OVOrabGoTCIF', 1, 1, 1795820877698533),
	('key_0VbkKl7GK8OVOrabGoTCIF', 2, 2, 1795820877729248),
	('key_0VbkKlEwCFfZIVjSDH05mm', 1, 1, 1795820877747144),
	('key_0VbkKlFWQEu5orRWfiXort', 1, 1, 1795820877764994),
	('key_0VbkKlFWQEu5orRWfiXort', 2, 2, 1795820877820678),
	('key_0VbkKl7GK8OVOrabGoTCIF', 3, 3, 1795820877875332),
	('key_0VbkKl7GK8OVOrabGoTCIF', 4, 4, 1795820877900441),
	('key_0VbkKlEwCFfZIVjSDH05mm', 2, 2, 1795820877917341),
	('key_0VbkKlFWQEu5orRWfiXort', 3, 3, 1795820877933519),
	('key_0VbkKlFWQEu5orRWfiXort', 4, 4, 1795820877987057),
	('key_0VbkKl7GK8OVOrabGoTCIF', 5, 5, 1795820878029235),
	('key_0VbkKl7GK8OVOrabGoTCIF', 6, 6, 1795820878048474),
	('key_0VbkKlEwCFfZIVjSDH05mm', 3, 3, 1795820878065263),
	('key_0VbkKlFWQEu5orRWfiXort', 5, 5, 1795820878081878),
	('key_0VbkKlFWQEu5orRWfiXort', 6, 6, 1795820878130192),
	('key_0VbkKl7GK8OVOrabGoTCIF', 7, 7, 1795820878164254),
	('key_0VbkKl7GK8OVOrabGoTCIF', 8, 8, 1795820878184723),
	('key_0VbkKlEwCFfZIVjSDH05mm', 4, 4, 1795820878202818),
	('key_0VbkKlFWQEu5orRWfiXort', 7, 7, 1795820878216687),
	('key_0VbkKlFWQEu5orRWfiXort', 8, 8, 1795820878266419),
	('key_0VbkKlEUdRWOcHprAgFoxA', 1, 1, 1795820878283573),
	('key_0VbkKl7GK8OVOrabGoTCIF', 9, 9, 1795820878774375);
INSERT INTO public.attempts VALUES
	('address:127.0.0.1', 0, 0, 1795824479945),
	('known:66ee98224b6738c9765dfab6118c926ddf552543bda82419b07fe818e2ddcd36', 0, 0, 1798412879945);
INSERT INTO public.blobs VALUES
	('blob_0VcDZOkAXJTF3VXbpu58EN', 1827360479703, NULL);
INSERT INTO public.credentials VALUES
	('cred_0VbkKlGAjAX5tNvp4NgGXw', 'anthropic', 'team', '7iVkTUIAbEMxwv4rbdANSsDKcTnc4lXJcHMGhnmHH3iUd6FLCVRVHe+b', '{}', 2, 0, 1795388877574, 1);
INSERT INTO public.invitations VALUES
	('inv_0VbkKlH2C1OgKBH4Tan7Lv', 'S1hHdft7UOGf', '39c3690078d32c7d9adfa17f3076fb6ef94cc0a257d70ab6cb97450b24994684', 'grace@example.com', 'free', 1795388877628, 1795993677628, NULL);
INSERT INTO public.jobs VALUES
	('job_0VcDZOdRRGXDfzsDAS7X9m', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'succeeded', 'markdown', 0, 'Export.zip', 501, NULL, 'blob_0VcDZOkAXJTF3VXbpu58EN', 1, 1, 1795820879269, 1795820879287, 1795820879703, 1827356879703, NULL, NULL, 1795820879269, NULL, NULL, 1, 0, 0, 20784, 10, 0, 0, 0, NULL, 1, '{"in":{"pages":1,"words":4,"blocks":{"headings":1,"bulleted":0,"numbered":0,"to_dos":0,"to_dos_done":0,"toggles":0,"quotes":0,"code":0,"equations":0,"dividers":0,"images":0,"tables":0},"rows":0,"cells":0,"equations":0,"code_bytes":0,"links":{"web":0,"notion":0,"pages":0,"files":0},"assets":{"local":0,"web":0}},"out":{"pages":1,"words":4,"blocks":{"headings":1,"bulleted":0,"numbered":0,"to_dos":0,"to_dos_done":0,"toggles":0,"quotes":0,"code":0,"equations":0,"dividers":0,"images":0,"tables":0},"rows":0,"cells":0,"equations":0,"code_bytes":0,"links":{"web":0,"notion":0,"pages":0,"files":0},"assets":{"local":0,"web":0}},"differences":[],"input_sha256":"e8c47ed16be44faa6e99cb3337640471a8e1bafd315878340497247608596531","output_sha256":"bf609ba709853ce2dd903cf03080cc2c99514da28c244c521d05ab81ef4eb1cb","not_in_export":[{"what":"comments","count":null,"detail":"Notion exports no comments."}]}');
INSERT INTO public.key_secrets VALUES
	('CcbMCAWnIPKZ', 'key_0VbkKl7GK8OVOrabGoTCIF', '9d8b0c2f76160b88c1f09752aff4796398e295f3302156d7e904b05f54d042a2', NULL),
	('dhwz9SblL7lF', 'key_0VbkKlDySSMC3Nqm7jJXHc', 'a76ef8e1da0f3c19779e18dfc5c12b94f898af69ed4547eff32b5e4b8f06181e', NULL),
	('LAAR3qqiK91b', 'key_0VbkKlEUdRWOcHprAgFoxA', '240d7fbd07653ff5af0392c96561fb9a26d10c12832bd477962ebb7243c88f39', NULL),
	('Em7PlGR2hIGM', 'key_0VbkKlEwCFfZIVjSDH05mm', 'a9988b0c46c8b363e5b804d9680b939e0f4eefbda77336bb939aea540e34ff6f', NULL),
	('DW5qZnNnqPnK', 'key_0VbkKlFWQEu5orRWfiXort', '0911ab94c35d5bf776948a5283e447aa2459ebc66c05a3b40b527fbc929a85bd', NULL),
	('TEGalIUeyC6e', 'key_0VcDZOURAxQTzuAnZ0HQDx', 'f43e805a92150a593f1d92af553f34dc5b41c55518ba1108ec99a3c55010d7b6', NULL);
INSERT INTO public.keys VALUES
	('key_0VbkKl7GK8OVOrabGoTCIF', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'scoped', 'CcbMCAWnIPKZ', '["gpt-5*","gemini-*"]', NULL, NULL, NULL, 0, NULL, 1795388877022, 1, 'own', NULL, 0, NULL, NULL, NULL, NULL),
	('key_0VbkKlDySSMC3Nqm7jJXHc', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'limited', 'dhwz9SblL7lF', NULL, 2, NULL, NULL, 0, NULL, 1795388877438, 2, 'own', NULL, 0, NULL, NULL, NULL, NULL),
	('key_0VbkKlEUdRWOcHprAgFoxA', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'owner', 'LAAR3qqiK91b', NULL, NULL, NULL, NULL, 0, NULL, 1795388877470, 3, 'own', NULL, 0, NULL, NULL, NULL, NULL),
	('key_0VbkKlEwCFfZIVjSDH05mm', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'reader', 'Em7PlGR2hIGM', NULL, NULL, NULL, NULL, 0, NULL, 1795388877498, 4, 'own', NULL, 1, NULL, NULL, NULL, NULL),
	('key_0VbkKlFWQEu5orRWfiXort', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'revoked', 'DW5qZnNnqPnK', NULL, NULL, NULL, NULL, 0, 1795820878302, 1795388877534, 6, 'own', NULL, 0, NULL, NULL, NULL, NULL),
	('key_0VcDZOURAxQTzuAnZ0HQDx', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'user 7', 'TEGalIUeyC6e', NULL, NULL, NULL, 1795824478711, 0, NULL, 1795820878711, 7, 'own', NULL, 0, NULL, 'key_0VbkKl7GK8OVOrabGoTCIF', 'CcbMCAWnIPKZ', 'user 7');
INSERT INTO public.ledger_clock VALUES
	(true, 0, 0);
INSERT INTO public.migrations VALUES
	('0001-accounts', 1795388876162),
	('0002-quota', 1795388876162),
	('0003-blobs', 1795388876162),
	('0010-keys', 1795388876162),
	('0011-ledger', 1795388876162),
	('0012-credentials', 1795388876162),
	('0020-jobs', 1795388876162),
	('0021-sweeps', 1795388876162),
	('0030-sessions', 1795388876162),
	('0031-providers', 1795388876162),
	('0032-usage-days', 1795388876162),
	('0033-requests-by-model', 1795388876162),
	('0040-changes', 1795388876162),
	('0041-shared-ledger', 1795388876162),
	('0042-announced-jobs', 1795388876162),
	('0043-ended-requests', 1795388876162),
	('0044-journal', 1795388876162),
	('0050-key-objects', 1795388876162),
	('0060-fair-jobs', 1795388876162),
	('0070-failed-requests', 1795388876162),
	('0071-refusals', 1795388876162),
	('0072-upstream-errors', 1795388876162),
	('0073-purged-keys', 1795388876162),
	('0074-account-ends', 1795388876162),
	('0075-credential-tests', 1795388876162),
	('0076-usage-walks', 1795388876162),
	('0080-warnings', 1795388876162),
	('0081-usage-totals', 1795388876162),
	('0082-usage-steps', 1795388876162),
	('0083-outages', 1795388876162),
	('0084-upstream-request-ids', 1795388876162),
	('0085-source-maps', 1795388876162),
	('0087-page-flavors', 1795388876162),
	('0088-certificates', 1795388876162),
	('0090-child-keys', 1795388876162),
	('0091-known-processes', 1795388876162),
	('0092-open-sockets', 1795388876162),
	('0093-spoken-providers', 1795388876162),
	('0094-announced-processes', 1795388876162),
	('0095-admissions', 1795388876162),
	('0096-sealed-days', 1795388876162),
	('0097-lock-waits', 1795388876162),
	('0098-allowances', 1795388876162),
	('0099-own-apis', 1795388876162),
	('0100-frequent-vacuums', 1795388876162),
	('0101-cache-and-audio-tokens', 1795388876162),
	('0102-hashed-ids', 1795388876162),
	('0103-odd-requests', 1795388876162),
	('0104-partitions', 1795388876162),
	('0105-compact-indexes', 1795388876162);
INSERT INTO public.objects VALUES
	('openai', 'response', 'chat_1', 'key_0VbkKlEUdRWOcHprAgFoxA', 'env_openai', 1795820878289);
INSERT INTO public.passwords VALUES
	('acc_0VbkKl5eHB7jmsCSil3pzl', '$argon2id$v=19$m=19456,t=2,p=1$XQWGstRBzACeXdgKrbUDfQ$qpiHnue29sSSvuEgHggFOwHY8z3BsdO6v4I+eA7b7dI');
INSERT INTO public.providers VALUES
	('own-models', 'https://models.example.com', NULL, NULL, NULL, 1795388877600, NULL, NULL);
INSERT INTO public.quota_days VALUES
	('acc_0VbkKl5eHB7jmsCSil3pzl', 20784, 1, 0);
INSERT INTO public.refusal_minutes VALUES
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795496820000, 'model_not_allowed', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1),
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795583220000, 'model_not_allowed', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1),
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795669620000, 'model_not_allowed', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1),
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795756020000, 'model_not_allowed', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1);
INSERT INTO public.refusals VALUES
	('req_0Vbrdv2LfDuStCq5R0niCH', 1795496877742, 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-4o', 'POST', 403, 'model_not_allowed', 'This key may not use the model "gpt-4o".', 1),
	('req_0VbxURfTQMi3A5KeRAo3Ew', 1795583277912, 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-4o', 'POST', 403, 'model_not_allowed', 'This key may not use the model "gpt-4o".', 1),
	('req_0Vc3KyIFUSioRCaB7UyC17', 1795669678060, 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-4o', 'POST', 403, 'model_not_allowed', 'This key may not use the model "gpt-4o".', 1),
	('req_0Vc9BUurqIvR9XDSsn3Mt8', 1795756078198, 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-4o', 'POST', 403, 'model_not_allowed', 'This key may not use the model "gpt-4o".', 1);
INSERT INTO public.request_partitions VALUES
	(2078100000000000, 1795561677651),
	(2078200000000000, 1795648077833),
	(2078300000000000, 1795734477999),
	(2078400000000000, 1795820878141);
INSERT INTO public.requests_20781 VALUES
	(2078100000000001, 1795489677693, 1795820877698533, NULL, NULL, 73, 178, 900, 120, 400, NULL, NULL, NULL, 200, 26, 27, NULL, 0, 'req_0Vbr9hyVSG1NTS9DZ8F8Va', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 10, NULL),
	(2078100000000002, 1795493277727, 1795820877729248, NULL, NULL, 45, 152, 50, 60, 7, NULL, NULL, NULL, 200, 16, 17, NULL, 0, 'req_0VbrOoVVfCC7MAG02cTJMc', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', '/v1beta/models/{model}:generateContent', 'POST', 'settled', 'gemini-2.5-pro', 'env_google', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078100000000003, 1795504077745, 1795820877747144, NULL, NULL, 69, 32, NULL, NULL, NULL, NULL, NULL, NULL, 500, 12, 14, NULL, 0, 'req_0Vbs885QzWQw972TxfwSqP', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078100000000004, 1795507677762, 1795820877764994, NULL, NULL, 57, 956, 900, 120, 400, NULL, NULL, NULL, 200, 9, 53, NULL, 0, 'req_0VbsNEcCLlJ21XNtyveqkd', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078100000000005, 1795507677817, 1795820877820678, NULL, NULL, 81, 32, NULL, NULL, NULL, NULL, NULL, NULL, 400, 14, 16, NULL, 0, 'req_0VbsNEd6n5ISVDc0Pq2jKW', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.requests_20782 VALUES
	(2078200000000001, 1795576077868, 1795820877875332, NULL, NULL, 73, 178, 900, 120, 400, NULL, NULL, NULL, 200, 24, 25, NULL, 0, 'req_0Vbx0Ebjm1piXJRUtRgHKM', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 10, NULL),
	(2078200000000002, 1795579677898, 1795820877900441, NULL, NULL, 45, 152, 50, 60, 7, NULL, NULL, NULL, 200, 12, 13, NULL, 0, 'req_0VbxFL8hLmwDJJts0u7mVl', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', '/v1beta/models/{model}:generateContent', 'POST', 'settled', 'gemini-2.5-pro', 'env_google', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078200000000003, 1795590477915, 1795820877917341, NULL, NULL, 69, 32, NULL, NULL, NULL, NULL, NULL, NULL, 500, 12, 13, NULL, 0, 'req_0VbxyeiYJHF2MA3TacgQWL', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078200000000004, 1795594077931, 1795820877933519, NULL, NULL, 57, 956, 900, 120, 400, NULL, NULL, NULL, 200, 5, 51, NULL, 0, 'req_0VbyDlFKEynZV5OZ4HBlkm', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078200000000005, 1795594077984, 1795820877987057, NULL, NULL, 81, 32, NULL, NULL, NULL, NULL, NULL, NULL, 400, 14, 15, NULL, 0, 'req_0VbyDlGBbnn6xPBJXoIw5F', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.requests_20783 VALUES
	(2078300000000001, 1795662478027, 1795820878029235, NULL, NULL, 73, 178, 900, 120, 400, NULL, NULL, NULL, 200, 15, 16, NULL, 0, 'req_0Vc2qlEgrN4wezRQShOYQ2', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 10, NULL),
	(2078300000000002, 1795666078046, 1795820878048474, NULL, NULL, 45, 152, 50, 60, 7, NULL, NULL, NULL, 200, 10, 11, NULL, 0, 'req_0Vc35rlVsOt29IZU1RXH8S', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', '/v1beta/models/{model}:generateContent', 'POST', 'settled', 'gemini-2.5-pro', 'env_google', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078300000000003, 1795676878063, 1795820878065263, NULL, NULL, 69, 32, NULL, NULL, NULL, NULL, NULL, NULL, 500, 11, 13, NULL, 0, 'req_0Vc3pBLLrWqdxm1uVDvSax', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078300000000004, 1795680478079, 1795820878081878, NULL, NULL, 57, 956, 900, 120, 400, NULL, NULL, NULL, 200, 6, 48, NULL, 0, 'req_0Vc44Hs6HF2m2FUSjCJEHv', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078300000000005, 1795680478128, 1795820878130192, NULL, NULL, 81, 32, NULL, NULL, NULL, NULL, NULL, NULL, 400, 11, 12, NULL, 0, 'req_0Vc44HsuV2yLJApiMO61gQ', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.requests_20784 VALUES
	(2078400000000001, 1795748878162, 1795820878164254, NULL, NULL, 73, 178, 900, 120, 400, NULL, NULL, NULL, 200, 16, 17, NULL, 0, 'req_0Vc8hHrGPBIZFdkvd2Uuig', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 10, NULL),
	(2078400000000002, 1795752478183, 1795820878184723, NULL, NULL, 45, 152, 50, 60, 7, NULL, NULL, NULL, 200, 10, 11, NULL, 0, 'req_0Vc8wOO6AHDSXvGJTbR3JO', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', '/v1beta/models/{model}:generateContent', 'POST', 'settled', 'gemini-2.5-pro', 'env_google', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078400000000003, 1795763278201, 1795820878202818, NULL, NULL, 69, 32, NULL, NULL, NULL, NULL, NULL, NULL, 500, 11, 12, NULL, 0, 'req_0Vc9fhxwl2r9CUyBDOj1YP', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078400000000004, 1795766878215, 1795820878216687, NULL, NULL, 57, 956, 900, 120, 400, NULL, NULL, NULL, 200, 4, 47, NULL, 0, 'req_0Vc9uoUgXheHYAaLFsn9t3', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078400000000005, 1795766878264, 1795820878266419, NULL, NULL, 81, 32, NULL, NULL, NULL, NULL, NULL, NULL, 400, 12, 15, NULL, 0, 'req_0Vc9uoVTYCxy7fLHP6lTvt', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', '/v1/messages', 'POST', 'settled', 'claude-sonnet-4-5', 'cred_0VbkKlGAjAX5tNvp4NgGXw', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2078400000000006, 1795820878282, 1795820878283573, NULL, NULL, 33, 171, 5, 6, 0, NULL, NULL, NULL, 200, 7, 9, NULL, 0, 'req_0VcDZONUDiMrmmUjSWQACR', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKlEUdRWOcHprAgFoxA', 'openai', '/v1/responses', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL),
	(2078400000000007, 1795820878772, 1795820878774375, NULL, NULL, 64, 171, 1, 2, 0, NULL, NULL, NULL, 200, 18, 19, NULL, 0, 'req_0VcDZOVPOwljDWLDvoHaZW', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', '/v1/chat/completions', 'POST', 'settled', 'gpt-5', 'env_openai', NULL, NULL, 'key_0VcDZOURAxQTzuAnZ0HQDx', 'user 7', NULL, NULL, NULL, 0, NULL);
INSERT INTO public.retention_mark VALUES
	(1, 0);
INSERT INTO public.sessions VALUES
	('SpWLwp3F7eVn', '76bc723146f486f0d5d463cb35b2bbda246c375b5a028d9dbd606a789c794704', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1795388876922, 1797980876922),
	('Hcrez4n5BFvC', '7b827f45aa1d393ab25a50f9bfbdbff823e7ab7532f14b3a1c2ba4bcb351a6c8', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1795820879945, 1798412879945);
INSERT INTO public.tokens VALUES
	('tok_0VbkKlHFUGHOy9BaH4sZGY', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'terraform', 'T6NSAxbgIwUG', '2e44d119f7e1d1b2c1e873843cf0dc3815f896df7d7f9ad72133420951c0a94c', 'convert manage', NULL, NULL, 1795388877641, NULL),
	('tok_0VcDZOVv3wOBBVzfhOfo2F', 'acc_0VbkKl5eHB7jmsCSil3pzl', 'pipeline', 'avN6uPKIyYzw', 'cc669987826e8c573f30b867ef8de1c0707b6235c603aed29ec220ba8355fc3c', 'convert', NULL, NULL, 1795820878803, 1795820878811);
INSERT INTO public.upstream_errors VALUES
	('req_0Vbs885QzWQw972TxfwSqP', 1795504077745, NULL, '{"error":{"message":"scripted"}}'),
	('req_0VbsNEd6n5ISVDc0Pq2jKW', 1795507677817, NULL, '{"error":{"message":"scripted"}}'),
	('req_0VbxyeiYJHF2MA3TacgQWL', 1795590477915, NULL, '{"error":{"message":"scripted"}}'),
	('req_0VbyDlGBbnn6xPBJXoIw5F', 1795594077984, NULL, '{"error":{"message":"scripted"}}'),
	('req_0Vc3pBLLrWqdxm1uVDvSax', 1795676878063, NULL, '{"error":{"message":"scripted"}}'),
	('req_0Vc44HsuV2yLJApiMO61gQ', 1795680478128, NULL, '{"error":{"message":"scripted"}}'),
	('req_0Vc9fhxwl2r9CUyBDOj1YP', 1795763278201, NULL, '{"error":{"message":"scripted"}}'),
	('req_0Vc9uoVTYCxy7fLHP6lTvt', 1795766878264, NULL, '{"error":{"message":"scripted"}}');
INSERT INTO public.usage_account_days VALUES
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795478400000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 16, 17, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795478400000, 'openai', 'gpt-5', 2, 1, 0, 0, 1, 142, 210, 2, 38, 41, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795478400000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 23, 69, 900, 120, 400, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795564800000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 12, 13, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795564800000, 'openai', 'gpt-5', 2, 1, 0, 0, 1, 142, 210, 2, 36, 38, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795564800000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 19, 66, 900, 120, 400, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795651200000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 10, 11, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795651200000, 'openai', 'gpt-5', 2, 1, 0, 0, 1, 142, 210, 2, 26, 29, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795651200000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 17, 60, 900, 120, 400, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795737600000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 10, 11, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795737600000, 'openai', 'gpt-5', 2, 1, 0, 0, 1, 142, 210, 2, 27, 29, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795737600000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 16, 62, 900, 120, 400, NULL, NULL, NULL, NULL);
INSERT INTO public.usage_account_hours VALUES
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795489200000, 'openai', 'gpt-5', 1, 0, 0, 0, 0, 73, 178, 1, 26, 27, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795492800000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 16, 17, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795503600000, 'openai', 'gpt-5', 1, 1, 0, 0, 1, 69, 32, 1, 12, 14, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795507200000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 23, 69, 900, 120, 400, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795575600000, 'openai', 'gpt-5', 1, 0, 0, 0, 0, 73, 178, 1, 24, 25, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795579200000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 12, 13, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795590000000, 'openai', 'gpt-5', 1, 1, 0, 0, 1, 69, 32, 1, 12, 13, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795593600000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 19, 66, 900, 120, 400, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795662000000, 'openai', 'gpt-5', 1, 0, 0, 0, 0, 73, 178, 1, 15, 16, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795665600000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 10, 11, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795676400000, 'openai', 'gpt-5', 1, 1, 0, 0, 1, 69, 32, 1, 11, 13, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795680000000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 17, 60, 900, 120, 400, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795748400000, 'openai', 'gpt-5', 1, 0, 0, 0, 0, 73, 178, 1, 16, 17, 900, 120, 400, NULL, NULL, 10, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795752000000, 'google', 'gemini-2.5-pro', 1, 0, 0, 0, 0, 45, 152, 1, 10, 11, 50, 60, 7, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795762800000, 'openai', 'gpt-5', 1, 1, 0, 0, 1, 69, 32, 1, 11, 12, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('acc_0VbkKl5eHB7jmsCSil3pzl', 1795766400000, 'anthropic', 'claude-sonnet-4-5', 2, 1, 0, 0, 1, 138, 988, 2, 16, 62, 900, 120, 400, NULL, NULL, NULL, NULL);
INSERT INTO public.usage_added VALUES
	('days', 1795770000000, NULL, NULL, NULL),
	('accounts', 1795770000000, NULL, NULL, NULL),
	('keys', 1795770000000, NULL, NULL, NULL);
INSERT INTO public.usage_days VALUES
	(1795478400000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 1, 26, 27, 900, 120, 400, NULL, NULL, 10, NULL),
	(1795478400000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 1, 16, 17, 50, 60, 7, NULL, NULL, NULL, NULL),
	(1795478400000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, 1, 12, 14, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(1795478400000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 2, 23, 69, 900, 120, 400, NULL, NULL, NULL, NULL),
	(1795564800000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 1, 24, 25, 900, 120, 400, NULL, NULL, 10, NULL),
	(1795564800000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 1, 12, 13, 50, 60, 7, NULL, NULL, NULL, NULL),
	(1795564800000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, 1, 12, 13, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(1795564800000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 2, 19, 66, 900, 120, 400, NULL, NULL, NULL, NULL),
	(1795651200000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 1, 15, 16, 900, 120, 400, NULL, NULL, 10, NULL),
	(1795651200000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 1, 10, 11, 50, 60, 7, NULL, NULL, NULL, NULL),
	(1795651200000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, 1, 11, 13, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(1795651200000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 2, 17, 60, 900, 120, 400, NULL, NULL, NULL, NULL),
	(1795737600000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 1, 16, 17, 900, 120, 400, NULL, NULL, 10, NULL),
	(1795737600000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 1, 10, 11, 50, 60, 7, NULL, NULL, NULL, NULL),
	(1795737600000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, 1, 11, 12, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(1795737600000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 2, 16, 62, 900, 120, 400, NULL, NULL, NULL, NULL);
INSERT INTO public.usage_hours VALUES
	(1795489200000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 900, 120, 400, NULL, 1, 26, 27, NULL, 10, NULL),
	(1795492800000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 50, 60, 7, NULL, 1, 16, 17, NULL, NULL, NULL),
	(1795503600000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, NULL, NULL, NULL, NULL, 1, 12, 14, NULL, NULL, NULL),
	(1795507200000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 900, 120, 400, NULL, 2, 23, 69, NULL, NULL, NULL),
	(1795575600000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 900, 120, 400, NULL, 1, 24, 25, NULL, 10, NULL),
	(1795579200000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 50, 60, 7, NULL, 1, 12, 13, NULL, NULL, NULL),
	(1795590000000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, NULL, NULL, NULL, NULL, 1, 12, 13, NULL, NULL, NULL),
	(1795593600000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 900, 120, 400, NULL, 2, 19, 66, NULL, NULL, NULL),
	(1795662000000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 900, 120, 400, NULL, 1, 15, 16, NULL, 10, NULL),
	(1795665600000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 50, 60, 7, NULL, 1, 10, 11, NULL, NULL, NULL),
	(1795676400000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, NULL, NULL, NULL, NULL, 1, 11, 13, NULL, NULL, NULL),
	(1795680000000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 900, 120, 400, NULL, 2, 17, 60, NULL, NULL, NULL),
	(1795748400000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 73, 178, 900, 120, 400, NULL, 1, 16, 17, NULL, 10, NULL),
	(1795752000000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'google', 'gemini-2.5-pro', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 45, 152, 50, 60, 7, NULL, 1, 10, 11, NULL, NULL, NULL),
	(1795762800000, 'key_0VbkKlEwCFfZIVjSDH05mm', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 1, 0, 0, 1, 69, 32, NULL, NULL, NULL, NULL, 1, 11, 12, NULL, NULL, NULL),
	(1795820400000, 'key_0VbkKlEUdRWOcHprAgFoxA', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 33, 171, 5, 6, 0, NULL, 1, 7, 9, NULL, 0, NULL),
	(1795766400000, 'key_0VbkKlFWQEu5orRWfiXort', 'anthropic', 'claude-sonnet-4-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 2, 1, 0, 0, 1, 138, 988, 900, 120, 400, NULL, 2, 16, 62, NULL, NULL, NULL),
	(1795820400000, 'key_0VbkKl7GK8OVOrabGoTCIF', 'openai', 'gpt-5', 'acc_0VbkKl5eHB7jmsCSil3pzl', 1, 0, 0, 0, 0, 64, 171, 1, 2, 0, NULL, 1, 18, 19, NULL, 0, NULL);
INSERT INTO public.usage_key_days VALUES
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795478400000, 2),
	('key_0VbkKlEwCFfZIVjSDH05mm', 1795478400000, 1),
	('key_0VbkKlFWQEu5orRWfiXort', 1795478400000, 2),
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795564800000, 4),
	('key_0VbkKlEwCFfZIVjSDH05mm', 1795564800000, 2),
	('key_0VbkKlFWQEu5orRWfiXort', 1795564800000, 4),
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795651200000, 6),
	('key_0VbkKlEwCFfZIVjSDH05mm', 1795651200000, 3),
	('key_0VbkKlFWQEu5orRWfiXort', 1795651200000, 6),
	('key_0VbkKl7GK8OVOrabGoTCIF', 1795737600000, 8),
	('key_0VbkKlEwCFfZIVjSDH05mm', 1795737600000, 4),
	('key_0VbkKlFWQEu5orRWfiXort', 1795737600000, 8);
INSERT INTO public.usage_keys VALUES
	('key_0VbkKl7GK8OVOrabGoTCIF', 'acc_0VbkKl5eHB7jmsCSil3pzl', 8, 0, 0, 0, 0, 472, 1320, 8, 129, 137, 3800, 720, 1628, NULL, NULL, 40, NULL),
	('key_0VbkKlEwCFfZIVjSDH05mm', 'acc_0VbkKl5eHB7jmsCSil3pzl', 4, 4, 0, 0, 4, 276, 128, 4, 46, 52, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('key_0VbkKlFWQEu5orRWfiXort', 'acc_0VbkKl5eHB7jmsCSil3pzl', 8, 4, 0, 0, 4, 552, 3952, 8, 75, 257, 3600, 480, 1600, NULL, NULL, NULL, NULL);
SELECT pg_catalog.setval('public.requests_seq_seq', 2078400000000007, true);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_email_key UNIQUE (email);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_name_key UNIQUE (name);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.admission_stamps
    ADD CONSTRAINT admission_stamps_pkey PRIMARY KEY (owner, last);
ALTER TABLE ONLY public.admissions
    ADD CONSTRAINT admissions_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (subject);
ALTER TABLE ONLY public.blobs
    ADD CONSTRAINT blobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.credential_tests
    ADD CONSTRAINT credential_tests_pkey PRIMARY KEY (credential_id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_revision_key UNIQUE (revision);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_key PRIMARY KEY (account_id, key);
ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.key_secrets
    ADD CONSTRAINT key_secrets_pkey PRIMARY KEY (public_id);
ALTER TABLE ONLY public.key_uses
    ADD CONSTRAINT key_uses_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_revision_key UNIQUE (revision);
ALTER TABLE ONLY public.ledger_clock
    ADD CONSTRAINT ledger_clock_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.objects
    ADD CONSTRAINT objects_pk PRIMARY KEY (provider, kind, object_id);
ALTER TABLE ONLY public.open_sockets
    ADD CONSTRAINT open_sockets_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_pkey PRIMARY KEY (account_id);
ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY public.passwords
    ADD CONSTRAINT passwords_pkey PRIMARY KEY (account_id);
ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_origin_key UNIQUE (origin);
ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.quota_days
    ADD CONSTRAINT quota_days_key PRIMARY KEY (account_id, day);
ALTER TABLE ONLY public.refusal_minutes
    ADD CONSTRAINT refusal_minutes_pk PRIMARY KEY (key_id, minute, code);
ALTER TABLE ONLY public.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.refused_hours
    ADD CONSTRAINT refused_hours_pk PRIMARY KEY (key_id, hour);
ALTER TABLE ONLY public.request_partitions
    ADD CONSTRAINT request_partitions_pkey PRIMARY KEY (first);
ALTER TABLE ONLY public.requests_20781
    ADD CONSTRAINT requests_20781_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.requests_20782
    ADD CONSTRAINT requests_20782_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.requests_20783
    ADD CONSTRAINT requests_20783_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.requests_20784
    ADD CONSTRAINT requests_20784_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.requests_first
    ADD CONSTRAINT requests_first_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.retention_mark
    ADD CONSTRAINT retention_mark_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.sealed_days
    ADD CONSTRAINT sealed_days_pkey PRIMARY KEY (day);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (public_id);
ALTER TABLE ONLY public.shared_objects
    ADD CONSTRAINT shared_objects_once UNIQUE (key_id, provider, kind, object_id);
ALTER TABLE ONLY public.shared_objects
    ADD CONSTRAINT shared_objects_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY public.upstream_errors
    ADD CONSTRAINT upstream_errors_pkey PRIMARY KEY (request_id);
ALTER TABLE ONLY public.usage_account_days
    ADD CONSTRAINT usage_account_days_pk PRIMARY KEY (account_id, day, provider, model);
ALTER TABLE ONLY public.usage_account_hours
    ADD CONSTRAINT usage_account_hours_pk PRIMARY KEY (account_id, hour, provider, model);
ALTER TABLE ONLY public.usage_added
    ADD CONSTRAINT usage_added_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_pk PRIMARY KEY (key_id, day, provider, model);
ALTER TABLE ONLY public.usage_hours
    ADD CONSTRAINT usage_hours_pk PRIMARY KEY (key_id, hour, provider, model);
ALTER TABLE ONLY public.usage_key_days
    ADD CONSTRAINT usage_key_days_pk PRIMARY KEY (key_id, day);
ALTER TABLE ONLY public.usage_keys
    ADD CONSTRAINT usage_keys_pkey PRIMARY KEY (key_id);
CREATE UNIQUE INDEX admissions_id_key ON public.admissions USING btree (id);
CREATE INDEX attempts_expiry ON public.attempts USING btree (expires_at);
CREATE INDEX blobs_expiry ON public.blobs USING btree (expires_at);
CREATE INDEX blobs_instance ON public.blobs USING btree (instance_id);
CREATE INDEX idempotency_expiry ON public.idempotency USING btree (expires_at);
CREATE INDEX idempotency_instance ON public.idempotency USING btree (instance_id);
CREATE INDEX jobs_account ON public.jobs USING btree (account_id, id);
CREATE INDEX jobs_expiry ON public.jobs USING btree (status, expires_at);
CREATE INDEX jobs_finished ON public.jobs USING btree (finished_at);
CREATE INDEX jobs_instance ON public.jobs USING btree (instance_id);
CREATE INDEX jobs_of_account ON public.jobs USING btree (account_id, turn);
CREATE INDEX jobs_turns ON public.jobs USING btree (status, turn, id);
CREATE INDEX key_secrets_key ON public.key_secrets USING btree (key_id);
CREATE INDEX keys_account ON public.keys USING btree (account_id, created_at);
CREATE INDEX keys_parent ON public.keys USING btree (parent_id, expires_at) WHERE (parent_id IS NOT NULL);
CREATE INDEX open_sockets_account ON public.open_sockets USING btree (account_id, id);
CREATE INDEX open_sockets_instance ON public.open_sockets USING btree (instance, ending);
CREATE INDEX refusal_minutes_account ON public.refusal_minutes USING btree (account_id, minute);
CREATE INDEX refusal_minutes_time ON public.refusal_minutes USING btree (minute);
CREATE INDEX refusals_account ON public.refusals USING btree (account_id, created_at, id);
CREATE INDEX refusals_key ON public.refusals USING btree (key_id, created_at, id);
CREATE INDEX refusals_time ON public.refusals USING btree (created_at, id);
CREATE INDEX refused_hours_account ON public.refused_hours USING btree (account_id, hour);
CREATE INDEX requests_20781_account ON public.requests_20781 USING btree (hashtextextended(account_id, (0)::bigint), seq);
CREATE INDEX requests_20781_child ON public.requests_20781 USING btree (hashtextextended(child_id, (0)::bigint), seq) WHERE (child_id IS NOT NULL);
CREATE INDEX requests_20781_id ON public.requests_20781 USING btree (substr(id, 5, 7));
CREATE INDEX requests_20781_key ON public.requests_20781 USING btree (hashtextextended(key_id, (0)::bigint), seq);
CREATE INDEX requests_20781_model ON public.requests_20781 USING btree (hashtext(account_id), hashtext(model), ((seq >> 12)));
CREATE INDEX requests_20781_odd ON public.requests_20781 USING btree (account_id, seq) WHERE ((status >= 300) OR (error IS NOT NULL) OR (state = 'aborted'::text) OR (state = 'unknown'::text));
CREATE INDEX requests_20782_account ON public.requests_20782 USING btree (hashtextextended(account_id, (0)::bigint), seq);
CREATE INDEX requests_20782_child ON public.requests_20782 USING btree (hashtextextended(child_id, (0)::bigint), seq) WHERE (child_id IS NOT NULL);
CREATE INDEX requests_20782_id ON public.requests_20782 USING btree (substr(id, 5, 7));
CREATE INDEX requests_20782_key ON public.requests_20782 USING btree (hashtextextended(key_id, (0)::bigint), seq);
CREATE INDEX requests_20782_model ON public.requests_20782 USING btree (hashtext(account_id), hashtext(model), ((seq >> 12)));
CREATE INDEX requests_20782_odd ON public.requests_20782 USING btree (account_id, seq) WHERE ((status >= 300) OR (error IS NOT NULL) OR (state = 'aborted'::text) OR (state = 'unknown'::text));
CREATE INDEX requests_20783_account ON public.requests_20783 USING btree (hashtextextended(account_id, (0)::bigint), seq);
CREATE INDEX requests_20783_child ON public.requests_20783 USING btree (hashtextextended(child_id, (0)::bigint), seq) WHERE (child_id IS NOT NULL);
CREATE INDEX requests_20783_id ON public.requests_20783 USING btree (substr(id, 5, 7));
CREATE INDEX requests_20783_key ON public.requests_20783 USING btree (hashtextextended(key_id, (0)::bigint), seq);
CREATE INDEX requests_20783_model ON public.requests_20783 USING btree (hashtext(account_id), hashtext(model), ((seq >> 12)));
CREATE INDEX requests_20783_odd ON public.requests_20783 USING btree (account_id, seq) WHERE ((status >= 300) OR (error IS NOT NULL) OR (state = 'aborted'::text) OR (state = 'unknown'::text));
CREATE INDEX requests_20784_account ON public.requests_20784 USING btree (hashtextextended(account_id, (0)::bigint), seq);
CREATE INDEX requests_20784_child ON public.requests_20784 USING btree (hashtextextended(child_id, (0)::bigint), seq) WHERE (child_id IS NOT NULL);
CREATE INDEX requests_20784_id ON public.requests_20784 USING btree (substr(id, 5, 7));
CREATE INDEX requests_20784_key ON public.requests_20784 USING btree (hashtextextended(key_id, (0)::bigint), seq);
CREATE INDEX requests_20784_model ON public.requests_20784 USING btree (hashtext(account_id), hashtext(model), ((seq >> 12)));
CREATE INDEX requests_20784_odd ON public.requests_20784 USING btree (account_id, seq) WHERE ((status >= 300) OR (error IS NOT NULL) OR (state = 'aborted'::text) OR (state = 'unknown'::text));
CREATE INDEX requests_first_account ON public.requests_first USING btree (hashtextextended(account_id, (0)::bigint), seq);
CREATE INDEX requests_first_child ON public.requests_first USING btree (hashtextextended(child_id, (0)::bigint), seq) WHERE (child_id IS NOT NULL);
CREATE INDEX requests_first_id ON public.requests_first USING btree (substr(id, 5, 7));
CREATE INDEX requests_first_key ON public.requests_first USING btree (hashtextextended(key_id, (0)::bigint), seq);
CREATE INDEX requests_first_model ON public.requests_first USING btree (hashtext(account_id), hashtext(model), ((seq >> 12)));
CREATE INDEX requests_first_odd ON public.requests_first USING btree (account_id, seq) WHERE ((status >= 300) OR (error IS NOT NULL) OR (state = 'aborted'::text) OR (state = 'unknown'::text));
CREATE INDEX reservations_account ON public.reservations USING btree (account_id, day);
CREATE INDEX reservations_instance ON public.reservations USING btree (instance_id);
CREATE INDEX sessions_account ON public.sessions USING btree (account_id);
CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX tokens_account ON public.tokens USING btree (account_id, created_at);
CREATE INDEX upstream_errors_id ON public.upstream_errors USING btree (upstream_request_id);
CREATE INDEX upstream_errors_time ON public.upstream_errors USING btree (created_at);
CREATE INDEX usage_account_days_by_day ON public.usage_account_days USING btree (day, account_id, provider, model);
CREATE INDEX usage_account_hours_by_hour ON public.usage_account_hours USING btree (hour, account_id, provider, model);
CREATE INDEX usage_days_by_account ON public.usage_days USING btree (account_id, day, key_id, provider, model);
CREATE INDEX usage_days_by_day ON public.usage_days USING btree (day, key_id, provider, model);
CREATE INDEX usage_hours_by_account ON public.usage_hours USING btree (account_id, hour, key_id, provider, model);
CREATE INDEX usage_hours_by_hour ON public.usage_hours USING btree (hour, key_id, provider, model);
CREATE INDEX usage_keys_account ON public.usage_keys USING btree (account_id, key_id);
CREATE TRIGGER tollmark_announce AFTER INSERT OR DELETE OR UPDATE ON public.accounts FOR EACH STATEMENT EXECUTE FUNCTION public.tollmark_announce();
CREATE TRIGGER tollmark_announce AFTER INSERT OR DELETE OR UPDATE ON public.credentials FOR EACH STATEMENT EXECUTE FUNCTION public.tollmark_announce();
CREATE TRIGGER tollmark_announce AFTER UPDATE OF known ON public.instances FOR EACH STATEMENT EXECUTE FUNCTION public.tollmark_announce();
CREATE TRIGGER tollmark_announce AFTER INSERT OR UPDATE OF status ON public.jobs FOR EACH STATEMENT EXECUTE FUNCTION public.tollmark_announce();
CREATE TRIGGER tollmark_announce AFTER INSERT OR DELETE OR UPDATE ON public.keys FOR EACH STATEMENT EXECUTE FUNCTION public.tollmark_announce();
CREATE TRIGGER tollmark_announce AFTER UPDATE OF ending ON public.open_sockets FOR EACH STATEMENT EXECUTE FUNCTION public.tollmark_announce();
CREATE TRIGGER tollmark_count_older AFTER INSERT ON public.requests FOR EACH ROW WHEN (((new.nth IS NOT NULL) AND (new.state = 'reserved'::text))) EXECUTE FUNCTION public.tollmark_count_older();
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES public.instances(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES public.instances(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.key_secrets
    ADD CONSTRAINT key_secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.keys(id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.keys(id);
ALTER TABLE ONLY public.open_sockets
    ADD CONSTRAINT open_sockets_instance_fkey FOREIGN KEY (instance) REFERENCES public.instances(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.passwords
    ADD CONSTRAINT passwords_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.quota_days
    ADD CONSTRAINT quota_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES public.instances(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.shared_objects
    ADD CONSTRAINT shared_objects_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.keys(id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
