// Deletes what stands beside the ledger's rows and has become too old.
import type { Store } from '../../store/open.ts'
import { all, procedure, run, type Steps } from '../../store/procedure.ts'

/** TABLE of such tables, and of the column that says how old a row is. */
const TIMES = {
  refusals: 'created_at',
  refusal_minutes: 'minute',
  upstream_errors: 'created_at',
} as const

export type Aside = keyof typeof TIMES

/** Rows that are deleted in one unit. */
const AT_ONCE = 500

/** Deletes some rows from before a moment; gives whether there may be more. */
export const expireSome = procedure(
  import.meta.url,
  'expireSome',
  function* (db, { table, before }: { table: Aside; before: number }): Steps<boolean> {
    // The tables differ in the name of their time only, as far as this is concerned.
    const [from, time] = [table as 'refusals', TIMES[table] as 'created_at']
    const old = yield* all(
      db.selectFrom(from).select(time).where(time, '<', before).orderBy(time).limit(AT_ONCE),
    )
    const last = old.at(-1)
    if (last === undefined) return false
    yield* run(db.deleteFrom(from).where(time, '<=', last[time]))
    return old.length === AT_ONCE
  },
  'rows',
)

/**
 * Deletes the rows of a table from before a moment (milliseconds since 1970), a little at a time.
 */
export async function expire(
  store: Store,
  table: Aside,
  before: number,
  goesOn: () => boolean = () => true,
): Promise<void> {
  while (goesOn() && (await store.run(expireSome, { table, before })));
}
