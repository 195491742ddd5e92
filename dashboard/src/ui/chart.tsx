// Charts over time, drawn as SVG: a chart library would be larger than the whole rest of the page.
// Stacked bars for what adds up, lines for what does not.
import { useElementSize } from '@mantine/hooks'
import { useMemo, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { Link } from 'wouter'
import { count } from '../format.ts'
import css from './chart.module.css'

/** One series of a chart: a value for each bucket. */
export interface Series {
  name: string
  /** One value for each bucket; null is unknown. */
  values: readonly (number | null)[]
  /** The value of all buckets together. */
  whole: number | null
}

interface ChartProps {
  label: string
  /** What each bucket is called, in full. */
  buckets: readonly string[]
  /** What stands below the axis, short. */
  ticks: readonly string[]
  series: readonly Series[]
  kind: 'bars' | 'line'
  format: (value: number | null) => string
  /** The last bucket is not over: what it holds is drawn as a beginning. */
  unfinished: boolean
}

const HEIGHT = 220
const LEFT = 46
const BOTTOM = 22
/** The widest tick, which must not be cut at the right edge. */
const TICK_WIDTH = 48
const TOP = 8
const COLORS = [1, 2, 3, 4, 5, 6].map((n) => `var(--series-${n})`)
const colorOf = (index: number): string => COLORS[index % COLORS.length] ?? ''

/**
 * A chart that is read by pointer, by touch, and by the arrow keys; the values under the cursor
 * stand in its legend.
 */
export function TimeChart({
  label,
  buckets: names,
  ticks,
  series,
  kind,
  format,
  unfinished,
}: ChartProps) {
  const buckets = unfinished
    ? names.map((name, index) => (index === names.length - 1 ? `${name}, so far` : name))
    : names
  const open = unfinished ? buckets.length - 1 : null
  const { ref, width } = useElementSize()
  const [at, setAt] = useState<number | null>(null)
  const top = useMemo(() => ceiling(series, kind), [series, kind])
  const inner = { width: Math.max(0, width - LEFT), height: HEIGHT - TOP - BOTTOM }
  const step = buckets.length === 0 ? 0 : inner.width / buckets.length
  const y = (value: number): number => TOP + inner.height * (1 - value / top)
  const x = (index: number): number => LEFT + step * index

  const point = (event: PointerEvent<SVGSVGElement>): void => {
    const index = Math.floor(
      (event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / step,
    )
    setAt(index >= 0 && index < buckets.length ? index : null)
  }
  const move = (event: KeyboardEvent): void => {
    const last = buckets.length - 1
    const now = at ?? last
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: -2 }[
      event.key
    ]
    if (to === undefined) return
    event.preventDefault()
    setAt(to === -2 ? null : Math.min(last, Math.max(0, to)))
  }

  const lastTick = ticks.length - 1
  const every = Math.max(1, Math.ceil((ticks.length * 62) / Math.max(1, inner.width)))
  return (
    <figure className={css.chart} style={{ margin: 0 }}>
      <div ref={ref}>
        <svg
          className={css.plot}
          height={HEIGHT}
          role="slider"
          aria-label={`${label}. Arrow keys move through time`}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, buckets.length - 1)}
          aria-valuenow={at ?? Math.max(0, buckets.length - 1)}
          aria-valuetext={spoken(buckets, series, format, at ?? buckets.length - 1)}
          tabIndex={0}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={() => setAt(null)}
          onKeyDown={move}
          onBlur={() => setAt(null)}
        >
          {(isWritten(top / 2, format) ? [0, 0.5, 1] : [0, 1]).map((part) => (
            <g key={part}>
              <line
                className={css.grid}
                x1={LEFT}
                x2={width}
                y1={y(top * part)}
                y2={y(top * part)}
              />
              <text x={LEFT - 8} y={y(top * part) + 4} textAnchor="end">
                {format(top * part)}
              </text>
            </g>
          ))}
          {ticks.map((tick, index) =>
            (lastTick - index) % every === 0 ? (
              <text
                key={index}
                x={Math.min(x(index) + step / 2, width - TICK_WIDTH / 2)}
                y={HEIGHT - 5}
                textAnchor="middle"
              >
                {tick}
              </text>
            ) : null,
          )}
          {at !== null && (
            <rect className={css.cursor} x={x(at)} y={TOP} width={step} height={inner.height} />
          )}
          {width > 0 &&
            (kind === 'bars' ? (
              <Bars series={series} x={x} y={y} step={step} open={open} />
            ) : (
              <Lines series={series} x={x} y={y} step={step} open={open} />
            ))}
        </svg>
      </div>
      <ul className={css.legend}>
        <li className={css.when}>
          {at === null ? (kind === 'bars' ? 'In total' : 'On average') : buckets[at]}
        </li>
        {at !== null && kind === 'bars' && series.length > 1 && (
          <li>
            <span className={css.name}>Sum</span>
            <span className={css.value}>
              {format(total(series.map(({ values }) => values[at] ?? null)))}
            </span>
          </li>
        )}
        {series.map(({ name, values, whole }, index) => (
          <li key={index}>
            <svg className={css.swatch} viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" rx="3" fill={colorOf(index)} />
            </svg>
            <span className={css.name}>{name}</span>
            <span className={css.value}>{format(at === null ? whole : (values[at] ?? null))}</span>
          </li>
        ))}
      </ul>
    </figure>
  )
}

interface Marks {
  series: readonly Series[]
  x: (index: number) => number
  y: (value: number) => number
  step: number
  /** The bucket that is not over. */
  open: number | null
}

function Bars({ series, x, y, step, open }: Marks) {
  const gap = step > 6 ? Math.min(6, step * 0.25) : 0.5
  const floors: number[] = []
  return series.map(({ values }, row) => (
    <g key={row} fill={colorOf(row)}>
      {values.map((value, index) => {
        if (value === null || value === 0) return null
        const floor = floors[index] ?? 0
        floors[index] = floor + value
        const high = y(floor) - y(floor + value)
        // A bar that is there is seen.
        const shown = Math.max(1.5, high)
        return (
          <rect
            key={index}
            className={index === open ? css.open : undefined}
            x={x(index) + gap / 2}
            y={y(floor) - shown}
            width={Math.max(1, step - gap)}
            height={shown}
            rx={Math.min(2, step / 6)}
          />
        )
      })}
    </g>
  ))
}

function Lines({ series, x, y, step, open }: Marks) {
  return series.map(({ values }, row) => (
    <g key={row} stroke={colorOf(row)} fill={colorOf(row)}>
      <path
        className={css.line}
        d={pathOf(
          open === null ? values : values.slice(0, open),
          (index) => x(index) + step / 2,
          y,
        )}
      />
      {open !== null && open > 0 && (
        <path
          className={`${css.line} ${css.dashed}`}
          d={pathOf(values.slice(open - 1), (index) => x(open - 1 + index) + step / 2, y)}
        />
      )}
      {values.map((value, index) => {
        const alone =
          value !== null &&
          (values[index - 1] ?? null) === null &&
          (values[index + 1] ?? null) === null
        return alone ? (
          <circle key={index} cx={x(index) + step / 2} cy={y(value)} r="3" stroke="none" />
        ) : null
      })}
    </g>
  ))
}

/** A line that has gaps where nothing is known. */
function pathOf(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let path = ''
  let drawing = false
  for (const [index, value] of values.entries()) {
    if (value === null) {
      drawing = false
      continue
    }
    path += `${drawing ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
    drawing = true
  }
  return path
}

function total(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** Half a request would be written as a whole one. */
function isWritten(value: number, format: (value: number) => string): boolean {
  return Number.isInteger(value) || format(value) !== format(Math.ceil(value))
}

/** The axis ends at a round number above everything. */
function ceiling(series: readonly Series[], kind: 'bars' | 'line'): number {
  const length = series[0]?.values.length ?? 0
  let most = 0
  for (let index = 0; index < length; index++) {
    const values = series.map(({ values }) => values[index] ?? 0)
    most = Math.max(
      most,
      kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values),
    )
  }
  if (most === 0) return 1
  const magnitude = 10 ** Math.floor(Math.log10(most))
  const round = [1, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * magnitude >= most) ?? 10
  return round * magnitude
}

function spoken(
  buckets: readonly string[],
  series: readonly Series[],
  format: (value: number | null) => string,
  at: number,
): string {
  return `${buckets[at] ?? 'no data'}: ${series.map(({ name, values }) => `${name} ${format(values[at] ?? null)}`).join(', ')}`
}

/** One bar of a ranking. */
export interface Ranked {
  name: string
  value: number
  href?: string
}

/** Who used most, as bars behind their names. */
export function RankedBars({ items }: { items: readonly Ranked[] }) {
  const most = Math.max(1, ...items.map(({ value }) => value))
  return (
    <ol className={css.bars}>
      {items.map(({ name, value, href }) => (
        <li key={`${name} ${href ?? ''}`} className={css.bar}>
          <svg preserveAspectRatio="none" viewBox="0 0 100 1" aria-hidden="true">
            <rect width={(value / most) * 100} height="1" />
          </svg>
          {href === undefined ? (
            <span className={css.barName} title={name}>
              {name}
            </span>
          ) : (
            <Link href={href} className={css.barName} title={name}>
              {name}
            </Link>
          )}
          <span className={css.barValue}>{count(value)}</span>
        </li>
      ))}
    </ol>
  )
}
