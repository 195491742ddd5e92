// The roll-ups by hour: a request is added to its roll-up when it ends.
import { sql, type RawBuilder } from 'kysely'
import { HOUR } from '../../common/clock.ts'
import type { RequestRow, UsageHourRow } from '../../store/schema.ts'
import type { QueryBuilder, Statement } from '../../store/statement.ts'
import { cachedSql, type Settlement, type ROLL_UP_KEY } from '../settlement/row-codec.ts'

/** TABLE of the columns of a roll-up to sum; in the second kind, null is ignored. */
const COUNTS = [
  'requests',
  'errors',
  'aborted',
  'unknown',
  'unmetered',
  'bytes_in',
  'bytes_out',
  'answered',
  'first_byte_ms',
  'total_ms',
] as const
const TOKENS = ['tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning'] as const
/** TABLE of the columns that every roll-up sums. */
export const SUMS = [...COUNTS, ...TOKENS] as const

/** The roll-up that a row belongs to; added to `sums` if it is new. */
export function sumOf(
  sums: Map<string, UsageHourRow>,
  row: Pick<Settlement, (typeof ROLL_UP_KEY)[number] | 'model'>,
): UsageHourRow {
  const hour = row.created_at - (row.created_at % HOUR)
  const model = row.model ?? ''
  const name = `${hour} ${row.key_id} ${row.provider} ${model}`
  let sum = sums.get(name)
  if (!sum) {
    sum = {
      hour,
      key_id: row.key_id,
      provider: row.provider,
      model,
      account_id: row.account_id,
      requests: 0,
      errors: 0,
      aborted: 0,
      unknown: 0,
      unmetered: 0,
      bytes_in: 0,
      bytes_out: 0,
      tokens_in: null,
      tokens_out: null,
      tokens_cached: null,
      tokens_reasoning: null,
      answered: 0,
      first_byte_ms: 0,
      total_ms: 0,
    }
    sums.set(name, sum)
  }
  return sum
}

/**
 * Counts a row that has ended. @param numbers its values of `SETTLEMENT_COLUMNS.own` @param counted
 * whether it was already counted as unknown, because its process was considered dead too early
 */
export function addUp(
  sum: UsageHourRow,
  { state, status, error }: Pick<RequestRow, 'state' | 'status' | 'error'>,
  numbers: readonly (number | null)[],
  counted = false,
): void {
  const [
    first_byte_ms = null,
    total_ms = null,
    bytes_in = null,
    bytes_out = null,
    tokens_in = null,
    tokens_out = null,
    tokens_cached = null,
    tokens_reasoning = null,
  ] = numbers
  if (counted) {
    sum.unknown--
    sum.unmetered--
  } else sum.requests++
  if (state === 'unknown') sum.unknown++
  if (state === 'aborted') sum.aborted++
  if (state === 'settled' && (status === null || status >= 400 || error !== null)) sum.errors++
  if (tokens_in === null && tokens_out === null) sum.unmetered++
  sum.bytes_in += bytes_in ?? 0
  sum.bytes_out += bytes_out ?? 0
  sum.tokens_in = plus(sum.tokens_in, tokens_in)
  sum.tokens_out = plus(sum.tokens_out, tokens_out)
  sum.tokens_cached = plus(sum.tokens_cached, tokens_cached)
  sum.tokens_reasoning = plus(sum.tokens_reasoning, tokens_reasoning)
  if (first_byte_ms === null || total_ms === null) return
  sum.answered++
  sum.first_byte_ms += first_byte_ms
  sum.total_ms += total_ms
}

/**
 * Adds a number to a sum. Null is unknown, not 0: the sum is null only while all its numbers are.
 */
export function plus(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more
}

/** Tables with a column for each of `SUMS`. */
export type SumTable =
  | 'usage_hours'
  | 'usage_days'
  | 'usage_account_hours'
  | 'usage_account_days'
  | 'usage_keys'

/**
 * The update on a conflict in a table of sums: the existing value plus the new one (`excluded`).
 */
export function added(table: SumTable): Record<string, RawBuilder<number | null>> {
  const both = (column: string) =>
    sql<number | null>`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`
  const known = (column: string) =>
    sql<
      number | null
    >`coalesce(${both(column)}, ${sql.ref(`${table}.${column}`)}, ${sql.ref(`excluded.${column}`)})`
  return Object.fromEntries([
    ...COUNTS.map((column) => [column, both(column)]),
    ...TOKENS.map((column) => [column, known(column)]),
  ])
}

/** The statement that inserts a sum into `usage_hours`, or adds it to the existing row. */
export function upsert(db: QueryBuilder, sum: UsageHourRow): Statement {
  const statement = cachedSql(db, 'upsert', (db) =>
    db
      .insertInto('usage_hours')
      .values(sum)
      .onConflict((conflict) =>
        conflict.columns(['key_id', 'hour', 'provider', 'model']).doUpdateSet(added('usage_hours')),
      ),
  )
  return { sql: statement, parameters: Object.values(sum) }
}
