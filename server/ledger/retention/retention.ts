// Deletes requests that are older than the retention. Their sums stay in the roll-ups.
import type { Store } from '../../store/open.ts'
import { all, procedure, run } from '../../store/procedure.ts'
import { markOf } from '../rollups/coarser.ts'
import { CLOCK_ROOM } from '../reports/requests.ts'
import { RESERVED_STATE } from '../settlement/row-codec.ts'

/**
 * Rows per transaction, and the pause behind it (milliseconds). On SQLite admissions wait for the
 * one writer; on PostgreSQL they do not wait for deletions.
 */
const PAGE = { sqlite: 100, postgres: 2_000 } as const
const PAUSE_MS = 20

/** Requests admitted before a moment (milliseconds since 1970), with a `seq` of at most `upTo`. */
export interface RetentionLimit {
  before: number
  upTo: number
}

/**
 * Deletes the old requests among the next `page` rows, if their hour is in the daily roll-ups.
 * Requests in progress stay, and so does the newest of each key, which says when the key was last
 * used.
 *
 * @returns `seq` of the last row examined, or null if nothing older follows it
 */
export const deleteOldBatch = procedure(
  import.meta.url,
  'deleteOldBatch',
  function* (db, { before, upTo, after, page }: RetentionLimit & { after: number; page: number }) {
    const { before: added } = yield* markOf(db, 'days')
    const rows = yield* all(
      db
        .selectFrom('requests')
        .select(['seq', 'created_at'])
        .where('seq', '>', after)
        .where('seq', '<=', upTo)
        .orderBy('seq')
        .limit(page),
    )
    const last = rows.at(-1)
    if (last === undefined) return null
    const deleted = yield* all(
      db
        .deleteFrom('requests')
        .where('seq', '>', after)
        .where('seq', '<=', last.seq)
        .where('created_at', '<', Math.min(before, added))
        .where('state', '<>', RESERVED_STATE)
        .where((e) =>
          e.exists(
            e
              .selectFrom('requests as later')
              .select('later.seq')
              .whereRef('later.key_id', '=', 'requests.key_id')
              .whereRef('later.seq', '>', 'requests.seq'),
          ),
        )
        .returning('requests.seq'),
    )
    // Up to there `verify` misses no row.
    const seq = Math.max(0, ...deleted.map((row) => row.seq))
    yield* run(db.updateTable('retention_mark').set({ seq }).where('seq', '<', seq))
    // Rows behind one that is this much younger are not old.
    return rows.length === page && last.created_at < before + CLOCK_ROOM ? last.seq : null
  },
  'rows',
)

/** Deletes old requests in small batches; any number of processes may do so at once. */
export async function deleteOldRequests(
  store: Store,
  old: RetentionLimit,
  isOpen: () => boolean = () => true,
): Promise<void> {
  let after: number | null = 0
  while (after !== null && isOpen()) {
    after = await store.run(deleteOldBatch, { ...old, after, page: PAGE[store.dialect] })
    if (after !== null) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
