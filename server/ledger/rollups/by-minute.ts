// Roll-ups of the ledger by the minute. They are computed on request, only for short and recent
// periods, and a piece at a time.
import { sql, type SelectQueryBuilder } from 'kysely'
import { MINUTE } from '../../common/clock.ts'
import { TOKEN_COLUMNS } from '../../common/token-kinds.ts'
import { hasId } from '../../store/dialect.ts'
import type { Steps } from '../../store/procedure.ts'
import type { Database } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import type { RollUpFilter, RollUpLine } from './periods.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import { boundary, bracketOf, endsOf } from '../reports/scan.ts'

/** Rows of the ledger summed in one statement: other tasks wait for it. */
const AT_ONCE = 2_000

type MinuteFilter = Omit<RollUpFilter, 'keys'>

/** The row numbers of a period, in pieces: from `from` to `before` (exclusive). */
export function* minuteSpans(
  db: QueryBuilder,
  { account = null, key, from }: MinuteFilter,
): Steps<{ from: number; before: number }[]> {
  const ends = yield* endsOf(db)
  const { low: start } = yield* bracketOf(db, ends, Math.floor(from / MINUTE) * MINUTE, MINUTE)
  const spans = []
  for (let before = Number.MAX_SAFE_INTEGER; before > start;) {
    const bound = yield* boundary(db, { account, key }, { from: start, before }, AT_ONCE)
    const low = bound?.seq ?? start
    spans.push({ from: low, before })
    before = low
  }
  return spans
}

/**
 * The finished requests of a period and a piece, in the form of roll-ups: `at` is the start of
 * their minute. Times are rounded to whole minutes, including the first.
 */
export function minuteLines(
  db: QueryBuilder,
  { account, key, model, provider, from, to }: MinuteFilter,
  piece: { from: number; before: number },
): SelectQueryBuilder<Database & { lines: RollUpLine }, 'lines', object> {
  const start = Math.floor(from / MINUTE) * MINUTE
  let query = db
    .selectFrom('requests')
    .select((e) => [
      e('created_at', '-', e('created_at', '%', MINUTE)).as('at'),
      'key_id',
      'provider',
      e.fn.coalesce('model', sql.lit('')).as('model'),
      // Counted as in the roll-ups (hourly.ts).
      sql<number>`1`.as('requests'),
      sql<number>`case when state = 'settled' and (status is null or status >= 400 or error is not null) then 1 else 0 end`.as(
        'errors',
      ),
      sql<number>`case when state = 'aborted' then 1 else 0 end`.as('aborted'),
      sql<number>`case when state = 'unknown' then 1 else 0 end`.as('unknown'),
      sql<number>`case when tokens_in is null and tokens_out is null then 1 else 0 end`.as(
        'unmetered',
      ),
      sql<number>`coalesce(bytes_in, 0)`.as('bytes_in'),
      sql<number>`coalesce(bytes_out, 0)`.as('bytes_out'),
      ...TOKEN_COLUMNS,
      sql<number>`case when first_byte_ms is not null and total_ms is not null then 1 else 0 end`.as(
        'answered',
      ),
      sql<number>`case when first_byte_ms is not null and total_ms is not null then first_byte_ms else 0 end`.as(
        'first_byte_ms',
      ),
      sql<number>`case when first_byte_ms is not null and total_ms is not null then total_ms else 0 end`.as(
        'total_ms',
      ),
    ])
    .where('seq', '>=', piece.from)
    .where('seq', '<', piece.before)
    .where('created_at', '>=', start)
    .where('created_at', '<', Math.ceil(to / MINUTE) * MINUTE)
    .where('state', '<>', RESERVED_STATE)
  // A key belongs to one account. With only one of the two in the query, it uses the index by which
  // the piece was measured.
  if (key !== undefined) query = query.where(hasId('key_id', key))
  else if (account != null) query = query.where(hasId('account_id', account))
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  return db.selectFrom(query.as('lines'))
}
