// What an account did in the last hour, day or month, along the time, by key and by model: one look for a whole page. The last hour is read
// from the ledger itself, minute by minute; what is longer from the roll-ups.
import { DAY, HOUR, MINUTE } from '../clock.ts'
import type { Store } from '../store/open.ts'
import { rollUps } from './days.ts'
import { minuteLines } from './minutes.ts'

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
  const lines = await (range === 'hour' ? minuteLines(store, { ...filter, from, to }) : rollUps(store, { ...filter, from, to, hourly: range === 'day' }))
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
