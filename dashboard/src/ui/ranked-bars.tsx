// A ranking, with bars behind the names.
import { Link } from 'wouter'
import { count } from '../format.ts'
import css from './chart.module.css'

/** One bar of a ranking. */
export interface Ranked {
  name: string
  value: number
  href?: string
}

/** A ranking by usage, with bars behind the names. */
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
