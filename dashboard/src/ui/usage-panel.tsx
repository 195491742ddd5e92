// The figures of a period and their charts: of the account on the overview, of one key on its page.
import type { ReactNode } from 'react'
import { useFilters } from '../address.ts'
import type { Overview, UsageLine } from '../api/shapes.ts'
import { useOverview, useUsage, type Range } from '../api/usage.ts'
import { count } from '../format.ts'
import css from './usage-panel.module.css'
import {
  MEASURES,
  PERIODS,
  bucketName,
  measureNamed,
  periodNamed,
  seriesOf,
  tickOf,
  tokensByKind,
  type MeasureName,
} from '../usage-series.ts'
import { TimeChart } from './chart.tsx'
import { Card, Loaded } from './page.tsx'
import { Segments } from './segments.tsx'

/** TABLE of ways to split the chart. */
const SPLITS = [
  { value: 'none', label: 'Total' },
  { value: 'key', label: 'By key' },
  { value: 'model', label: 'By model' },
] as const

/** The selected period, from the URL. */
export function usePeriod(): [Range, (period: Range) => void] {
  const [{ period }, change] = useFilters({ period: 'day' })
  return [periodNamed(period), (period) => change({ period })]
}

/** Chooses the period that the usage panel shows. */
export function PeriodChoice() {
  const [period, change] = usePeriod()
  return (
    <Segments
      label="Period"
      value={period}
      items={Object.entries(PERIODS).map(([value, { label }]) => ({
        value: periodNamed(value),
        label,
      }))}
      onChange={change}
    />
  )
}

/** Totals, a chart and rankings of an account's or a key's usage. */
export function UsagePanel({ keyId }: { keyId?: string }) {
  const [period] = usePeriod()
  const overview = useOverview(period, keyId)
  return (
    <Card flush>
      <Loaded query={overview} rows={8}>
        {(found) => <Panel overview={found} period={found.range} keyId={keyId} />}
      </Loaded>
    </Card>
  )
}

function Panel({
  overview,
  period,
  keyId,
}: {
  overview: Overview
  period: Range
  keyId: string | undefined
}) {
  const [filters, change] = useFilters({ show: 'requests', split: 'none' })
  const show = measureNamed(filters.show)
  const { label, kind, format } = MEASURES[show]
  // One key's usage cannot be split by key.
  const splits = SPLITS.filter(({ value }) => value !== 'key' || keyId === undefined)
  const split = splits.find(({ value }) => value === filters.split)?.value ?? 'none'
  const { from, to, series } = overview
  const usage = useUsage(
    { by: `${PERIODS[period].step},${split}`, from, to, key: keyId },
    split !== 'none',
  )
  const nameOf = ({ key_id, key_name, model }: UsageLine): string => {
    if (split === 'key') return key_name ?? key_id ?? 'Unknown'
    return split === 'model' ? (model ?? 'No model named') : label
  }
  const times = series.map(({ time }) => time)
  const chartOf = (lines: readonly UsageLine[]): ReactNode => (
    <TimeChart
      label={`${label} over time`}
      buckets={times.map((time) => bucketName(period, time))}
      ticks={times.map((time) => tickOf(period, time))}
      series={seriesOf(lines, times, show, nameOf)}
      parts={show === 'tokens' && split === 'none' ? tokensByKind(series) : []}
      kind={kind}
      unfinished
      format={format}
    />
  )
  return (
    <>
      <Tiles totals={overview.totals} show={show} onShow={(show) => change({ show })} />
      <div className={css.chart}>
        <div className={css.chartHead}>
          <Segments
            label="Split"
            value={split}
            items={splits}
            onChange={(split) => change({ split })}
          />
        </div>
        {split === 'none' ? (
          chartOf(series)
        ) : (
          <Loaded query={usage} rows={8}>
            {chartOf}
          </Loaded>
        )}
      </div>
    </>
  )
}

function Tiles({
  totals,
  show,
  onShow,
}: {
  totals: Overview['totals']
  show: MeasureName
  onShow: (name: MeasureName) => void
}) {
  return (
    <div className={css.tiles} role="group" aria-label="What the chart shows">
      {(Object.keys(MEASURES) as MeasureName[]).map((name) => {
        const { label, of, format, note } = MEASURES[name]
        return (
          <button
            key={name}
            type="button"
            className={css.tile}
            aria-pressed={name === show}
            onClick={() => onShow(name)}
          >
            <span className={css.label}>{label}</span>
            <span className={css.number}>{format(of(totals))}</span>
            <span className={css.note}>
              {name === 'requests'
                ? refusedNote(totals.refused)
                : totals.requests === 0
                  ? 'none in this period'
                  : of(totals) === null
                    ? 'unknown'
                    : note(totals)}
            </span>
          </button>
        )
      })}
    </div>
  )
}

/** Refused requests are not counted as requests. */
function refusedNote(refused: number): string {
  return refused === 0 ? 'none rate-limited' : `${count(refused)} more rate-limited`
}
