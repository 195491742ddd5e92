// The ledger as roll-ups by the minute. They are made as they are asked for: only of short and recent times, which hold few rows.
import { sql, type SelectQueryBuilder } from 'kysely'
import { MINUTE } from '../clock.ts'
import type { Store } from '../store/open.ts'
import type { Database } from '../store/schema.ts'
import type { RollUpFilter, RollUpLine } from './days.ts'
import { seqAt } from './requests.ts'
import { RESERVED_STATE } from './rows.ts'

/** The requests of a time that are over, to be summed as roll-ups are: `at` is the start of their minute. Whole minutes count, the first one too. */
export async function minuteLines(store: Store, { account, key, model, provider, from, to }: Omit<RollUpFilter, 'keys' | 'hourly'>): Promise<SelectQueryBuilder<Database & { lines: RollUpLine }, 'lines', object>> {
  const start = Math.floor(from / MINUTE) * MINUTE
  let query = store.reports
    .selectFrom('requests')
    .select((e) => [
      e('created_at', '-', e('created_at', '%', MINUTE)).as('at'),
      'key_id',
      'provider',
      e.fn.coalesce('model', sql.lit('')).as('model'),
      // As the roll-ups count them (sums.ts).
      sql<number>`1`.as('requests'),
      sql<number>`case when state = 'settled' and (status is null or status >= 400 or error is not null) then 1 else 0 end`.as('errors'),
      sql<number>`case when state = 'aborted' then 1 else 0 end`.as('aborted'),
      sql<number>`case when state = 'unknown' then 1 else 0 end`.as('unknown'),
      sql<number>`case when tokens_in is null and tokens_out is null then 1 else 0 end`.as('unmetered'),
      sql<number>`coalesce(bytes_in, 0)`.as('bytes_in'),
      sql<number>`coalesce(bytes_out, 0)`.as('bytes_out'),
      'tokens_in',
      'tokens_out',
      'tokens_cached',
      'tokens_reasoning',
      sql<number>`case when first_byte_ms is not null and total_ms is not null then 1 else 0 end`.as('answered'),
      sql<number>`case when first_byte_ms is not null and total_ms is not null then first_byte_ms else 0 end`.as('first_byte_ms'),
      sql<number>`case when first_byte_ms is not null and total_ms is not null then total_ms else 0 end`.as('total_ms'),
    ])
    .where('seq', '>=', await seqAt(store, start))
    .where('created_at', '>=', start)
    .where('created_at', '<', Math.ceil(to / MINUTE) * MINUTE)
    .where('state', '<>', RESERVED_STATE)
  if (account != null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  return store.reports.selectFrom(query.as('lines'))
}
