// What was used, read from the roll-ups: fast however long the ledger is.
import { DAY, HOUR, MINUTE, isoTime } from '../clock.ts'
import type { Store } from '../store/open.ts'
import { rollUps } from './days.ts'
import { entered } from './journal.ts'
import { minuteLines } from './minutes.ts'
import { SUMS } from './sums.ts'

/** Sums over requests. Tokens are null where no provider said a number: unknown is not 0. */
export interface Totals {
  requests: number
  errors: number
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
}

const NOTHING: Totals = { requests: 0, errors: 0, tokens_in: null, tokens_out: null, tokens_cached: null, tokens_reasoning: null }

/** The totals of keys, and when each was last used (milliseconds since 1970). Every key that is asked for is there. */
export async function usageOfKeys(store: Store, keys: string[]): Promise<Map<string, { totals: Totals; lastUsedAt: number | null }>> {
  const found = new Map<string, { totals: Totals; lastUsedAt: number | null }>(keys.map((key) => [key, { totals: NOTHING, lastUsedAt: null }]))
  if (keys.length === 0) return found
  await entered(store)
  const lines = await rollUps(store, { keys, from: 0, to: Number.MAX_SAFE_INTEGER })
  const sums = await lines.select((e) => ['key_id', ...TOTALS.map((name) => e.fn.sum<number | null>(name).as(name))]).groupBy('key_id').execute()
  for (const { key_id, ...totals } of sums) found.get(key_id)!.totals = { ...NOTHING, ...totals } as Totals
  for (const key of keys) {
    const last = await store.db.selectFrom('requests').select('created_at').where('key_id', '=', key).orderBy('seq', 'desc').limit(1).executeTakeFirst()
    found.get(key)!.lastUsedAt = last?.created_at ?? null
  }
  return found
}

const TOTALS = ['requests', 'errors', 'tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning'] as const

/** TABLE of steps of time, in milliseconds, the finest first. */
const STEPS = { minute: MINUTE, hour: HOUR, day: DAY } as const

/** What usage can be broken down by. */
export const DIMENSIONS = ['key', 'model', 'provider', 'minute', 'hour', 'day'] as const

export type Dimension = (typeof DIMENSIONS)[number]

/** One line of a usage report: a value for each dimension that was asked for, and the sums. */
export interface UsageLine extends Totals {
  key_id?: string
  /** Null where the request named none that we could read. */
  model?: string | null
  provider?: string
  /** Start of the minute, hour or day, UTC; of the finest of them that is asked for. */
  time?: string
  aborted: number
  unknown: number
  /** Requests whose tokens are unknown. */
  unmetered: number
  bytes_in: number
  bytes_out: number
  /** Means over the answered requests, in milliseconds; null where there were none. */
  first_byte_ms: number | null
  total_ms: number | null
}

/** What a report is about. `account` null: all accounts. Times in milliseconds since 1970, the end not included. */
export interface UsageQuestion {
  account: string | null
  by: Dimension[]
  from: number
  to: number
  key?: string | undefined
  model?: string | undefined
  provider?: string | undefined
}

/** Lines of one report at most; one more says that it has more. */
export const MOST_LINES = 50_000

/** Reads a report, ordered by time and then by the other dimensions. Whole hours count, or minutes where it is by the minute, the first one too. */
export async function readUsage(store: Store, question: UsageQuestion): Promise<UsageLine[]> {
  const { by, from, to } = question
  const [, step] = Object.entries(STEPS).find(([name]) => by.some((dimension) => dimension === name)) ?? []
  const { account, key, model, provider } = question
  const filter = { account, key, model, provider, from, to }
  const lines = await (step === MINUTE ? minuteLines(store, filter) : rollUps(store, { ...filter, hourly: step === HOUR }))
  let query = lines
    .select((e) => [
      ...SUMS.map((name) => e.fn.sum<number | null>(name).as(name)),
      ...(by.includes('key') ? ['key_id' as const] : []),
      ...(by.includes('model') ? ['model' as const] : []),
      ...(by.includes('provider') ? ['provider' as const] : []),
      ...(step === undefined ? [] : [e('at', '-', e('at', '%', step)).as('time')]),
    ])
    .limit(MOST_LINES + 1)
  if (step !== undefined) query = query.groupBy('time').orderBy('time')
  if (by.includes('key')) query = query.groupBy('key_id').orderBy('key_id')
  if (by.includes('provider')) query = query.groupBy('provider').orderBy('provider')
  if (by.includes('model')) query = query.groupBy('model').orderBy('model')
  const rows = await query.execute()
  return rows.filter(({ requests }) => requests !== null).map((row) => {
    const { answered, first_byte_ms, total_ms, time, key_id, model, provider, ...sums } = row as typeof row & { time?: number; key_id?: string; model?: string; provider?: string }
    const mean = (sum: number | null) => (answered ? Math.round((sum ?? 0) / answered) : null)
    return {
      ...(time === undefined ? {} : { time: isoTime(time) }),
      ...(key_id === undefined ? {} : { key_id }),
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model: model === '' ? null : model }),
      ...(sums as Omit<UsageLine, 'first_byte_ms' | 'total_ms'>), // sums of columns that are never null, over at least one row
      first_byte_ms: mean(first_byte_ms),
      total_ms: mean(total_ms),
    }
  })
}
