// An account's usage in the last hour, day, week or month, over time, by key and by model: one
// request for a whole page. The last hour is read from the ledger itself, minute by minute; longer
// periods from the roll-ups.
import { DAY, HOUR, MINUTE } from '../../common/clock.ts'
import { eachToken, type Tokens } from '../../common/token-kinds.ts'
import type { Store } from '../../store/store.ts'
import { procedure, type Steps } from '../../store/procedure.ts'
import { sorted } from './sorting.ts'
import { sumUp, type SumLine } from '../rollups/summing.ts'
import { busiestKeys } from './top-usage.ts'

/**
 * TABLE of ranges: the length of a step in milliseconds, and the number of steps, including the
 * current one.
 */
export const RANGES = {
  hour: { step: MINUTE, steps: 60 },
  day: { step: HOUR, steps: 24 },
  week: { step: DAY, steps: 7 },
  month: { step: DAY, steps: 30 },
} as const

/** How far back an overview goes. */
export type Range = keyof typeof RANGES

/**
 * Sums over finished requests. Tokens are null if no provider reported a number; times are means in
 * milliseconds over those with a response.
 */
export interface Measures extends Tokens {
  requests: number
  errors: number
  aborted: number
  first_byte_ms: number | null
  total_ms: number | null
}

/** Totals, a series and the most used keys and models of a range. */
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

/** Maximum number of rows of `keys` and `models`. */
const MOST = 20

/** `account` null: all accounts. */
export interface OverviewQuestion {
  account: string | null
  range: Range
  key?: string | undefined
  model?: string | undefined
}

/** See `readOverview`. */
export const overview = procedure(
  import.meta.url,
  'overview',
  function* (db, { range, now, ...filter }: OverviewQuestion & { now: number }): Steps<Overview> {
    const { step, steps } = RANGES[range]
    const to = (Math.floor(now / step) + 1) * step
    const from = to - steps * step
    const [times = [], models = []] = yield* sumUp(db, { ...filter, from, to }, step, [
      { by: [], step },
      { by: ['provider', 'model'] },
    ])
    const keys = yield* busiestKeys(db, { ...filter, from, to }, step, MOST)
    const topKeys = yield* most(keys, ({ key_id = '' }) => key_id)
    const topModels = yield* most(models, ({ model = '' }) => model)
    const byTime = new Map(times.map((line) => [line.time, measure([line])]))
    const nothing = measure([])
    return {
      from,
      to,
      totals: measure(times),
      series: Array.from({ length: steps }, (_, i) => ({
        at: from + i * step,
        ...(byTime.get(from + i * step) ?? nothing),
      })),
      keys: topKeys.map((line) => ({ key_id: line.key_id ?? '', ...measure([line]) })),
      models: topModels.map((line) => ({
        provider: line.provider ?? '',
        model: line.model || null,
        ...measure([line]),
      })),
    }
  },
)

/** Reads an overview of the range that ends with the current step. */
export function readOverview(
  store: Store,
  question: OverviewQuestion,
  now: number,
): Promise<Overview> {
  return store.read(overview, { ...question, now })
}

/** The lines with the most requests. */
function* most(
  lines: readonly SumLine[],
  nameOf: (line: SumLine) => string,
  limit = MOST,
): Steps<SumLine[]> {
  const ranked = yield* sorted(
    lines,
    (a, b) => (b.requests ?? 0) - (a.requests ?? 0) || (nameOf(a) < nameOf(b) ? -1 : 1),
  )
  return ranked.slice(0, limit)
}

function measure(lines: readonly SumLine[]): Measures {
  const sum = (name: Exclude<keyof SumLine, 'time' | 'key_id' | 'provider' | 'model' | 'latest'>) =>
    lines.reduce<number | null>(
      (all, line) => (line[name] === null ? all : (all ?? 0) + line[name]),
      null,
    )
  const answered = sum('answered')
  const mean = (name: 'first_byte_ms' | 'total_ms') =>
    answered ? Math.round((sum(name) ?? 0) / answered) : null
  return {
    requests: sum('requests') ?? 0,
    errors: sum('errors') ?? 0,
    aborted: sum('aborted') ?? 0,
    ...eachToken(sum),
    first_byte_ms: mean('first_byte_ms'),
    total_ms: mean('total_ms'),
  }
}

/** A model that requests have named. */
export interface SeenModel {
  id: string
  provider: string
  requests: number
  last_used_at: number
}

/** See `modelsSeen`. */
export const models = procedure(
  import.meta.url,
  'models',
  function* (
    db,
    { account, since, limit }: { account: string | null; since: number; limit: number },
  ): Steps<SeenModel[]> {
    const [lines = []] = yield* sumUp(
      db,
      { account, from: since, to: Number.MAX_SAFE_INTEGER },
      undefined,
      [{ by: ['provider', 'model'] }],
    )
    const named = lines.filter(({ model }) => model !== '')
    const ranked = yield* most(named, ({ model = '' }) => model, limit)
    return ranked.map(({ model = '', provider = '', requests, latest }) => ({
      id: model,
      provider,
      requests: requests ?? 0,
      last_used_at: latest,
    }))
  },
)

/**
 * Models that were named since a time, most used first, at most `limit`. `account` null: in all
 * accounts.
 */
export function modelsSeen(
  store: Store,
  account: string | null,
  since: number,
  limit: number,
): Promise<SeenModel[]> {
  return store.read(models, { account, since, limit })
}
