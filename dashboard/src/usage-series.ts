// Usage lines → what the charts show: sums of a period, and series over its buckets.
import type { UsageLine } from './api/shapes.ts'
import * as format from './format.ts'
import type { Series } from './ui/chart.tsx'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** TABLE of periods that can be looked at. */
export const PERIODS = {
  '24h': { label: '24 hours', unit: 'hour', buckets: 24, size: HOUR },
  '7d': { label: '7 days', unit: 'day', buckets: 7, size: DAY },
  '30d': { label: '30 days', unit: 'day', buckets: 30, size: DAY },
} as const

export type PeriodName = keyof typeof PERIODS
export const periodNamed = (name: string): PeriodName => (Object.hasOwn(PERIODS, name) ? (name as PeriodName) : '24h')

export interface Span {
  from: number
  to: number
  /** Starts of the buckets, milliseconds since 1970. */
  starts: number[]
  unit: 'hour' | 'day'
}

/** The last buckets of a period; the one that is running now is the last. The server counts in hours and days of UTC. */
export function spanOf(period: PeriodName, now: number): Span {
  const { unit, buckets, size } = PERIODS[period]
  const to = Math.floor(now / size) * size + size
  const from = to - buckets * size
  return { from, to, starts: Array.from({ length: buckets }, (_, index) => from + index * size), unit }
}

const hourTick = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const dayTick = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const hourName = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

export function tickOf(unit: Span['unit'], start: number): string {
  return (unit === 'hour' ? hourTick : dayTick).format(start)
}

export function bucketName(unit: Span['unit'], start: number): string {
  return unit === 'hour' ? hourName.format(start) : `${dayTick.format(start)} (UTC)`
}

export interface Sums {
  requests: number
  errors: number
  tokens: number | null
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  first_byte_ms: number | null
  total_ms: number | null
}

const plus = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b)

/** Sums over lines; latencies are means, weighed by the requests that were answered. */
export function sum(lines: readonly UsageLine[]): Sums {
  let answered = 0
  let [first, whole] = [0, 0]
  const sums: Sums = { requests: 0, errors: 0, tokens: null, tokens_in: null, tokens_out: null, tokens_cached: null, first_byte_ms: null, total_ms: null }
  for (const line of lines) {
    sums.requests += line.requests
    sums.errors += line.errors
    sums.tokens_in = plus(sums.tokens_in, line.tokens_in)
    sums.tokens_out = plus(sums.tokens_out, line.tokens_out)
    sums.tokens_cached = plus(sums.tokens_cached, line.tokens_cached)
    if (line.first_byte_ms === null || line.total_ms === null) continue
    answered += line.requests
    first += line.first_byte_ms * line.requests
    whole += line.total_ms * line.requests
  }
  sums.tokens = plus(sums.tokens_in, sums.tokens_out)
  if (answered > 0) [sums.first_byte_ms, sums.total_ms] = [first / answered, whole / answered]
  return sums
}

interface Measure {
  label: string
  kind: 'bars' | 'line'
  of: (sums: Sums) => number | null
  format: (value: number | null) => string
  /** What stands below the number. */
  note: (sums: Sums) => string
  /** Whether more of it is bad. */
  bad?: true
}

/** TABLE of what can be looked at over time. */
export const MEASURES = {
  requests: { label: 'Requests', kind: 'bars', of: (s) => s.requests, format: format.count, note: () => 'admitted' },
  tokens: { label: 'Tokens', kind: 'bars', of: (s) => s.tokens, format: format.count, note: (s) => `${format.count(s.tokens_in)} in, ${format.count(s.tokens_out)} out` },
  errors: { label: 'Errors', kind: 'bars', of: (s) => s.errors, format: format.count, note: (s) => `${format.share(s.requests === 0 ? null : s.errors / s.requests)} of requests`, bad: true },
  latency: { label: 'Time to first byte', kind: 'line', of: (s) => s.first_byte_ms, format: format.duration, note: (s) => `${format.duration(s.total_ms)} to the end, mean`, bad: true },
  cached: { label: 'Cached tokens', kind: 'line', of: cachedShare, format: format.share, note: (s) => `${format.count(s.tokens_cached)} of ${format.count(s.tokens_in)} in` },
} as const satisfies Record<string, Measure>

export type MeasureName = keyof typeof MEASURES
export const measureNamed = (name: string): MeasureName => (Object.hasOwn(MEASURES, name) ? (name as MeasureName) : 'requests')
export const measure = (name: MeasureName): Measure => MEASURES[name]

function cachedShare({ tokens_cached, tokens_in }: Sums): number | null {
  return tokens_cached === null || tokens_in === null || tokens_in === 0 ? null : Math.min(1, tokens_cached / tokens_in)
}

/** Names that a chart can tell apart; the rest is "Others". */
const MOST_SERIES = 5

/** The series of a measure: one for each name, the largest first. */
export function seriesOf(lines: readonly UsageLine[], span: Span, name: MeasureName, nameOf: (line: UsageLine) => string): Series[] {
  const groups = [...Map.groupBy(lines, nameOf)].map(([name, lines]) => ({ name, lines, size: sum(lines).requests })).sort((a, b) => b.size - a.size)
  const shown = groups.slice(0, MOST_SERIES)
  const others = groups.slice(MOST_SERIES).flatMap(({ lines }) => lines)
  if (others.length > 0) shown.push({ name: 'Others', lines: others, size: 0 })
  return shown.map(({ name: series, lines }) => {
    const byStart = Map.groupBy(lines, ({ time }) => Date.parse(time ?? ''))
    return { name: series, values: span.starts.map((start) => measure(name).of(sum(byStart.get(start) ?? []))) }
  })
}
