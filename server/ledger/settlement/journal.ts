// The ledger's write-ahead journal on SQLite. A batch of admissions is appended as one journal row,
// durably, before its requests are admitted: that writes one or two pages to the disk, where the
// rows and their indexes would be a dozen. Settlements, and readers that need every row, flush the
// journal into `requests` first: hundreds of rows at once, which share pages, and those that have
// ended are inserted complete.
import { sql } from 'kysely'
import { inTime } from '../../common/in-time.ts'
import type { Store } from '../../store/store.ts'
import { procedure, type Steps } from '../../store/procedure.ts'
import type { JournalRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { type EncodedRows, type Json, decodeReservations, type SettledRow } from './row-codec.ts'
import {
  settledInsertValues,
  insertSettled,
  insertReserved,
  reservedValues,
  cachedSql,
} from './row-statements.ts'

/** Appends admitted rows. @param rows see `encodeReservations` @param last `seq` of the last one */
export function* appendToJournal(
  db: QueryBuilder,
  rows: Json<EncodedRows>,
  last: number,
  instance: string,
  boot: number,
): Steps<void> {
  const sql = cachedSql(db, 'append to journal', (db) =>
    db.insertInto('journal').values({ seq: 0, instance: '', boot: 0, rows: '' }),
  )
  yield { sql, parameters: [last, instance, boot, rows] }
}

/**
 * Moves the journal into `requests`.
 *
 * @param endOf how the request with this `seq` ended; undefined if it is in progress
 */
export function* flushSteps(
  db: QueryBuilder,
  endOf: (seq: number) => SettledRow | undefined = () => undefined,
): Steps<void> {
  const { rows: batches } = yield {
    sql: cachedSql(db, 'read journal', (db) =>
      db.selectFrom('journal').select(['seq', 'instance', 'boot', 'rows']).orderBy('seq'),
    ),
    parameters: [],
  }
  if (batches.length === 0) return
  const [inProgress, complete] = [insertReserved(db), insertSettled(db)]
  for (const { seq: last, instance, boot, rows: packed } of batches as JournalRow[]) {
    const rows = decodeReservations(packed)
    let seq = last - rows.length
    for (const row of rows) {
      const ended = endOf(++seq)
      yield ended === undefined
        ? { sql: inProgress, parameters: reservedValues(row, seq, instance, boot) }
        : { sql: complete, parameters: settledInsertValues(row, ended, instance, boot) }
    }
  }
  yield { sql: cachedSql(db, 'empty journal', (db) => db.deleteFrom('journal')), parameters: [] }
}

/** `seq` of the newest admission, in the journal or in `requests`; 0: none. */
export function* newestSeq(db: QueryBuilder): Steps<number> {
  // The 1 is a literal, because SQLite plans a query again whenever the parameter of its LIMIT is
  // bound.
  for (const table of ['journal', 'requests'] as const) {
    const { rows } = yield {
      sql: cachedSql(db, `newest of ${table}`, (db) =>
        db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(sql.lit(1)),
      ),
      parameters: [],
    }
    if (rows.length > 0) return (rows[0] as { seq: number }).seq
  }
  return 0
}

/**
 * Flushes the journal, so that `requests` has every admission. Returns `seq` of the newest one.
 */
export const flushJournal = procedure(
  import.meta.url,
  'flushJournal',
  function* (db): Steps<number> {
    yield* flushSteps(db)
    return yield* newestSeq(db)
  },
)

/**
 * How long a reader waits for a flush (milliseconds); after that, it reads what has been flushed.
 */
const FLUSH_PATIENCE_MS = 500

/** Flushes the journal for a reader, if there is anything in it. */
export async function flushBeforeReading(store: Store): Promise<void> {
  if (
    store.dialect !== 'sqlite' ||
    !(await store.db.selectFrom('journal').select('seq').limit(1).executeTakeFirst())
  )
    return
  await inTime(
    store.run(flushJournal, null).catch(() => {}),
    FLUSH_PATIENCE_MS,
  )
}
