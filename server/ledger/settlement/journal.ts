// The journal of the ledger on SQLite. What is let through in a moment is written down as one row
// of it, durably, before anybody hears of it: that is a page or two on the disk, where the rows by
// themselves, with their indexes, would be a dozen. Every settlement, and whoever else needs to see
// all rows, enters the journal into the requests first: hundreds at once, which share pages, and
// those that have ended meanwhile complete, in one write.
import { sql } from 'kysely'
import type { Store } from '../../store/open.ts'
import { procedure, type Steps } from '../../store/procedure.ts'
import type { JournalRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import type { Folded, Packed } from './dictionary.ts'
import {
  endedValues,
  enterEnded,
  enterReserved,
  reserved,
  reservedValues,
  text,
  type SettledRow,
} from './row-codec.ts'

/**
 * Writes down rows that are let through. @param rows see `reservations` @param last place in the
 * ledger of the last one
 */
export function* writeDown(
  db: QueryBuilder,
  rows: Packed<Folded>,
  last: number,
  instance: string,
  boot: number,
): Steps<void> {
  const sql = text(db, 'write down', (db) =>
    db.insertInto('journal').values({ seq: 0, instance: '', boot: 0, rows: '' }),
  )
  yield { sql, parameters: [last, instance, boot, rows] }
}

/**
 * Enters what is written down, and empties the journal.
 *
 * @param endOf how the request at a place has ended; undefined where it is under way
 */
export function* enterJournal(
  db: QueryBuilder,
  endOf: (seq: number) => SettledRow | undefined = () => undefined,
): Steps<void> {
  const { rows: moments } = yield {
    sql: text(db, 'journal', (db) =>
      db.selectFrom('journal').select(['seq', 'instance', 'boot', 'rows']).orderBy('seq'),
    ),
    parameters: [],
  }
  if (moments.length === 0) return
  const [underWay, over] = [enterReserved(db), enterEnded(db)]
  for (const { seq: last, instance, boot, rows: packed } of moments as JournalRow[]) {
    const rows = reserved(packed)
    let seq = last - rows.length
    for (const row of rows) {
      const ended = endOf(++seq)
      yield ended === undefined
        ? { sql: underWay, parameters: reservedValues(row, seq, instance, boot) }
        : { sql: over, parameters: endedValues(row, ended, instance, boot) }
    }
  }
  yield { sql: text(db, 'empty', (db) => db.deleteFrom('journal')), parameters: [] }
}

/** The newest admission of the ledger, written down or entered; 0: none. */
export function* newestSeq(db: QueryBuilder): Steps<number> {
  // The 1 is written out: SQLite plans a query anew whenever the parameter of its LIMIT is bound
  // again.
  for (const table of ['journal', 'requests'] as const) {
    const { rows } = yield {
      sql: text(db, `newest of ${table}`, (db) =>
        db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(sql.lit(1)),
      ),
      parameters: [],
    }
    if (rows.length > 0) return (rows[0] as { seq: number }).seq
  }
  return 0
}

/**
 * Enters the journal: from then on the requests are all that were let through. Gives the newest
 * admission of the ledger.
 */
export const enter = procedure(import.meta.url, 'enter', function* (db): Steps<number> {
  yield* enterJournal(db)
  return yield* newestSeq(db)
})

/**
 * How long a reader waits for a store that cannot be written (milliseconds); then it sees what has
 * entered.
 */
const ENTERED_WITHIN = 500

/** Lets what is written down enter the ledger, for somebody who is about to read it. */
export async function entered(store: Store): Promise<void> {
  if (
    store.dialect !== 'sqlite' ||
    !(await store.db.selectFrom('journal').select('seq').limit(1).executeTakeFirst())
  )
    return
  const late = new Promise((resolve) => setTimeout(resolve, ENTERED_WITHIN).unref())
  await Promise.race([store.run(enter, null).catch(() => {}), late])
}
