// What an account did in the last hour, day or month, along the time, by key and by model: one look for a whole page. The last hour is read
// from the ledger itself, minute by minute; what is longer from the roll-ups.
import { sql, type SelectQueryBuilder } from 'kysely'
import { DAY, HOUR, MINUTE } from '../clock.ts'
import type { Store } from '../store/open.ts'
import type { Database } from '../store/schema.ts'
import { rollUps } from './days.ts'
import { RESERVED_STATE } from './rows.ts'
import { seqAt } from './requests.ts'

/** TABLE of what can be looked back on: the length of a step in milliseconds, and how many there are, the present one included. */
export const RANGES = {
  hour: { step: MINUTE, steps: 60 },
  day: { step: HOUR, steps: 24 },
  month: { step: DAY, steps: 30 },
} as const

export type Range = keyof typeof RANGES

/** Sums over requests that are over. Tokens are null where no provider said a number; times are means in milliseconds over the answered ones. */
export interface Measures {
  requests: number
  errors: number
  aborted: number
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
  first_byte_ms: number | null
  total_ms: number | null
}

export interface Overview {
  /** When the first step begins, and when the last one ends (milliseconds since 1970). */
  from: number
  to: number
  totals: Measures
  /** Every step, including those without requests. */
  series: (Measures & { at: number })[]
  /** Most requests first. */
  keys: (Measures & { key_id: string })[]
  models: (Measures & { provider: string; model: string | null })[]
}

/** Rows of `keys` and `models` at most. */
const MOST = 20

const SUMMED = ['requests', 'errors', 'aborted', 'tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning', 'answered', 'first_byte_ms', 'total_ms'] as const
type Sums = Record<(typeof SUMMED)[number], number | null>
type Line = Sums & { at: number; key_id: string; provider: string; model: string | null }
/** The rows that are summed, wherever they come from. */
type Lines = SelectQueryBuilder<Database & { lines: Line }, 'lines', object>

/** `account` null: all accounts. */
export interface OverviewQuestion {
  account: string | null
  range: Range
  key?: string | undefined
  model?: string | undefined
}

/** Reads an overview of the range that ends with the present step. */
export async function readOverview(store: Store, question: OverviewQuestion, now: number): Promise<Overview> {
  const { range, ...filter } = question
  const { step, steps } = RANGES[range]
  const to = (Math.floor(now / step) + 1) * step
  const from = to - steps * step
  const lines = range === 'hour' ? await ledgerLines(store, filter, from) : ((await rollUps(store, { ...filter, from, to, hourly: range === 'day' })) as unknown as Lines) // more columns
  const sums = lines.select((e) => SUMMED.map((name) => e.fn.sum<number | null>(name).as(name)))
  const [times, keys, models] = await Promise.all([
    sums.select((e) => e('at', '-', e('at', '%', step)).as('time')).groupBy('time').execute(),
    sums.select('key_id').groupBy('key_id').orderBy('requests', 'desc').orderBy('key_id').limit(MOST).execute(),
    sums.select(['provider', 'model']).groupBy(['provider', 'model']).orderBy('requests', 'desc').orderBy('model').limit(MOST).execute(),
  ])
  const byTime = new Map(times.map((line) => [Number(line.time), measure([line])]))
  const nothing = measure([])
  return {
    from,
    to,
    totals: measure(times),
    series: Array.from({ length: steps }, (_, i) => ({ at: from + i * step, ...(byTime.get(from + i * step) ?? nothing) })),
    keys: keys.map((line) => ({ key_id: line.key_id, ...measure([line]) })),
    models: models.map((line) => ({ provider: line.provider, model: line.model || null, ...measure([line]) })),
  }
}

/** The requests of the ledger from a moment on, each as a line of a roll-up. */
async function ledgerLines(store: Store, { account, key, model }: Omit<OverviewQuestion, 'range'>, from: number): Promise<Lines> {
  let query = store.reports
    .selectFrom('requests')
    .select([
      'created_at as at',
      'key_id',
      'provider',
      'model',
      // As the roll-ups count them (sums.ts).
      sql<number>`1`.as('requests'),
      sql<number>`case when state = 'settled' and (status is null or status >= 400 or error is not null) then 1 else 0 end`.as('errors'),
      sql<number>`case when state = 'aborted' then 1 else 0 end`.as('aborted'),
      'tokens_in',
      'tokens_out',
      'tokens_cached',
      'tokens_reasoning',
      sql<number>`case when first_byte_ms is not null and total_ms is not null then 1 else 0 end`.as('answered'),
      sql<number>`case when total_ms is not null then first_byte_ms end`.as('first_byte_ms'),
      sql<number>`case when first_byte_ms is not null then total_ms end`.as('total_ms'),
    ])
    .where('seq', '>=', await seqAt(store, from))
    .where('created_at', '>=', from)
    .where('state', '<>', RESERVED_STATE)
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  return store.reports.selectFrom(query.as('lines'))
}

function measure(lines: readonly Sums[]): Measures {
  const sum = (name: keyof Sums) => lines.reduce<number | null>((all, line) => (line[name] === null ? all : (all ?? 0) + Number(line[name])), null)
  const answered = sum('answered')
  const mean = (name: 'first_byte_ms' | 'total_ms') => (answered ? Math.round((sum(name) ?? 0) / answered) : null)
  return {
    requests: sum('requests') ?? 0, errors: sum('errors') ?? 0, aborted: sum('aborted') ?? 0, tokens_in: sum('tokens_in'), tokens_out: sum('tokens_out'),
    tokens_cached: sum('tokens_cached'), tokens_reasoning: sum('tokens_reasoning'), first_byte_ms: mean('first_byte_ms'), total_ms: mean('total_ms'),
  }
}

/** A model that requests have named. */
export interface SeenModel {
  id: string
  provider: string
  requests: number
  last_used_at: number
}

/** Models that were named since a moment, most used first, at most `limit`. `account` null: in all accounts. */
export async function modelsSeen(store: Store, account: string | null, since: number, limit: number): Promise<SeenModel[]> {
  const lines = await rollUps(store, { account, from: since, to: Number.MAX_SAFE_INTEGER })
  return lines
    .select((e) => ['model as id', 'provider', e.fn.sum<number>('requests').as('requests'), e.fn.max('at').as('last_used_at')])
    .where('model', '<>', '')
    .groupBy(['model', 'provider'])
    .orderBy('requests', 'desc')
    .limit(limit)
    .execute()
}
