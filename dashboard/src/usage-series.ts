// Usage lines → what the charts show: sums of a period, and series over its buckets.
import { TOKEN_COLUMNS, UNKNOWN_TOKENS, shownTokens } from '../../server/common/token-kinds.ts'
import type { Sums, UsageLine } from './api/shapes.ts'
import type { Range } from './api/usage.ts'
import * as format from './format.ts'
import type { Series } from './ui/chart-marks.tsx'

/** TABLE of periods and their UTC time steps. */
export const PERIODS = {
  hour: { label: 'Hour', step: 'minute' },
  day: { label: '24 hours', step: 'hour' },
  week: { label: '7 days', step: 'day' },
  month: { label: '30 days', step: 'day' },
} as const satisfies Record<Range, { label: string; step: string }>

/** The period of this name, or the default. */
export const periodNamed = (name: string): Range =>
  Object.hasOwn(PERIODS, name) ? (name as Range) : 'day'

/** The label of a bucket on the time axis. */
export const tickOf = (range: Range, time: string): string =>
  PERIODS[range].step === 'day' ? format.utcDay(time) : format.clockTime(time)
/** The full name of a bucket, for tooltips and screen readers. */
export const bucketName = (range: Range, time: string): string =>
  PERIODS[range].step === 'day' ? `${format.utcDay(time)} (UTC)` : format.hourOf(time)

const plus = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : a + b
const NOTHING: Sums = {
  requests: 0,
  errors: 0,
  ...UNKNOWN_TOKENS,
  first_byte_ms: null,
  total_ms: null,
}

/** Sums over lines; latencies are means, weighted by requests. */
function sum(lines: readonly Sums[]): Sums {
  const [only] = lines
  if (only === undefined) return NOTHING
  if (lines.length === 1) return only
  let [measured, first, whole] = [0, 0, 0]
  const sums = { ...NOTHING }
  for (const line of lines) {
    sums.requests += line.requests
    sums.errors += line.errors
    for (const column of TOKEN_COLUMNS) sums[column] = plus(sums[column], line[column])
    if (line.first_byte_ms === null || line.total_ms === null) continue
    measured += line.requests
    first += line.first_byte_ms * line.requests
    whole += line.total_ms * line.requests
  }
  return measured === 0
    ? sums
    : { ...sums, first_byte_ms: first / measured, total_ms: whole / measured }
}

interface Measure {
  label: string
  kind: 'bars' | 'line'
  of: (sums: Sums) => number | null
  format: (value: number | null) => string
  /** The note below the number. */
  note: (sums: Sums) => string
}

/** The name of a measure that a chart can show. */
export type MeasureName = 'requests' | 'tokens' | 'errors' | 'latency' | 'cached'

/** TABLE of measures that a chart can show. */
export const MEASURES: Readonly<Record<MeasureName, Measure>> = {
  requests: {
    label: 'Requests',
    kind: 'bars',
    of: (s) => s.requests,
    format: format.count,
    note: () => '',
  },
  tokens: {
    label: 'Tokens',
    kind: 'bars',
    of: (s) => plus(s.tokens_in, s.tokens_out),
    format: format.count,
    note: (s) => `${format.count(s.tokens_in)} in, ${format.count(s.tokens_out)} out`,
  },
  errors: {
    label: 'Errors',
    kind: 'bars',
    of: (s) => s.errors,
    format: format.count,
    note: (s) => `${format.share(s.requests === 0 ? null : s.errors / s.requests)} of requests`,
  },
  latency: {
    label: 'Time to first byte',
    kind: 'line',
    of: (s) => s.first_byte_ms,
    format: format.duration,
    note: (s) => `average; ${format.duration(s.total_ms)} total`,
  },
  cached: {
    label: 'Cached tokens',
    kind: 'line',
    of: cachedShare,
    format: format.share,
    note: (s) => `${format.count(s.tokens_cached)} of ${format.count(s.tokens_in)} in`,
  },
}

/** The measure of this name, or the default. */
export const measureNamed = (name: string): MeasureName =>
  Object.hasOwn(MEASURES, name) ? (name as MeasureName) : 'requests'

function cachedShare({ tokens_cached, tokens_in }: Sums): number | null {
  return tokens_cached === null || tokens_in === null || tokens_in === 0
    ? null
    : Math.min(1, tokens_cached / tokens_in)
}

/** The kinds of tokens in each bucket, for the legend of a chart of tokens. */
export function tokensByKind(lines: readonly UsageLine[]): Series[] {
  const whole = sum(lines)
  return shownTokens((column) => (whole[column] ?? 0) > 0).map(([kind, column]) => ({
    name: format.capitalized(kind),
    whole: whole[column],
    values: lines.map((line) => line[column]),
  }))
}

/**
 * The series of a measure: one for each key or model, largest first, then the server's sum of all
 * others. Two keys may have the same name.
 */
export function seriesOf(
  lines: readonly UsageLine[],
  times: readonly string[],
  name: MeasureName,
  nameOf: (line: UsageLine) => string,
): Series[] {
  const [others, top] = [
    lines.filter(({ other }) => other === true),
    lines.filter(({ other }) => other !== true),
  ]
  const shown = [...Map.groupBy(top, (line) => line.key_id ?? line.model).values()]
    .flatMap((lines) =>
      lines[0] === undefined ? [] : [{ name: nameOf(lines[0]), lines, size: sum(lines).requests }],
    )
    .sort((a, b) => b.size - a.size)
  if (others.length > 0) shown.push({ name: 'Others', lines: others, size: 0 })
  return shown.map(({ name: series, lines }) => {
    const byTime = Map.groupBy(lines, ({ time }) => Date.parse(time ?? ''))
    return {
      name: series,
      whole: MEASURES[name].of(sum(lines)),
      values: times.map((time) => MEASURES[name].of(sum(byTime.get(Date.parse(time)) ?? []))),
    }
  })
}
