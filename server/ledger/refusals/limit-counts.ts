// Counts how often keys reached their limit. Refused requests are not in the ledger; they are
// counted by key and hour, in memory first, so that a caller that hammers a limit costs nothing. A
// killed process loses the last second of its counts.
import { HOUR } from '../../common/clock.ts'
import { procedure, run } from '../../store/procedure.ts'
import type { Store } from '../../store/store.ts'

/** How long counts wait to be written together (milliseconds). */
const FLUSH_MS = 1_000

type Count = { key_id: string; account_id: string; hour: number; refused: number }

/** Counts requests that a key's limit refused. */
export interface Refusals {
  /** Counts one. */
  note(key: { key_id: string; account_id: string }): void
  /** Resolves when all counts so far are written, or could not be. */
  flush(): Promise<void>
}

/** Adds counts to those of their hours. */
export const addRefusals = procedure(
  import.meta.url,
  'addRefusals',
  function* (db, counts: Count[]) {
    for (const count of counts) {
      yield* run(
        db
          .insertInto('refused_hours')
          .values(count)
          .onConflict((conflict) =>
            conflict.columns(['key_id', 'hour']).doUpdateSet((e) => ({
              refused: e('refused_hours.refused', '+', e.ref('excluded.refused')),
            })),
          ),
      )
    }
  },
)

/**
 * Opens the counts. @param now milliseconds since 1970 @param onError called when counts could not
 * be written: they are lost
 */
export function openRefusals(
  store: Store,
  now: () => number,
  onError: (error: unknown) => void,
): Refusals {
  let counts = new Map<string, Count>()
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (counts.size === 0) return
    const rows = [...counts.values()]
    counts = new Map()
    await store.run(addRefusals, rows).catch(onError)
  }

  return {
    note({ key_id, account_id }) {
      const hour = Math.floor(now() / HOUR) * HOUR
      const name = `${hour} ${key_id}`
      const count = counts.get(name)
      if (count) count.refused++
      else counts.set(name, { key_id, account_id, hour, refused: 1 })
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref()
    },
    flush,
  }
}

/** Selects refusals. `account` null: of all accounts. */
export interface RefusalFilter {
  account: string | null
  key?: string | undefined
  keys?: readonly string[]
  /** Milliseconds since 1970; rounded to whole hours, including the first. */
  from: number
}

function refusalsOf({ reports }: Store, { account, key, keys, from }: RefusalFilter) {
  let query = reports
    .selectFrom('refused_hours')
    .where('hour', '>=', Math.floor(from / HOUR) * HOUR)
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (keys !== undefined) query = query.where('key_id', 'in', keys)
  return query
}

/** The number of these refusals. */
export async function countRefusals(store: Store, filter: RefusalFilter): Promise<number> {
  const row = await refusalsOf(store, filter)
    .select((e) => e.fn.sum<number | null>('refused').as('refused'))
    .executeTakeFirst()
  return Number(row?.refused ?? 0)
}

/** Maximum number of keys for which a report has the count of refusals. */
const MOST_KEYS = 100

/**
 * The number by key, highest first, for at most `MOST_KEYS` keys. @param least leaves out keys with
 * fewer
 */
export async function readRefusals(
  store: Store,
  filter: RefusalFilter,
  least = 1,
): Promise<Map<string, number>> {
  if (filter.keys?.length === 0) return new Map()
  const rows = await refusalsOf(store, filter)
    .select((e) => ['key_id', e.fn.sum<number>('refused').as('refused')])
    .groupBy('key_id')
    .having((e) => e.fn.sum<number>('refused'), '>=', least)
    .orderBy('refused', 'desc')
    .limit(MOST_KEYS)
    .execute()
  return new Map(rows.map(({ key_id, refused }) => [key_id, Number(refused)]))
}
