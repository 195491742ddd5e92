// Charts over time, as SVG, because a chart library would be larger than the rest of the page.
// Stacked bars for values that add up, lines for others.
import { useElementSize } from '@mantine/hooks'
import { useMemo, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { Bars, Lines, colorOf, type Series } from './chart-marks.tsx'
import css from './chart.module.css'

interface ChartProps {
  label: string
  /** The full label of each bucket. */
  buckets: readonly string[]
  /** The short labels below the axis. */
  ticks: readonly string[]
  series: readonly Series[]
  /** What the series consist of: only in the legend, because parts may overlap. */
  parts?: readonly Series[]
  kind: 'bars' | 'line'
  format: (value: number | null) => string
  /** Whether the last bucket is incomplete. */
  unfinished: boolean
}

const HEIGHT = 220
const LEFT = 46
const BOTTOM = 22
const TOP = 8
/** Smallest distance between two ticks in pixels. */
const TICK_STEP = 62

/**
 * A chart that works with pointer, touch and arrow keys; its legend shows the values under the
 * cursor.
 */
export function TimeChart({
  label,
  buckets: names,
  ticks,
  series,
  parts = [],
  kind,
  format,
  unfinished,
}: ChartProps) {
  const buckets = unfinished
    ? names.map((name, index) => (index === names.length - 1 ? `${name}, so far` : name))
    : names
  const Marks = kind === 'bars' ? Bars : Lines
  const open = unfinished ? buckets.length - 1 : null
  const { ref, width } = useElementSize()
  const top = useMemo(() => ceiling(series, kind), [series, kind])
  const inner = { width: Math.max(0, width - LEFT), height: HEIGHT - TOP - BOTTOM }
  const step = buckets.length === 0 ? 0 : inner.width / buckets.length
  const y = (value: number): number => TOP + inner.height * (1 - value / top)
  const x = (index: number): number => LEFT + step * index

  const cursor = useCursor(buckets.length, step)
  const { at } = cursor
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
          aria-valuetext={spoken(buckets, [...series, ...parts], format, at ?? buckets.length - 1)}
          tabIndex={0}
          {...cursor.handlers}
        >
          {/* The width is 0 until the browser has measured it: nothing has a place before. */}
          {width > 0 && (
            <>
              <Grid top={top} width={width} y={y} format={format} />
              <Ticks ticks={ticks} width={width} step={step} x={x} />
              {at !== null && (
                <rect className={css.cursor} x={x(at)} y={TOP} width={step} height={inner.height} />
              )}
              <Marks series={series} x={x} y={y} step={step} open={open} />
            </>
          )}
        </svg>
      </div>
      <Legend
        when={at === null ? (kind === 'bars' ? 'In total' : 'On average') : buckets[at]}
        at={at}
        series={series}
        parts={parts}
        summed={kind === 'bars'}
        format={format}
      />
    </figure>
  )
}

/** The bucket under the cursor, and the handlers that move it. */
function useCursor(buckets: number, step: number) {
  const [at, setAt] = useState<number | null>(null)
  const point = (event: PointerEvent<SVGSVGElement>): void => {
    const index = Math.floor(
      (event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / step,
    )
    setAt(index >= 0 && index < buckets ? index : null)
  }
  const move = (event: KeyboardEvent): void => {
    const last = buckets - 1
    const now = at ?? last
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: -2 }[
      event.key
    ]
    if (to === undefined) return
    event.preventDefault()
    setAt(to === -2 ? null : Math.min(last, Math.max(0, to)))
  }
  const leave = (): void => setAt(null)
  return {
    at,
    handlers: {
      onPointerMove: point,
      onPointerDown: point,
      onPointerLeave: leave,
      onKeyDown: move,
      onBlur: leave,
    },
  }
}

interface GridProps {
  /** The value at the top. */
  top: number
  width: number
  y: (value: number) => number
  format: (value: number | null) => string
}

/** Grid lines with their values. */
function Grid({ top, width, y, format }: GridProps) {
  const parts = isWritten(top / 2, format) ? [0, 0.5, 1] : [0, 1]
  return (
    <g data-axis="values">
      {parts.map((part) => (
        <g key={part}>
          <line className={css.grid} x1={LEFT} x2={width} y1={y(top * part)} y2={y(top * part)} />
          <text x={LEFT - 8} y={y(top * part) + 4} textAnchor="end">
            {format(top * part)}
          </text>
        </g>
      ))}
    </g>
  )
}

interface TicksProps {
  ticks: readonly string[]
  width: number
  step: number
  x: (index: number) => number
}

/**
 * As many ticks as fit, counted from the newest. One too close to the right edge to be centred is
 * right-aligned, because its width depends on the locale and font.
 */
function Ticks({ ticks, width, step, x }: TicksProps) {
  const last = ticks.length - 1
  const every = Math.max(1, Math.ceil((ticks.length * TICK_STEP) / Math.max(1, width - LEFT)))
  return (
    <g data-axis="time">
      {ticks.map((tick, index) => {
        if ((last - index) % every !== 0) return null
        const middle = x(index) + step / 2
        const atEdge = middle > width - TICK_STEP / 2
        return (
          <text
            key={index}
            x={atEdge ? width : middle}
            y={HEIGHT - 5}
            textAnchor={atEdge ? 'end' : 'middle'}
          >
            {tick}
          </text>
        )
      })}
    </g>
  )
}

interface LegendProps {
  when: string | undefined
  /** The bucket under the cursor; null for all. */
  at: number | null
  series: readonly Series[]
  parts: readonly Series[]
  /** Whether the series add up. */
  summed: boolean
  format: (value: number | null) => string
}

function Legend({ when, at, series, parts, summed, format }: LegendProps) {
  return (
    <ul className={css.legend}>
      <li className={css.when}>{when}</li>
      {at !== null && summed && series.length > 1 && (
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
      {parts.map(({ name, values, whole }) => (
        <li key={name}>
          <span className={css.part}>{name}</span>
          <span className={css.value}>{format(at === null ? whole : (values[at] ?? null))}</span>
        </li>
      ))}
    </ul>
  )
}

function total(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** Whether the format shows the value exactly: half a request would be rounded to one. */
function isWritten(value: number, format: (value: number) => string): boolean {
  return Number.isInteger(value) || format(value) !== format(Math.ceil(value))
}

/** The top of the axis: a round number above all values. */
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
