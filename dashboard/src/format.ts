// How numbers and moments are written. What is not known is a dash, never 0.
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { style: 'short' })

export const UNKNOWN = '–'
type Maybe = number | null | undefined

const known = (value: Maybe, write: (value: number) => string): string => (value === null || value === undefined ? UNKNOWN : write(value))

/** 1,234 · 12.3K · 4.5M */
export const count = (value: Maybe): string => known(value, (n) => (Math.abs(n) < 10_000 ? whole.format(n) : compact.format(n)))
export const fullCount = (value: Maybe): string => known(value, (n) => whole.format(n))
export const share = (value: Maybe): string => known(value, (n) => percent.format(n))

/** "3 of 10"; "3" where there is no limit. */
export const usedOf = ({ used_today, conversions_per_day: most }: { used_today: number; conversions_per_day: number | null }): string =>
  most === null ? count(used_today) : `${count(used_today)} of ${count(most)}`

/** Milliseconds as people say them; no unit is full: 59.96 s are 1 min 0 s. */
export const duration = (value: Maybe): string =>
  known(value, (ms) => {
    if (ms < 999.5) return `${Math.round(ms)} ms`
    if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`
    const seconds = Math.round(ms / 1000)
    return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  })

/** Bytes in the units that the API counts in: 1 MB = 1,048,576. */
export const bytes = (value: Maybe): string =>
  known(value, (n) => {
    if (n < 1024) return `${n} B`
    const steps = Math.min(3, Math.floor(Math.log2(n) / 10))
    const size = n / 1024 ** steps
    return `${size < 10 ? size.toFixed(1) : whole.format(size)} ${['B', 'KB', 'MB', 'GB'][steps]}`
  })

export const dateTime = (iso: string | null): string => (iso === null ? UNKNOWN : moment.format(new Date(iso)))
export const exactTime = (iso: string | null): string => (iso === null ? UNKNOWN : exact.format(new Date(iso)))
export const date = (iso: string | null): string => (iso === null ? UNKNOWN : day.format(new Date(iso)))

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** "3 hours ago", "in 2 days". */
export function ago(iso: string | null, now = Date.now()): string {
  if (iso === null) return 'never'
  const distance = Date.parse(iso) - now
  for (const [unit, size] of UNITS) if (Math.abs(distance) >= size) return relative.format(Math.trunc(distance / size), unit)
  return distance > 0 ? 'in a moment' : 'just now'
}
