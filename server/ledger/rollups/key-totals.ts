// Total usage of keys, and their number of requests within a period: for any amount of usage, one
// lookup for the total and one for each end of the period.
import { sql, type RawBuilder } from 'kysely'
import { all, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { withMark } from './coarser.ts'
import {
  SOURCES,
  filledTime,
  partOf,
  spansOf,
  type Mark,
  type Place,
  type RollUpFilter,
  type Span,
} from './periods.ts'
import { endOfStretch, rollUpLines } from './stretches.ts'
import { SUMS } from './hourly.ts'
import { addLine, MOST_ROWS, sumsOfSpan, sumUp, takeOff, type SumLine } from './summing.ts'

/** The total usage of keys, by key; keys that were never used are missing. */
export function* totalsOfKeys(
  db: QueryBuilder,
  keys: readonly string[],
): Steps<Map<string, SumLine>> {
  return yield* withMark(db, 'keys', function* ({ before, upTo }) {
    const totals =
      before === 0
        ? []
        : yield* all(
            db
              .selectFrom('usage_keys')
              .select(['key_id', ...SUMS])
              .where('key_id', 'in', keys),
          )
    const [since = []] = yield* sumUp(
      db,
      { keys, from: before, to: Number.MAX_SAFE_INTEGER },
      undefined,
      [{ by: ['key_id'] }],
    )
    const twice =
      upTo === null ? [] : yield* sumsOfSpan(db, partOf(before, upTo), { keys }, { by: ['key_id'] })
    const lines = new Map<string, SumLine>(
      totals.map((line) => [line.key_id, { ...line, latest: 0 }]),
    )
    for (const line of since) addLine(lines, line.key_id ?? '', line)
    for (const line of twice) takeOff(lines, line.key_id ?? '', line)
    return lines
  })
}

const MARK = sql.lit(SOURCES.totals.mark)

/**
 * Requests that have ended since the totals were filled, by key: a relation of `key_id` and
 * `requests`, to be joined. It is read once for all keys of a list: reading the hours of each took
 * 3 µs per key. `account` null: of all accounts.
 *
 * SQLite uses the index of hours only if the grouping has no index of its own, so `key_id` is cast
 * to its own type.
 */
export function requestsSinceTotals(
  account: string | null,
): RawBuilder<{ key_id: string; requests: number }> {
  const whose = account === null ? sql`1 = 1` : sql`h.account_id = ${account}`
  return sql`(select cast(h.key_id as text) as key_id, sum(h.requests) as requests
    from usage_hours as h left join usage_added as a on a.name = ${MARK}
    where ${whose} and h.hour >= coalesce((select before from usage_added where name = ${MARK}), 0)
      and (h.hour = a.before and (h.key_id, h.provider, h.model) <= (a.key_id, a.provider, a.model)) is not true
    group by cast(h.key_id as text))`
}

/** The number of ended requests of a key: its total plus the joined `since`. */
export const REQUESTS_OF_KEY = sql<number>`cast(coalesce(usage_keys.requests, 0) + coalesce(since.requests, 0) as bigint)`

/** Totals of keys read in one statement: other tasks wait for it. */
const KEYS_AT_ONCE = 2_000

/**
 * How many requests each key had in a period. Times are rounded to whole hours, including the
 * first. Keys without requests are missing.
 */
export function* requestsByKey(db: QueryBuilder, filter: RollUpFilter): Steps<Map<string, number>> {
  const { key, keys, model, provider } = filter
  if ([key, keys, model, provider].some((one) => one !== undefined)) {
    const [lines = []] = yield* sumUp(db, filter, undefined, [{ by: ['key_id'] }])
    return new Map(lines.map(({ key_id = '', requests }) => [key_id, requests ?? 0]))
  }
  const filled = yield* filledTime(db, filter)
  if (filled === null) return new Map()
  return yield* withMark(db, SOURCES.totals.mark, function* (mark) {
    const counts = new Map<string, number>()
    const counting =
      (sign: 1 | -1): Count =>
      (rows) => {
        for (const { key_id, requests } of rows)
          if (requests > 0) counts.set(key_id, (counts.get(key_id) ?? 0) + sign * requests)
      }
    for (const span of spansOf(filled.from, filled.to, mark, SOURCES.totals)) {
      const count = counting(span.upTo === undefined ? 1 : -1)
      yield* span.table === 'usage_hours'
        ? countHours(db, span, filter, count)
        : countDays(db, span, mark, filter, count)
    }
    return counts
  })
}

type Count = (rows: readonly { key_id: string; requests: number }[]) => void

function* countHours(
  db: QueryBuilder,
  span: Span,
  { account = null }: RollUpFilter,
  count: Count,
): Steps<void> {
  let after: Place | null = null
  do {
    const to: Place | null = yield* endOfStretch(db, span, { account }, after, MOST_ROWS)
    const lines = rollUpLines(db, span, { account }, { after, to })
    count(
      yield* all(
        lines
          .select((e) => ['key_id', e.fn.sum<number>('requests').as('requests')])
          .groupBy('key_id'),
      ),
    )
    after = to
  } while (after !== null)
}

/** Requests of a key before a day, as an expression in a query over the totals. */
function requestsBefore(day: number): RawBuilder<number> {
  return sql<number>`coalesce((select d.requests from usage_key_days as d where d.key_id = usage_keys.key_id and d.day < ${day} order by d.day desc limit 1), 0)`
}

/** Whole days: the number at their end minus the number at their beginning. */
function* countDays(
  db: QueryBuilder,
  { from, to }: Span,
  { before }: Mark,
  { account = null }: RollUpFilter,
  count: Count,
): Steps<void> {
  const requests = sql<number>`${to === before ? sql.ref('usage_keys.requests') : requestsBefore(to)} - ${requestsBefore(from)}`
  let query = db
    .selectFrom('usage_keys')
    .select(['key_id', requests.as('requests')])
    .orderBy('key_id')
    .limit(KEYS_AT_ONCE)
  if (account !== null) query = query.where('account_id', '=', account)
  for (let after: string | undefined = ''; after !== undefined;) {
    const rows: { key_id: string; requests: number }[] = yield* all(
      query.where('key_id', '>', after),
    )
    count(rows)
    after = rows.length === KEYS_AT_ONCE ? rows.at(-1)?.key_id : undefined
  }
}
