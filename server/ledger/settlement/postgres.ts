// Settlement on PostgreSQL: does in one statement what `settle` in sqlite.ts does row by row in the
// writer's thread, because each statement costs a round trip. test/ledger runs the same tests on
// both.
import { sql, type RawBuilder } from 'kysely'
import { columnsWhere, LEDGER_COLUMNS, type ColumnsWith } from '../../common/ledger-columns.ts'
import { TOKEN_COLUMNS } from '../../common/token-kinds.ts'
import type { Store } from '../../store/store.ts'
import {
  ADMISSION_COLUMNS,
  SETTLEMENT_CODEC,
  SETTLEMENT_COLUMNS,
  type Settlement,
} from './row-codec.ts'

/** The columns of a settlement, as in its JSON. */
const GIVEN = [...SETTLEMENT_CODEC.common, ...SETTLEMENT_CODEC.own]
const TYPED = sql.raw(GIVEN.map((name) => `${name} ${LEDGER_COLUMNS[name].type}`).join(', '))
const NAMES = sql.raw(GIVEN.join(', '))
type Given = { [Name in (typeof GIVEN)[number]]: Settlement[Name] | undefined }
/** The columns among these that may be null. */
const NULLABLE = columnsWhere<ColumnsWith<{ nullable: true; settlement: string }>>(
  ({ nullable, settlement }) => nullable === true && settlement !== undefined,
)
/** The columns among these with text that a caller or a provider wrote. */
const FOREIGN = columnsWhere<ColumnsWith<{ foreign: true; settlement: string }>>(
  ({ foreign, settlement }) => foreign === true && settlement !== undefined,
)
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

const TOKENS = sql.raw(TOKEN_COLUMNS.join(', '))
const TOKEN_SUMS = sql.raw(TOKEN_COLUMNS.map((name) => `sum(${name})`).join(', '))
/** Null is unknown, not 0. */
const TOKENS_ADDED = sql.raw(
  TOKEN_COLUMNS.map(
    (name) => `${name} = coalesce(u.${name} + excluded.${name}, u.${name}, excluded.${name})`,
  ).join(', '),
)

/**
 * Moves rows from `admissions` to `requests`, complete, and adds them to the roll-ups. A row that
 * is already complete is unchanged.
 */
export async function settlePostgres(
  store: Store,
  settlements: readonly Settlement[],
): Promise<void> {
  const missing = new Set(await settleRows(store, await jsonOf(settlements), MOVED))
  if (missing.size === 0) return
  // Either already complete, or moved because this process was considered dead.
  const moved = settlements.filter(({ seq }) => missing.has(seq))
  const numbers = moved.map(({ seq }) => seq)
  const updated = updatedBetween(Math.min(...numbers), Math.max(...numbers))
  await settleRows(store, await jsonOf(moved), updated)
}

/** Rows that are encoded without a turn of the event loop: 0.3 ms. */
const MAX_ENCODED = 256

/** Rows as JSON. The event loop turns between slices. */
async function jsonOf(settlements: readonly Settlement[]): Promise<string> {
  const slices: string[] = []
  for (let from = 0; from < settlements.length; from += MAX_ENCODED) {
    if (from > 0) await new Promise(setImmediate)
    const rows = settlements.slice(from, from + MAX_ENCODED).map(({ failure: _, ...row }) => {
      const known: Given = row
      for (const name of FOREIGN) known[name] &&= storable(known[name])
      // Left out of the JSON, PostgreSQL reads it as null: a third less to write and to parse.
      for (const name of NULLABLE) known[name] ??= undefined
      return known
    })
    slices.push(JSON.stringify(rows).slice(1, -1))
  }
  return `[${slices.join(',')}]`
}

/** Moves rows from `admissions`. */
const MOVED = sql`moved as (
      delete from admissions a where a.seq = any (array(select seq from given)) returning a.*
    ), inserted as (
      insert into requests_ended (${COMPLETE})
      select ${FROM_ADMISSION}, ${FROM_SETTLEMENT} from moved a join given g on g.seq = a.seq order by g.seq
    ), opened as (select seq, false as counted from moved)`

/** Completes rows whose end is unknown. Their numbers' bounds tell in which partitions they are. */
const updatedBetween = (lowest: number, highest: number) => sql`opened as (
      select r.seq, true as counted from requests_ended r
      where r.seq between ${lowest} and ${highest} and r.seq = any (array(select seq from given)) and r.state = 'unknown'
      order by r.seq for update of r
    ), updated as (
      update requests_ended r set ${CHANGES}
      from given g where r.seq between ${lowest} and ${highest} and r.seq = g.seq and r.seq = any (array(select seq from opened))
    )`

/**
 * Completes the rows that are in a table; returns `seq` of the others. PostgreSQL parses and plans
 * the statement for each call, so rare cases have a statement of their own. Rows are looked up by
 * arrays of numbers, for which PostgreSQL uses an index. It would join the given rows with a whole
 * table that has grown since it was last analyzed.
 *
 * @param json the rows; of equal ones, the first counts
 * @param opened the rows that are completed, with whether they are in the roll-ups already
 */
async function settleRows(
  store: Store,
  json: string,
  opened: RawBuilder<unknown>,
): Promise<number[]> {
  const { rows: missing } = await sql<{ seq: number }>`
    with given as (
      select distinct on (seq) * from rows from (json_to_recordset(${json}) as (${TYPED}))
        with ordinality as g(${NAMES}, line)
      order by seq, line
    ), ${opened}, done as (
      select g.*, o.counted from given g join opened o on o.seq = g.seq
    ), summed as (
    insert into usage_hours as u (hour, key_id, provider, model, account_id, requests, errors, aborted, unknown, unmetered, bytes_in, bytes_out,
      ${TOKENS}, answered, first_byte_ms, total_ms)
    select created_at - created_at % 3600000 as hour, key_id, provider, coalesce(model, '') as name, min(account_id),
      count(*) filter (where not counted),
      count(*) filter (where state = 'settled' and (status is null or status >= 400 or error is not null)),
      count(*) filter (where state = 'aborted'),
      -count(*) filter (where counted),
      count(*) filter (where tokens_in is null and tokens_out is null) - count(*) filter (where counted),
      coalesce(sum(bytes_in), 0), coalesce(sum(bytes_out), 0), ${TOKEN_SUMS},
      count(*) filter (where first_byte_ms is not null and total_ms is not null),
      coalesce(sum(first_byte_ms) filter (where total_ms is not null), 0), coalesce(sum(total_ms) filter (where first_byte_ms is not null), 0)
    from done group by hour, key_id, provider, name order by key_id, hour, provider, name
    on conflict (key_id, hour, provider, model) do update set
      requests = u.requests + excluded.requests, errors = u.errors + excluded.errors, aborted = u.aborted + excluded.aborted,
      unknown = u.unknown + excluded.unknown, unmetered = u.unmetered + excluded.unmetered,
      bytes_in = u.bytes_in + excluded.bytes_in, bytes_out = u.bytes_out + excluded.bytes_out,
      ${TOKENS_ADDED},
      answered = u.answered + excluded.answered, first_byte_ms = u.first_byte_ms + excluded.first_byte_ms, total_ms = u.total_ms + excluded.total_ms
    )
    select seq from given where seq not in (select seq from done)`.execute(store.db)
  return missing.map(({ seq }) => seq)
}

/** PostgreSQL's text cannot contain NUL, and its JSON no unpaired surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
