// The end of requests: procedures that complete their rows, and add them to the roll-ups.
import type { ExpressionBuilder } from 'kysely'
import { all, procedure, run, type Steps } from '../../store/procedure.ts'
import type { Database, UpstreamErrorRow, UsageHourRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import type { Folded, Packed } from './dictionary.ts'
import { enterJournal } from './journal.ts'
import { end, endValues, RESERVED_STATE, seqOf, settled, type SettledRow } from './row-codec.ts'
import { addUp, sumOf, upsert } from '../rollups/hourly.ts'

/**
 * Enters the journal, completes rows, and adds them to the roll-ups. A row that is complete already
 * stays as it is. @param packed see `settlements`
 */
export const settle = procedure(import.meta.url, 'settle', settleAll)

/** The same, with what upstreams said of some of them. */
export const settleFailed = procedure(
  import.meta.url,
  'settleFailed',
  function* (
    db,
    { packed, failures }: { packed: Packed<Folded>; failures: readonly UpstreamErrorRow[] },
  ): Steps<void> {
    yield* enterFailures(db, failures)
    yield* settleAll(db, packed)
  },
)

/** Enters what upstreams said. What is there already stays. */
export const noteFailures = procedure(import.meta.url, 'noteFailures', enterFailures, 'rows')

function* enterFailures(db: QueryBuilder, failures: readonly UpstreamErrorRow[]): Steps<void> {
  for (const failure of failures)
    yield* run(
      db
        .insertInto('upstream_errors')
        .values(failure)
        .onConflict((conflict) => conflict.column('request_id').doNothing()),
    )
}

function* settleAll(db: QueryBuilder, packed: Packed<Folded>): Steps<void> {
  const sums = new Map<string, UsageHourRow>()
  const sumByCommon = new Map<object, UsageHourRow>()
  const count = ({ common, own }: SettledRow, counted: boolean): void => {
    let sum = sumByCommon.get(common)
    if (!sum) sumByCommon.set(common, (sum = sumOf(sums, common.row)))
    addUp(sum, common.row, own as (number | null)[], counted)
  }
  const ends = new Map<number, SettledRow>()
  for (const row of settled(packed)) if (!ends.has(seqOf(row))) ends.set(seqOf(row), row)
  yield* enterJournal(db, (seq) => {
    const row = ends.get(seq)
    if (row === undefined) return undefined
    ends.delete(seq)
    count(row, false)
    return row
  })
  const [usual, mistaken] = [end(db, 'reserved'), end(db, 'unknown')]
  for (const row of ends.values()) {
    const parameters = endValues(row)
    if ((yield { sql: usual, parameters }).affected > 0) count(row, false)
    // Somebody took this process for dead too early: the row has been counted once.
    else if ((yield { sql: mistaken, parameters }).affected > 0) count(row, true)
  }
  for (const sum of sums.values()) yield upsert(db, sum)
}

/** Rows that are written off at once: the admissions behind them wait for no more. */
const WRITTEN_OFF_AT_ONCE = 500

/**
 * Writes off some requests that are under way in processes which are no longer there: nobody can
 * say any more how they ended. Gives how many.
 */
export const abandon = procedure(import.meta.url, 'abandon', function* (db): Steps<number> {
  yield* enterJournal(db)
  const rows = yield* all(
    db
      .selectFrom('requests')
      .select(['seq', 'account_id', 'key_id', 'provider', 'created_at', 'model'])
      .where(leftBehind)
      .limit(WRITTEN_OFF_AT_ONCE),
  )
  if (rows.length === 0) return 0
  const sums = new Map<string, UsageHourRow>()
  for (const row of rows)
    addUp(sumOf(sums, row), { state: 'unknown', status: null, error: null }, [])
  const found = rows.map(({ seq }) => seq)
  yield* run(
    db
      .updateTable('requests')
      .set({ state: 'unknown' })
      .where(leftBehind)
      .where('seq', 'in', found),
  )
  for (const sum of sums.values()) yield upsert(db, sum)
  return rows.length
})

function leftBehind(e: ExpressionBuilder<Database, 'requests'>) {
  return e.and([
    e('state', '=', RESERVED_STATE),
    e('instance', 'not in', e.selectFrom('instances').select('instances.id')),
  ])
}
