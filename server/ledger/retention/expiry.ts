// Deletes old rows of the ledger's related tables.
import type { Store } from '../../store/store.ts'
import { all, procedure, run, type Steps } from '../../store/procedure.ts'

/** TABLE of these tables, with the column of a row's time. */
const TIMES = {
  refusals: 'created_at',
  refusal_minutes: 'minute',
  upstream_errors: 'created_at',
} as const

/** A table whose old rows are deleted. */
export type ExpiringTable = keyof typeof TIMES

/** Rows per transaction. */
const MAX_BATCH = 500

/** Deletes up to MAX_BATCH rows from before a time; returns whether there may be more. */
export const expireBatch = procedure(
  import.meta.url,
  'expireBatch',
  function* (db, { table, before }: { table: ExpiringTable; before: number }): Steps<boolean> {
    // For this query, the tables differ only in the name of their time column.
    const [from, time] = [table as 'refusals', TIMES[table] as 'created_at']
    const old = yield* all(
      db.selectFrom(from).select(time).where(time, '<', before).orderBy(time).limit(MAX_BATCH),
    )
    const last = old.at(-1)
    if (last === undefined) return false
    yield* run(db.deleteFrom(from).where(time, '<=', last[time]))
    return old.length === MAX_BATCH
  },
  'rows',
)

/** Deletes the rows of a table from before a time (milliseconds since 1970), in small batches. */
export async function expire(
  store: Store,
  table: ExpiringTable,
  before: number,
  isOpen: () => boolean = () => true,
): Promise<void> {
  while (isOpen() && (await store.run(expireBatch, { table, before })));
}
