// Deletes requests that are older than the retention time. Their sums stay in the roll-ups.
import type { ExpressionBuilder } from 'kysely'
import { hasId, type DialectName } from '../../store/dialect.ts'
import type { Store } from '../../store/store.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { Database } from '../../store/schema.ts'
import { markOf } from '../rollups/coarser.ts'
import { CLOCK_ROOM } from '../reports/search.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'

/**
 * TABLE of databases: rows per transaction, how many numbers (`seq`) it may pass, and the pause
 * after it as a multiple of its duration. On SQLite, admissions wait for the only writer; on
 * PostgreSQL, they do not wait for deletions. There, deleted rows stay in the index until the next
 * vacuum: passing a million of them took longer than a statement may.
 */
const PAGES: Readonly<Record<DialectName, { rows: number; span: number; pause: number }>> = {
  sqlite: { rows: 100, span: Number.MAX_SAFE_INTEGER, pause: 1 },
  postgres: { rows: 10_000, span: 100_000, pause: 0 },
}

/** Requests admitted before a time (milliseconds since 1970), with a `seq` of at most `upTo`. */
export interface RetentionLimit {
  before: number
  upTo: number
}

/** Which rows a batch examines. */
interface Page {
  /** The number (`seq`) before them. */
  after: number
  /** How many rows at most, and how many numbers. */
  rows: number
  span: number
}

/** What a batch has found. */
interface Examined {
  /** The number before the next page; null if nothing old follows, or another process deletes. */
  next: number | null
  /** The last old row, which is gone now unless it is the newest of its key. */
  old: number | null
  /** If the page has no rows, its last number. */
  emptyTo: number | null
}

const NOTHING: Examined = { next: null, old: null, emptyTo: null }

/**
 * Deletes the old requests of a page, if their hour is in the daily roll-ups. Requests in progress
 * stay, and so does the newest request of each key, which records when the key was last used.
 */
export const deleteOldBatch = procedure(
  import.meta.url,
  'deleteOldBatch',
  function* (
    db,
    { before, upTo, after, rows: most, span }: RetentionLimit & Page,
  ): Steps<Examined> {
    const turn = db.selectFrom('retention_mark').select('seq').forUpdate().skipLocked()
    if ((yield* first(turn)) === undefined) return NOTHING
    const limit = Math.min(before, (yield* markOf(db, 'days')).before)
    const end = Math.min(upTo, after + span)
    const rows = db.selectFrom('requests').where('seq', '>', after)
    const isOld = (e: ExpressionBuilder<Database, 'requests'>) =>
      e.and([e('created_at', '<', limit), e('state', '<>', RESERVED_STATE)])
    const examined = rows
      .select((e) => ['seq', e.case().when(isOld(e)).then(e.ref('seq')).end().as('old')])
      .where('seq', '<=', end)
      .orderBy('seq')
      .limit(most)
    const found = yield* first(
      db
        .selectFrom(examined.as('examined'))
        .select((e) => [e.fn.max('seq').as('last'), e.fn.max('old').as('old')]),
    )
    if (found === undefined || found.last === null)
      return { next: end < upTo ? end : null, old: null, emptyTo: end }
    const { last, old } = found
    const row = yield* first(db.selectFrom('requests').select('created_at').where('seq', '=', last))
    // Rows after one that is this much younger are not old (milliseconds).
    const goesOn = row !== undefined && row.created_at < limit + CLOCK_ROOM
    if (old !== null) {
      const newestHere = rows
        .select((e) => ['key_id', e.fn.max('seq').as('seq')])
        .where('seq', '<=', last)
        .groupBy('key_id')
      // Few rows of a large table are looked up. The aggregate makes PostgreSQL use the index.
      const newest = db
        .selectFrom(newestHere.as('here'))
        .select('here.seq')
        .where('here.seq', '=', (e) =>
          e
            .selectFrom('requests as all')
            .select((a) => a.fn.max('all.seq').as('seq'))
            .where(hasId('all.key_id', e.ref('here.key_id'))),
        )
      const deleted = yield* run(
        db
          .deleteFrom('requests')
          .where('seq', '>', after)
          .where('seq', '<=', last)
          .where(isOld)
          .where('seq', 'not in', newest),
      )
      // Up to this mark, `verify` reports no missing rows.
      if (deleted > 0)
        yield* run(db.updateTable('retention_mark').set({ seq: old }).where('seq', '<', old))
    }
    return { next: goesOn ? last : null, old, emptyTo: null }
  },
  'rows',
)

/**
 * Deletes old requests in small batches; any number of processes may do so at once.
 *
 * @param from the number (`seq`) to begin after
 * @returns the number after which the next call may begin. Of the rows before it, a few are left
 *   that may go later: the newest of a key, one in progress, one of a clock that was ahead
 */
export async function deleteOldRequests(
  store: Store,
  old: RetentionLimit,
  from = 0,
  isOpen: () => boolean = () => true,
): Promise<number> {
  const { pause, ...page } = PAGES[store.dialect]
  let done = from
  for (let after: number | null = from; after !== null && isOpen();) {
    const began = performance.now()
    const examined: Examined = await store.run(deleteOldBatch, { ...old, ...page, after })
    if (examined.old !== null) done = examined.old
    else if (examined.emptyTo !== null && done === after) done = examined.emptyTo
    after = examined.next
    const took = performance.now() - began
    if (after !== null) await new Promise((resolve) => setTimeout(resolve, pause * took))
  }
  return done
}
