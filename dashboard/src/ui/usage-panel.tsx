// Numbers of a period, each of which can be looked at over time: on the overview for everything, on a key's page for that key.
import { useState } from 'react'
import { useKeyNames } from '../api/keys.ts'
import type { UsageLine } from '../api/shapes.ts'
import { useUsage } from '../api/usage.ts'
import { useFilters } from '../address.ts'
import css from '../pages/overview.module.css'
import { MEASURES, bucketName, measure, measureNamed, periodNamed, seriesOf, spanOf, sum, tickOf, type MeasureName, type Span } from '../usage-series.ts'
import { TimeChart } from './chart.tsx'
import { Card, Loaded } from './page.tsx'
import { Segments } from './segments.tsx'

export type Split = 'none' | 'key' | 'model'
export const SPLITS: readonly { value: Split; label: string }[] = [
  { value: 'none', label: 'Total' },
  { value: 'key', label: 'By key' },
  { value: 'model', label: 'By model' },
]

/** The period that is looked at, from the address; it stands still while the page is open and moves on with the hour. */
export function usePeriod() {
  const [{ period }, change] = useFilters({ period: '24h' })
  const [now] = useState(() => Date.now())
  const name = periodNamed(period)
  return { name, span: spanOf(name, now), change: (period: string) => change({ period }) }
}

export function UsagePanel({ span, keyId, splits }: { span: Span; keyId?: string; splits: readonly Split[] }) {
  const [filters, change] = useFilters({ show: 'requests', split: 'none' })
  const show = measureNamed(filters.show)
  const split = splits.find((name) => name === filters.split) ?? 'none'
  const names = useKeyNames()
  const usage = useUsage({ by: split === 'none' ? span.unit : `${span.unit},${split}`, from: span.from, to: span.to, key: keyId })
  const nameOf = ({ key_id, model }: UsageLine): string => {
    if (split === 'key') return names.get(key_id ?? '') ?? key_id ?? 'unknown'
    return split === 'model' ? (model ?? 'no model named') : measure(show).label
  }
  return (
    <Card flush>
      <Loaded query={usage} rows={8}>
        {(lines) => (
          <>
            <Tiles lines={lines} show={show} onShow={(show) => change({ show })} />
            <div className={css.chart}>
              <div className={css.chartHead}>
                <Segments label="Split" value={split} items={SPLITS.filter(({ value }) => splits.includes(value))} onChange={(split) => change({ split })} />
              </div>
              <TimeChart
                label={`${measure(show).label} over time`}
                buckets={span.starts.map((start) => bucketName(span.unit, start))}
                ticks={span.starts.map((start) => tickOf(span.unit, start))}
                series={seriesOf(lines, span, show, nameOf)}
                kind={measure(show).kind}
                format={measure(show).format}
              />
            </div>
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Tiles({ lines, show, onShow }: { lines: readonly UsageLine[]; show: MeasureName; onShow: (name: MeasureName) => void }) {
  const sums = sum(lines)
  return (
    <div className={css.tiles} role="group" aria-label="What the chart shows">
      {(Object.keys(MEASURES) as MeasureName[]).map((name) => {
        const { label, of, format, note } = measure(name)
        return (
          <button key={name} type="button" className={css.tile} aria-pressed={name === show} onClick={() => onShow(name)}>
            <span className={css.label}>{label}</span>
            <span className={css.number}>{format(of(sums))}</span>
            <span className={css.note}>{note(sums)}</span>
          </button>
        )
      })}
    </div>
  )
}
