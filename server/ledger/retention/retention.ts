// Where the operator says for how long, requests leave the ledger. What they sum up to stays in the
// roll-ups.
import type { Store } from '../../store/open.ts'
import { all, procedure, run } from '../../store/procedure.ts'
import { markOf } from '../rollups/coarser.ts'
import { CLOCK_ROOM } from '../reports/requests.ts'
import { RESERVED_STATE } from '../settlement/row-codec.ts'

/**
 * Rows that are looked at in one transaction, and how long the writer is left to the admissions
 * behind it (milliseconds): they wait for the one, not for all.
 */
const PAGE = 100
const REST_MS = 20

/**
 * Requests that were let through before a moment (milliseconds since 1970), of which the last one
 * has a number not above `upTo`.
 */
export interface Old {
  before: number
  upTo: number
}

/**
 * Deletes the old requests among the next rows, as far as their hour is in the roll-ups by day.
 * What is under way stays, and so does the newest of each key: places are counted from it, and it
 * says when the key was last used.
 *
 * @returns the last row that was looked at, or null where nothing older follows it
 */
export const forgetSome = procedure(
  import.meta.url,
  'forgetSome',
  function* (db, { before, upTo, after }: Old & { after: number }) {
    const { before: added } = yield* markOf(db, 'days')
    const rows = yield* all(
      db
        .selectFrom('requests')
        .select(['seq', 'created_at'])
        .where('seq', '>', after)
        .where('seq', '<=', upTo)
        .orderBy('seq')
        .limit(PAGE),
    )
    const last = rows.at(-1)
    if (last === undefined) return null
    yield* run(
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
        ),
    )
    // Behind a row that is so much younger none is old.
    return rows.length === PAGE && last.created_at < before + CLOCK_ROOM ? last.seq : null
  },
  'rows',
)

/** Deletes old requests, a little at a time; any number of processes may. */
export async function forget(
  store: Store,
  old: Old,
  goesOn: () => boolean = () => true,
): Promise<void> {
  let after: number | null = 0
  while (after !== null && goesOn()) {
    after = await store.run(forgetSome, { ...old, after })
    if (after !== null) await new Promise((resolve) => setTimeout(resolve, REST_MS))
  }
}
