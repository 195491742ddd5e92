// What an account did in the last hour, day or month, along the time, by key and by model: one look for a whole page. The last hour is read
// from the ledger itself, minute by minute; what is longer from the roll-ups.
import { sql } from 'kysely'
import type { Store } from '../store/open.ts'
import { seqAt } from './requests.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

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
  /** Every step, also where nothing was. */
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

/** `account` null: all accounts. */
export interface OverviewQuestion {
  account: string | null
  range: Range
  key?: string | undefined
  model?: string | undefined
}

export async function readOverview(store: Store, question: OverviewQuestion, now: number): Promise<Overview> {
  const { step, steps } = RANGES[question.range]
  const to = (Math.floor(now / step) + 1) * step
  const from = to - steps * step
  const lines = await (question.range === 'hour' ? fromLedger(store, question, from, step) : fromRollUps(store, question, from, step))
  const gather = <K>(keyOf: (line: Line) => K) => new Map([...Map.groupBy(lines, keyOf)].map(([key, group]) => [key, measure(group)]))
  const byTime = gather(({ at }) => at)
  const nothing = measure([])
  return {
    from,
    to,
    totals: measure(lines),
    series: Array.from({ length: steps }, (_, i) => ({ at: from + i * step, ...(byTime.get(from + i * step) ?? nothing) })),
    keys: mostUsed([...gather(({ key_id }) => key_id)].map(([key_id, sums]) => ({ key_id, ...sums }))),
    models: mostUsed(
      [...gather(({ provider, model }) => `${provider} ${model ?? ''}`)].map(([name, sums]) => {
        const space = name.indexOf(' ')
        return { provider: name.slice(0, space), model: name.slice(space + 1) || null, ...sums }
      }),
    ),
  }
}

function mostUsed<R extends { requests: number }>(rows: R[]): R[] {
  return rows.sort((a, b) => b.requests - a.requests).slice(0, MOST)
}

async function fromRollUps(store: Store, { account, key, model }: OverviewQuestion, from: number, step: number): Promise<Line[]> {
  let query = store.reports
    .selectFrom('usage_hours')
    .select((e) => [e('hour', '-', e('hour', '%', step)).as('at'), 'key_id', 'provider', 'model', ...SUMMED.map((name) => e.fn.sum<number | null>(name).as(name))])
    .where('hour', '>=', from)
    .groupBy(['at', 'key_id', 'provider', 'model'])
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  return query.execute()
}

async function fromLedger(store: Store, { account, key, model }: OverviewQuestion, from: number, step: number): Promise<Line[]> {
  let query = store.reports
    .selectFrom('requests')
    .select((e) => [
      e('created_at', '-', e('created_at', '%', step)).as('at'),
      'key_id',
      'provider',
      'model',
      e.fn.countAll<number>().as('requests'),
      // As the roll-ups count them (rows.ts).
      sql<number>`sum(case when state = 'settled' and (status is null or status >= 400) then 1 else 0 end)`.as('errors'),
      sql<number>`sum(case when state = 'aborted' then 1 else 0 end)`.as('aborted'),
      e.fn.sum<number | null>('tokens_in').as('tokens_in'),
      e.fn.sum<number | null>('tokens_out').as('tokens_out'),
      e.fn.sum<number | null>('tokens_cached').as('tokens_cached'),
      e.fn.sum<number | null>('tokens_reasoning').as('tokens_reasoning'),
      e.fn.count<number>('first_byte_ms').as('answered'),
      e.fn.sum<number | null>('first_byte_ms').as('first_byte_ms'),
      sql<number | null>`sum(case when first_byte_ms is not null then total_ms end)`.as('total_ms'),
    ])
    .where('seq', '>=', await seqAt(store, from))
    .where('created_at', '>=', from)
    .where('state', '<>', 'reserved')
    .groupBy(['at', 'key_id', 'provider', 'model'])
  if (account !== null) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  return query.execute()
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
  let query = store.reports
    .selectFrom('usage_hours')
    .select((e) => ['model as id', 'provider', e.fn.sum<number>('requests').as('requests'), e.fn.max('hour').as('last_used_at')])
    .where('hour', '>=', since)
    .where('model', '<>', '')
    .groupBy(['model', 'provider'])
    .orderBy('requests', 'desc')
    .limit(limit)
  if (account !== null) query = query.where('account_id', '=', account)
  return query.execute()
}
