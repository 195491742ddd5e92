// Formats numbers and timestamps in the browser's locale and the chosen time zone. Unknown values
// are a dash, never 0.
import { getZone } from './zone.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const relative = new Intl.RelativeTimeFormat('en', { style: 'short' })
const DECIMAL_POINT =
  new Intl.NumberFormat(undefined, { minimumFractionDigits: 1 })
    .formatToParts(0.5)
    .find(({ type }) => type === 'decimal')?.value ?? '.'

/** Replaces the decimal point with the locale's. */
const local = (text: string): string => text.replace('.', DECIMAL_POINT)

/** Shown in place of an unknown value. */
export const UNKNOWN = '–'
type Maybe = number | null | undefined

const known = (value: Maybe, write: (value: number) => string): string =>
  value === null || value === undefined ? UNKNOWN : write(value)

/** 1,234 · 12.3K · 4.5M */
export const count = (value: Maybe): string =>
  known(value, (n) => (Math.abs(n) < 10_000 ? whole.format(n) : local(compact.format(n))))
/** A count with all of its digits. */
export const fullCount = (value: Maybe): string => known(value, (n) => whole.format(n))
/** A fraction as a percentage. */
export const share = (value: Maybe): string => known(value, (n) => percent.format(n))

/** "cache write" → "Cache write". */
export const capitalized = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}`

/** "1 key", "2 keys". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** "12,480 words": counted, with all digits. */
export const fullyCounted = (value: number, one: string): string =>
  `${fullCount(value)} ${value === 1 ? one : `${one}s`}`

/** "3 of 10"; "3" without a limit. */
export const usedOf = ({
  used_today,
  conversions_per_day: most,
}: {
  used_today: number
  conversions_per_day: number | null
}): string => (most === null ? count(used_today) : `${count(used_today)} of ${count(most)}`)

/** A duration from milliseconds. Rounds before choosing the unit: 59.96 s is 1 min 0 s. */
export const duration = (value: Maybe): string =>
  known(value, (ms) => {
    if (ms < 999.5) return `${Math.round(ms)} ms`
    if (ms < 59_950) return `${local((ms / 1000).toFixed(ms < 9995 ? 2 : 1))} s`
    const seconds = Math.round(ms / 1000)
    return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  })

/** A duration in its largest whole unit: "24 hours". */
export function span(seconds: number): string {
  const [size, unit] =
    seconds % 3600 !== 0
      ? [60, 'minute']
      : seconds % 86_400 !== 0 || seconds === 86_400
        ? [3600, 'hour']
        : [86_400, 'day']
  return counted(Math.round(seconds / size), unit)
}

/** Bytes in the units that the API counts in: 1 MB = 1,048,576. */
export const bytes = (value: Maybe): string =>
  known(value, (n) => {
    if (n < 1024) return `${n} B`
    const steps = Math.min(3, Math.floor(Math.log2(n) / 10))
    const size = n / 1024 ** steps
    return `${size < 10 && !Number.isInteger(size) ? local(size.toFixed(1)) : whole.format(size)} ${['B', 'KB', 'MB', 'GB'][steps]}`
  })

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const
/** Some locales pad the hour in only some formats. Always pad 24-hour times. */
const IS_24_HOURS =
  new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 === false
const CLOCK = { hour: IS_24_HOURS ? '2-digit' : 'numeric', minute: '2-digit' } as const

/** TABLE of timestamp formats. */
const FORMS = {
  day: DAY,
  moment: { ...DAY, ...CLOCK, timeZoneName: 'short' },
  exact: { ...DAY, ...CLOCK, second: '2-digit', timeZoneName: 'short' },
  clock: CLOCK,
  hour: { weekday: 'short', day: 'numeric', month: 'short', ...CLOCK, timeZoneName: 'short' },
  dayTick: { day: 'numeric', month: 'short' },
  zone: { timeZoneName: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

const made = new Map<string, Intl.DateTimeFormat>()

/** Cached, because creating a formatter costs more than hundreds of uses. */
function formOf(form: keyof typeof FORMS, zone = getZone()): Intl.DateTimeFormat {
  const name = `${form} ${zone}`
  const found =
    made.get(name) ??
    new Intl.DateTimeFormat(
      undefined,
      zone === 'utc' ? { ...FORMS[form], timeZone: 'UTC' } : FORMS[form],
    )
  made.set(name, found)
  return found
}

const written = (form: keyof typeof FORMS, iso: string | null): string =>
  iso === null ? UNKNOWN : formOf(form).format(new Date(iso))

/** A timestamp to the minute, with its zone. */
export const dateTime = (iso: string | null): string => written('moment', iso)
/** The same to the second. */
export const exactTime = (iso: string | null): string => written('exact', iso)
/** A day in the chosen time zone. */
export const date = (iso: string | null): string => written('day', iso)
/** A time of day in the chosen time zone. */
export const clockTime = (iso: string): string => written('clock', iso)
/** Day, hour and minute, with the zone. */
export const hourOf = (iso: string): string => written('hour', iso)
/** A UTC day, whatever zone is chosen. */
export const utcDay = (iso: string): string => formOf('dayTick', 'utc').format(new Date(iso))

/** Midnight in this locale's format: "00:00", "12:00 AM". */
export const midnight = (): string => formOf('clock', 'utc').format(0)

/** The current name of the zone: "UTC", "GMT+1", "PST". */
export const zoneName = (): string =>
  formOf('zone')
    .formatToParts(new Date())
    .find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC'

/** The time of day `seconds` from now, to the nearest minute, with its zone: "5:00 PM MST". */
export function clockTimeIn(seconds: number): string {
  const minute = Math.round(Date.now() / 60_000 + seconds / 60)
  return `${clockTime(new Date(minute * 60_000).toISOString())} ${zoneName()}`
}

/**
 * The start of a day (`2027-01-31`, plus `later` days) in the chosen zone; '' if the date is
 * invalid.
 */
export function startOfDay(day: string, later = 0): string {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  if (year === undefined) return ''
  const parts = [Number(year), Number(month) - 1, Number(date) + later] as const
  const at = getZone() === 'utc' ? new Date(Date.UTC(...parts)) : new Date(...parts)
  // The constructor maps years below 100 to the 1900s.
  if (Number(year) < 100) at.setUTCFullYear(Number(year))
  return isoOf(at)
}

const two = (n: number): string => String(n).padStart(2, '0')

/** The date of a timestamp in the chosen zone; '' if the server does not support it. */
export function dayOf(moment: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(moment)) return isoOf(new Date(moment)).slice(0, 10)
  const at = new Date(moment)
  if (isoOf(at) === '') return ''
  if (getZone() === 'utc') return isoOf(at).slice(0, 10)
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** The server does not support years with a sign: before 0 or after 9999. */
function isoOf(at: Date): string {
  const iso = Number.isNaN(at.getTime()) ? '' : at.toISOString()
  return /^\d/.test(iso) ? iso : ''
}

/** Whether a timestamp is in the past. */
export const isPast = (iso: string, now = Date.now()): boolean => Date.parse(iso) <= now

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** "3 hours ago", "in 2 days". */
export function ago(iso: string | null, now = Date.now()): string {
  if (iso === null) return 'never'
  const distance = Date.parse(iso) - now
  for (const [unit, size] of UNITS)
    if (Math.abs(distance) >= size) return relative.format(Math.trunc(distance / size), unit)
  return distance > 0 ? 'in a moment' : 'just now'
}

/** The current time, ISO 8601. */
export const now = (): string => new Date().toISOString()
