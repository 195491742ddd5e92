// How often keys met their limit. Refused requests are not in the ledger; they are counted by key and hour, in memory first, so that a caller
// which hammers a limit costs nothing. A killed process loses the last second of its counts.
import { HOUR } from '../clock.ts'
import { procedure, run } from '../store/procedure.ts'
import type { Store } from '../store/open.ts'

/** How long counts wait for company. */
const FLUSH_MS = 1_000

type Count = { key_id: string; account_id: string; hour: number; refused: number }

export interface Refusals {
  /** Counts one. */
  note(key: { key_id: string; account_id: string }): void
  /** Resolves when all that was counted is written, or could not be. */
  flush(): Promise<void>
}

/** Adds counts to those of their hours. */
export const addRefusals = procedure(import.meta.url, 'addRefusals', function* (db, counts: Count[]) {
  for (const count of counts) {
    yield* run(
      db
        .insertInto('refused_hours')
        .values(count)
        .onConflict((conflict) => conflict.columns(['key_id', 'hour']).doUpdateSet((e) => ({ refused: e('refused_hours.refused', '+', e.ref('excluded.refused')) }))),
    )
  }
})

/** Opens the counting. @param now milliseconds since 1970 @param onError told when counts could not be written: they are lost */
export function openRefusals(store: Store, now: () => number, onError: (error: unknown) => void): Refusals {
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

/** Refusals of keys within a time, by key. `account` null: of all accounts. */
export async function readRefusals(store: Store, { account, key, from }: { account: string | null; key?: string | undefined; from: number }): Promise<Map<string, number>> {
  let query = store.reports
    .selectFrom('refused_hours')
    .select((e) => ['key_id', e.fn.sum<number>('refused').as('refused')])
    .where('hour', '>=', Math.floor(from / HOUR) * HOUR)
    .groupBy('key_id')
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  return new Map((await query.execute()).map(({ key_id, refused }) => [key_id, Number(refused)]))
}
