// Settlement on PostgreSQL: does in one statement what `settle` in sqlite.ts does row by row in the
// writer's thread, because each statement costs a round trip. test/ledger runs the same tests on
// both.
import { sql } from 'kysely'
import type { Store } from '../../store/open.ts'
import { ADMISSION_COLUMNS, SETTLEMENT_COLUMNS, type Settlement } from './row-codec.ts'

/** TABLE of a settlement's columns and the types as which PostgreSQL reads them from JSON. */
const GIVEN: Readonly<Record<Exclude<keyof Settlement, 'failure'>, 'bigint' | 'int' | 'text'>> = {
  seq: 'bigint',
  account_id: 'text',
  key_id: 'text',
  provider: 'text',
  created_at: 'bigint',
  state: 'text',
  model: 'text',
  status: 'int',
  error: 'text',
  credential_id: 'text',
  first_byte_ms: 'int',
  total_ms: 'int',
  bytes_in: 'bigint',
  bytes_out: 'bigint',
  tokens_in: 'bigint',
  tokens_out: 'bigint',
  tokens_cached: 'bigint',
  tokens_reasoning: 'bigint',
  upstream_request_id: 'text',
}
const TYPED = sql.raw(
  Object.entries(GIVEN)
    .map(([name, type]) => `${name} ${type}`)
    .join(', '),
)
const NAMES = sql.raw(Object.keys(GIVEN).join(', '))
/** The columns of an admission that stay in the complete row; a settlement has the model again. */
const ADMITTED = [
  'seq',
  ...[...ADMISSION_COLUMNS.common, ...ADMISSION_COLUMNS.own].filter((name) => name !== 'model'),
  'outage',
]
const SETTLED = [...SETTLEMENT_COLUMNS.common, ...SETTLEMENT_COLUMNS.own]
const CHANGES = sql.raw(SETTLED.map((name) => `${name} = g.${name}`).join(', '))
const FROM_ADMISSION = sql.raw(ADMITTED.map((name) => `a.${name}`).join(', '))
const FROM_SETTLEMENT = sql.raw(SETTLED.map((name) => `g.${name}`).join(', '))
const COMPLETE = sql.raw([...ADMITTED, ...SETTLED].join(', '))

/**
 * Moves rows from `admissions` to `requests`, complete, and adds them to the roll-ups. A row that
 * is already complete is unchanged.
 */
export async function settlePostgres(
  store: Store,
  settlements: readonly Settlement[],
): Promise<void> {
  const missing = new Set(await settleRows(store, await jsonOf(settlements), 'admissions'))
  if (missing.size === 0) return
  // Either already complete, or moved because this process was considered dead.
  const moved = settlements.filter(({ seq }) => missing.has(seq))
  await settleRows(store, await jsonOf(moved), 'requests')
}

/** Rows that are encoded without a turn of the event loop: 0.3 ms. */
const MAX_ENCODED = 256

/** Rows as JSON. The event loop turns between slices. */
async function jsonOf(settlements: readonly Settlement[]): Promise<string> {
  const slices: string[] = []
  for (let from = 0; from < settlements.length; from += MAX_ENCODED) {
    if (from > 0) await new Promise(setImmediate)
    const rows = settlements.slice(from, from + MAX_ENCODED).map(({ failure: _, ...row }) => ({
      ...row,
      model: row.model === null ? null : storable(row.model),
      upstream_request_id:
        row.upstream_request_id === null ? null : storable(row.upstream_request_id),
    }))
    slices.push(JSON.stringify(rows).slice(1, -1))
  }
  return `[${slices.join(',')}]`
}

/** Moves rows from `admissions`. */
const MOVED = sql`moved as (
      delete from admissions a where a.seq = any (array(select seq from given)) and a.state in ('reserved', 'unknown')
      returning a.*
    ), inserted as (
      insert into requests (${COMPLETE})
      select ${FROM_ADMISSION}, ${FROM_SETTLEMENT} from moved a join given g on g.seq = a.seq order by g.seq
    ), opened as (select seq, state = 'unknown' as counted from moved)`

/** Completes rows in `requests`. */
const UPDATED = sql`opened as (
      select r.seq, r.state = 'unknown' as counted from requests r
      where r.seq = any (array(select seq from given)) and r.state in ('reserved', 'unknown')
      order by r.seq for update of r
    ), updated as (
      update requests r set ${CHANGES}
      from given g where r.seq = g.seq and r.seq = any (array(select seq from opened))
    )`

/**
 * Completes the rows that are in a table; returns `seq` of the others. PostgreSQL parses and plans
 * the statement for each call, so what is rare has one of its own. Rows are looked up by arrays of
 * numbers, for which PostgreSQL uses an index. It would join the given rows with a whole table that
 * has grown since it was last analyzed.
 *
 * @param json the rows; of equal ones, the first counts
 */
async function settleRows(
  store: Store,
  json: string,
  table: 'admissions' | 'requests',
): Promise<number[]> {
  const { rows: missing } = await sql<{ seq: number }>`
    with given as (
      select distinct on (seq) * from rows from (json_to_recordset(${json}) as (${TYPED}))
        with ordinality as g(${NAMES}, line)
      order by seq, line
    ), ${table === 'admissions' ? MOVED : UPDATED}, done as (
      select g.*, o.counted from given g join opened o on o.seq = g.seq
    ), summed as (
    insert into usage_hours as u (hour, key_id, provider, model, account_id, requests, errors, aborted, unknown, unmetered, bytes_in, bytes_out,
      tokens_in, tokens_out, tokens_cached, tokens_reasoning, answered, first_byte_ms, total_ms)
    select created_at - created_at % 3600000 as hour, key_id, provider, coalesce(model, '') as name, min(account_id),
      count(*) filter (where not counted),
      count(*) filter (where state = 'settled' and (status is null or status >= 400 or error is not null)),
      count(*) filter (where state = 'aborted'),
      -count(*) filter (where counted),
      count(*) filter (where tokens_in is null and tokens_out is null) - count(*) filter (where counted),
      coalesce(sum(bytes_in), 0), coalesce(sum(bytes_out), 0), sum(tokens_in), sum(tokens_out), sum(tokens_cached), sum(tokens_reasoning),
      count(*) filter (where first_byte_ms is not null and total_ms is not null),
      coalesce(sum(first_byte_ms) filter (where total_ms is not null), 0), coalesce(sum(total_ms) filter (where first_byte_ms is not null), 0)
    from done group by hour, key_id, provider, name order by key_id, hour, provider, name
    on conflict (key_id, hour, provider, model) do update set
      requests = u.requests + excluded.requests, errors = u.errors + excluded.errors, aborted = u.aborted + excluded.aborted,
      unknown = u.unknown + excluded.unknown, unmetered = u.unmetered + excluded.unmetered,
      bytes_in = u.bytes_in + excluded.bytes_in, bytes_out = u.bytes_out + excluded.bytes_out,
      tokens_in = coalesce(u.tokens_in + excluded.tokens_in, u.tokens_in, excluded.tokens_in),
      tokens_out = coalesce(u.tokens_out + excluded.tokens_out, u.tokens_out, excluded.tokens_out),
      tokens_cached = coalesce(u.tokens_cached + excluded.tokens_cached, u.tokens_cached, excluded.tokens_cached),
      tokens_reasoning = coalesce(u.tokens_reasoning + excluded.tokens_reasoning, u.tokens_reasoning, excluded.tokens_reasoning),
      answered = u.answered + excluded.answered, first_byte_ms = u.first_byte_ms + excluded.first_byte_ms, total_ms = u.total_ms + excluded.total_ms
    )
    select seq from given where seq not in (select seq from done)`.execute(store.db)
  return missing.map(({ seq }) => seq)
}

/**
 * Moves rows that have ended but are still in `admissions` to `requests`: those of dead processes,
 * and those that an older version settled.
 */
export async function moveEnded(store: Store): Promise<void> {
  await sql`
    with ended as (
      select seq from admissions where state <> 'reserved' order by seq limit 10000 for update skip locked
    ), moved as (delete from admissions where seq in (select seq from ended) returning *)
    insert into requests (${COMPLETE}) select ${COMPLETE} from moved order by seq`.execute(store.db)
}

/** PostgreSQL's text cannot contain NUL, and its JSON no unpaired surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
