// A choice among a few visible options.
import { useId } from 'react'
import css from './segments.module.css'

interface SegmentsProps<V extends string> {
  label: string
  value: V
  items: readonly { value: V; label: string }[]
  onChange: (value: V) => void
}

/** A segmented control that wraps on narrow screens. */
export function Segments<V extends string>({ label, value, items, onChange }: SegmentsProps<V>) {
  const name = useId()
  return (
    <div className={css.segments} role="radiogroup" aria-label={label}>
      {items.map((item) => (
        <label key={item.value} className={css.segment}>
          <input
            type="radio"
            name={name}
            value={item.value}
            checked={item.value === value}
            onChange={() => onChange(item.value)}
          />
          <span>{item.label}</span>
        </label>
      ))}
    </div>
  )
}
