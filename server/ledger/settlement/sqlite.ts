// Settlement on SQLite: procedures that complete the rows of requests, and add them to the
// roll-ups.
import type { ExpressionBuilder } from 'kysely'
import { all, procedure, run, type Steps } from '../../store/procedure.ts'
import type { Database, UpstreamErrorRow, UsageHourRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import {
  type EncodedRows,
  type Json,
  seqOf,
  decodeSettlements,
  type SettledRow,
} from './row-codec.ts'
import { flushSteps } from './journal.ts'
import { updateSettled, settledUpdateValues, RESERVED_STATE } from './row-statements.ts'
import { addUp, sumOf, upsert } from '../rollups/hourly.ts'

/**
 * Flushes the journal, completes rows, and adds them to the roll-ups. A row that is already
 * complete is unchanged. @param packed see `encodeSettlements`
 */
export const settle = procedure(import.meta.url, 'settle', settleAll)

/** Inserts upstream errors, then does the same as `settle`. */
export const settleWithErrors = procedure(
  import.meta.url,
  'settleWithErrors',
  function* (
    db,
    { packed, failures }: { packed: Json<EncodedRows>; failures: readonly UpstreamErrorRow[] },
  ): Steps<void> {
    yield* insertUpstreamErrors(db, failures)
    yield* settleAll(db, packed)
  },
)

/** Inserts upstream errors. Existing ones stay. */
export const recordUpstreamErrors = procedure(
  import.meta.url,
  'recordUpstreamErrors',
  insertUpstreamErrors,
  'rows',
)

function* insertUpstreamErrors(
  db: QueryBuilder,
  failures: readonly UpstreamErrorRow[],
): Steps<void> {
  for (const failure of failures)
    yield* run(
      db
        .insertInto('upstream_errors')
        .values(failure)
        .onConflict((conflict) => conflict.column('request_id').doNothing()),
    )
}

function* settleAll(db: QueryBuilder, packed: Json<EncodedRows>): Steps<void> {
  const sums = new Map<string, UsageHourRow>()
  const sumByCommon = new Map<object, UsageHourRow>()
  const count = ({ common, own }: SettledRow, counted: boolean): void => {
    let sum = sumByCommon.get(common)
    if (!sum) sumByCommon.set(common, (sum = sumOf(sums, common.row)))
    addUp(sum, common.row, own as (number | null)[], counted)
  }
  const ends = new Map<number, SettledRow>()
  for (const row of decodeSettlements(packed)) if (!ends.has(seqOf(row))) ends.set(seqOf(row), row)
  yield* flushSteps(db, (seq) => {
    const row = ends.get(seq)
    if (row === undefined) return undefined
    ends.delete(seq)
    count(row, false)
    return row
  })
  const [fromReserved, fromUnknown] = [updateSettled(db, 'reserved'), updateSettled(db, 'unknown')]
  for (const row of ends.values()) {
    const parameters = settledUpdateValues(row)
    if ((yield { sql: fromReserved, parameters }).affected > 0) count(row, false)
    // This process was declared dead too early, so the row has already been counted.
    else if ((yield { sql: fromUnknown, parameters }).affected > 0) count(row, true)
  }
  for (const sum of sums.values()) yield upsert(db, sum)
}

/** Rows marked per transaction; admissions wait for it. */
const MAX_MARKED = 500

/**
 * Marks up to MAX_MARKED requests of dead processes `unknown`: how they ended is lost. Returns the
 * number.
 */
export const markUnknown = procedure(import.meta.url, 'markUnknown', function* (db): Steps<number> {
  yield* flushSteps(db)
  const rows = yield* all(
    db
      .selectFrom('requests')
      .select(['seq', 'account_id', 'key_id', 'provider', 'created_at', 'model'])
      .where(ofDeadInstances)
      .limit(MAX_MARKED),
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
      .where(ofDeadInstances)
      .where('seq', 'in', found),
  )
  for (const sum of sums.values()) yield upsert(db, sum)
  return rows.length
})

function ofDeadInstances(e: ExpressionBuilder<Database, 'requests'>) {
  return e.and([
    e('state', '=', RESERVED_STATE),
    e('instance', 'not in', e.selectFrom('instances').select('instances.id')),
  ])
}
