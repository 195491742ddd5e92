// Settlement on PostgreSQL: what `settle` in sqlite.ts does row by row in the writer's thread, as
// one statement, because each costs a way to the database. test/ledger runs the same tests on both.
import { sql } from 'kysely'
import type { Store } from '../../store/open.ts'
import { SETTLEMENT_COLUMNS, type Settlement } from './row-codec.ts'

/** TABLE of a settlement's columns, with the types by which PostgreSQL reads them from JSON. */
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
const CHANGES = sql.raw(
  [...SETTLEMENT_COLUMNS.common, ...SETTLEMENT_COLUMNS.own]
    .map((name) => `${name} = g.${name}`)
    .join(', '),
)

/**
 * Completes rows and adds them to the roll-ups. A row that is complete already stays as it is. Rows
 * and sums are locked in one order by all.
 */
export async function settlePostgres(
  store: Store,
  settlements: readonly Settlement[],
): Promise<void> {
  const rows = settlements.map((row) => ({
    ...row,
    failure: undefined,
    model: row.model === null ? null : storable(row.model),
    upstream_request_id:
      row.upstream_request_id === null ? null : storable(row.upstream_request_id),
  }))
  await sql`
    with given as (
      select distinct on (seq) * from rows from (json_to_recordset(${JSON.stringify(rows)}) as (${TYPED}))
        with ordinality as g(${NAMES}, line)
      order by seq, line
    ), open as (
      select r.seq, r.state = 'unknown' as counted from requests r join given g on g.seq = r.seq
      where r.state in ('reserved', 'unknown') order by r.seq for update of r
    ), done as (
      update requests r set ${CHANGES}
      from given g join open o on o.seq = g.seq where r.seq = g.seq
      returning g.*, o.counted
    )
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
      answered = u.answered + excluded.answered, first_byte_ms = u.first_byte_ms + excluded.first_byte_ms, total_ms = u.total_ms + excluded.total_ms`.execute(
    store.db,
  )
}

/** PostgreSQL's text cannot contain NUL, and its JSON no unpaired surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
