// The roll-ups by hour: a request is added to its roll-up when it ends.
import { sql, type RawBuilder } from 'kysely'
import { HOUR } from '../../common/clock.ts'
import { TOKEN_COLUMNS, UNKNOWN_TOKENS } from '../../common/token-kinds.ts'
import type { RequestRow, UsageHourRow } from '../../store/schema.ts'
import type { QueryBuilder, Statement } from '../../store/statement.ts'
import { SETTLEMENT_COLUMNS, type Settlement, type ROLL_UP_KEY } from '../settlement/row-codec.ts'
import { cachedSql } from '../settlement/row-statements.ts'

/** TABLE of the columns of a roll-up to sum, besides tokens: there, null is ignored. */
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
/** TABLE of the columns that every roll-up sums. */
export const SUMS = [...COUNTS, ...TOKEN_COLUMNS] as const

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
      ...UNKNOWN_TOKENS,
      answered: 0,
      first_byte_ms: 0,
      total_ms: 0,
    }
    sums.set(name, sum)
  }
  return sum
}

const placeOf = (name: (typeof SETTLEMENT_COLUMNS.own)[number]) =>
  SETTLEMENT_COLUMNS.own.indexOf(name)
/** Places of columns in `SETTLEMENT_COLUMNS.own`. */
const AT = {
  first_byte_ms: placeOf('first_byte_ms'),
  total_ms: placeOf('total_ms'),
  bytes_in: placeOf('bytes_in'),
  bytes_out: placeOf('bytes_out'),
  tokens_in: placeOf('tokens_in'),
  tokens_out: placeOf('tokens_out'),
  tokens: TOKEN_COLUMNS.map((name) => [name, placeOf(name)] as const),
}

/**
 * Counts a row that has ended. @param numbers its values of `SETTLEMENT_COLUMNS.own`; empty: all
 * are null @param counted whether it was already counted as unknown, because its process was
 * considered dead too early
 */
export function addUp(
  sum: UsageHourRow,
  { state, status, error }: Pick<RequestRow, 'state' | 'status' | 'error'>,
  numbers: readonly (number | null)[],
  counted = false,
): void {
  if (counted) {
    sum.unknown--
    sum.unmetered--
  } else sum.requests++
  if (state === 'unknown') sum.unknown++
  if (state === 'aborted') sum.aborted++
  if (state === 'settled' && (status === null || status >= 400 || error !== null)) sum.errors++
  sum.bytes_in += numbers[AT.bytes_in] ?? 0
  sum.bytes_out += numbers[AT.bytes_out] ?? 0
  if ((numbers[AT.tokens_in] ?? null) === null && (numbers[AT.tokens_out] ?? null) === null)
    sum.unmetered++
  for (const [name, place] of AT.tokens) {
    const tokens = numbers[place] ?? null
    if (tokens !== null) sum[name] = (sum[name] ?? 0) + tokens
  }
  const [first_byte_ms, total_ms] = [
    numbers[AT.first_byte_ms] ?? null,
    numbers[AT.total_ms] ?? null,
  ]
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
    ...TOKEN_COLUMNS.map((column) => [column, known(column)]),
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
