// The marks of a chart: stacked bars, or lines.
import css from './chart.module.css'

/** One series of a chart: a value for each bucket. */
export interface Series {
  name: string
  /** One value for each bucket; null is unknown. */
  values: readonly (number | null)[]
  /** The total of all buckets. */
  whole: number | null
}

const COLORS = [1, 2, 3, 4, 5, 6].map((n) => `var(--series-${n})`)
/** The colour of a series, by its index. */
export const colorOf = (index: number): string => COLORS[index % COLORS.length] ?? ''

/** Series, with the positions of their values in pixels. */
export interface Marks {
  series: readonly Series[]
  x: (index: number) => number
  y: (value: number) => number
  step: number
  /** The current, incomplete bucket. */
  open: number | null
}

/** Values that add up, stacked. */
export function Bars({ series, x, y, step, open }: Marks) {
  const gap = step > 6 ? Math.min(6, step * 0.25) : 0.5
  const floors: number[] = []
  return series.map(({ values }, row) => (
    <g key={row} fill={colorOf(row)}>
      {values.map((value, index) => {
        if (value === null || value === 0) return null
        const floor = floors[index] ?? 0
        floors[index] = floor + value
        const high = y(floor) - y(floor + value)
        // Keep a nonzero bar visible.
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

/** Values that do not add up. The current bucket is dashed. */
export function Lines({ series, x, y, step, open }: Marks) {
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

/** A line with gaps at unknown values. */
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
