// Deletes requests that are older than the retention time. Their sums stay in the roll-ups.
import type { ExpressionBuilder } from 'kysely'
import type { DialectName } from '../../store/dialect.ts'
import type { Store } from '../../store/open.ts'
import { first, procedure, run } from '../../store/procedure.ts'
import type { Database } from '../../store/schema.ts'
import { markOf } from '../rollups/coarser.ts'
import { CLOCK_ROOM } from '../reports/requests.ts'
import { RESERVED_STATE } from '../settlement/row-codec.ts'

/**
 * TABLE of databases: rows per transaction, and the pause after it as a multiple of its duration.
 * On SQLite, admissions wait for the only writer; on PostgreSQL, they do not wait for deletions.
 */
const PAGES: Readonly<Record<DialectName, { rows: number; pause: number }>> = {
  sqlite: { rows: 100, pause: 1 },
  postgres: { rows: 10_000, pause: 0 },
}

/** Requests admitted before a time (milliseconds since 1970), with a `seq` of at most `upTo`. */
export interface RetentionLimit {
  before: number
  upTo: number
}

/**
 * Deletes the old requests among the next `page` rows, if their hour is in the daily roll-ups.
 * Requests in progress stay, and so does the newest request of each key, which records when the key
 * was last used.
 *
 * @returns `seq` of the last row examined; null if nothing older follows it, or another process
 *   deletes
 */
export const deleteOldBatch = procedure(
  import.meta.url,
  'deleteOldBatch',
  function* (db, { before, upTo, after, page }: RetentionLimit & { after: number; page: number }) {
    const turn = db.selectFrom('retention_mark').select('seq').forUpdate().skipLocked()
    if ((yield* first(turn)) === undefined) return null
    const { before: added } = yield* markOf(db, 'days')
    const rows = db.selectFrom('requests').where('seq', '>', after)
    const isOld = (e: ExpressionBuilder<Database, 'requests'>) =>
      e.and([e('created_at', '<', Math.min(before, added)), e('state', '<>', RESERVED_STATE)])
    const examined = rows
      .select((e) => ['seq', e.case().when(isOld(e)).then(e.ref('seq')).end().as('old')])
      .where('seq', '<=', upTo)
      .orderBy('seq')
      .limit(page)
    const found = yield* first(
      db
        .selectFrom(examined.as('examined'))
        .select((e) => [e.fn.max('seq').as('last'), e.fn.max('old').as('old')]),
    )
    if (found === undefined || found.last === null) return null
    const { last, old } = found
    const end = yield* first(db.selectFrom('requests').select('created_at').where('seq', '=', last))
    // Rows after one that is this much younger are not old (milliseconds).
    const goesOn = end !== undefined && end.created_at < before + CLOCK_ROOM
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
            .whereRef('all.key_id', '=', 'here.key_id'),
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
    return goesOn ? last : null
  },
  'rows',
)

/** Deletes old requests in small batches; any number of processes may do so at once. */
export async function deleteOldRequests(
  store: Store,
  old: RetentionLimit,
  isOpen: () => boolean = () => true,
): Promise<void> {
  const { rows, pause } = PAGES[store.dialect]
  let after: number | null = 0
  while (after !== null && isOpen()) {
    const began = performance.now()
    after = await store.run(deleteOldBatch, { ...old, after, page: rows })
    const took = performance.now() - began
    if (after !== null) await new Promise((resolve) => setTimeout(resolve, pause * took))
  }
}
