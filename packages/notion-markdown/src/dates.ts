// Converts dates as shown in Notion to ISO 8601, if only one reading is possible.

/** A date or a time, or a range of them; ISO 8601, without a zone if none was written. */
export interface DateValue {
  start: string
  end: string | null
}

/** TABLE of the languages whose names of months are known: those in which Notion writes dates. */
const LANGUAGES = 'en de fr es pt it nl da nb sv fi pl id tr th he ar'.split(' ')

let months: ReadonlyMap<string, number> | undefined

/** The numbers of months by their names; a name of two months in two languages is left out. */
function monthsByName(): ReadonlyMap<string, number> {
  if (months) return months
  const found = new Map<string, number>()
  for (const language of LANGUAGES)
    for (const style of language === 'en' ? (['long', 'short'] as const) : (['long'] as const))
      for (const options of [{ month: style }, { month: style, day: 'numeric' }] as const) {
        const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
        for (let month = 1; month <= 12; month++) {
          const parts = format.formatToParts(Date.UTC(2024, month - 1, 1))
          const name = parts
            .find(({ type }) => type === 'month')
            ?.value.normalize('NFKC')
            .toLowerCase()
          if (name === undefined || /\d/.test(name)) continue
          const known = found.get(name)
          found.set(name, known === undefined || known === month ? month : Number.NaN)
        }
      }
  return (months = new Map([...found].filter(([, month]) => !Number.isNaN(month))))
}

/**
 * TABLE of the forms of a day. A form with only numbers is read only if the year comes first:
 * `03/04/2024` is ambiguous.
 */
const DAYS: readonly RegExp[] = [
  /^(?<y>\d{4})-(?<m>\d{1,2})-(?<d>\d{1,2})/,
  /^(?<y>\d{4})\/(?<m>\d{1,2})\/(?<d>\d{1,2})/,
  /^(?<y>\d{4})年(?<m>\d{1,2})月(?<d>\d{1,2})日/,
  /^(?<y>\d{4})년 (?<m>\d{1,2})월 (?<d>\d{1,2})일/,
  /^(?<d>\d{1,2}) tháng (?<m>\d{1,2}),? (?:năm )?(?<y>\d{4})/,
  /^(?<name>[\p{L}\p{M}]+)\.? (?<d>\d{1,2}),? (?<y>\d{4})/u,
  /^(?<d>\d{1,2})\.?(?:er|º)?(?: de)? ב?(?<name>[\p{L}\p{M}]+)\.?(?: de)? (?<y>\d{4})/u,
]

/** TABLE of words for AM and PM before the time, and whether they mean PM. */
const HALVES: ReadonlyMap<string, 'A' | 'P'> = new Map([
  ['오전', 'A'],
  ['오후', 'P'],
  ['上午', 'A'],
  ['下午', 'P'],
  ['午前', 'A'],
  ['午後', 'P'],
])

/** The words between a day and its time. */
const AT = /^(?:,| at| um| à| às| a las?| alle(?: ore)?| om| klo| kl\.?| pukul| בשעה| في| เวลา)? /i

/** The highest year that is read: Buddhist years are higher. */
const MAX_YEAR = 2400

/**
 * A time of day (with a point in Danish, Finnish and Indonesian), possibly with its offset from
 * UTC.
 */
const TIME =
  /^(?<before>오전|오후|上午|下午|午前|午後)? ?(?<h>\d{1,2})[:.](?<min>\d\d)(?: ?(?<half>[AP])\.? ?M\.?)?(?: ?\((?:GMT|UTC)(?:(?<sign>[+−-])(?<oh>\d{1,2})(?::?(?<om>\d\d))?)?\))?$/i

/** Reads one of Notion's `<time>` elements; null if it is not a date, or is ambiguous. */
export function readDate(text: string): DateValue | null {
  const clean = text.normalize('NFKC').replace(/\s+/g, ' ').trim().replace(/^@/, '')
  const [from = '', to, ...more] = clean.split(/ ?→ ?/)
  const start = more.length === 0 ? readMoment(from) : null
  if (start === null) return null
  if (to === undefined) return { start, end: null }
  const end = readMoment(to) ?? sameDay(start, to)
  return end === null ? null : { start, end }
}

/**
 * Reads a date that the markup has in ISO 8601, if `text` is not a range; with a time only if the
 * text has one.
 */
export function readIsoDate(iso: string, text: string): DateValue | null {
  const match = ISO.exec(iso)
  if (!match || text.includes('→')) return null
  const { date = '', time } = match.groups ?? {}
  const day = readMoment(date)
  if (day === null || time === undefined) return day === null ? null : { start: day, end: null }
  return /\d[:.]\d\d/.test(text) ? { start: iso, end: null } : null
}

/** A date, or a time (RFC 3339, with optional zone and seconds). */
const ISO =
  /^(?<date>\d{4}-\d\d-\d\d)(?<time>T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/

function readMoment(text: string): string | null {
  const match = DAYS.map((form) => form.exec(text)).find((found) => found !== null)
  if (!match) return null
  const { y, m, d, name } = match.groups ?? {}
  if (Number(y) > MAX_YEAR) return null
  const month = name === undefined ? Number(m) : monthsByName().get(name.toLowerCase())
  if (month === undefined) return null
  const day = new Date(Date.UTC(Number(y), month - 1, Number(d)))
  if (day.getUTCMonth() !== month - 1 || day.getUTCDate() !== Number(d)) return null
  const date = day.toISOString().slice(0, 10)
  const rest = text.slice(match[0].length).replace(AT, '')
  if (rest === '') return date
  const time = readTime(rest)
  return time === null ? null : `${date}T${time}`
}

/** The end of a range that names only a time: on the day of its start. */
function sameDay(start: string, text: string): string | null {
  const time = start.includes('T') ? readTime(text) : null
  return time === null ? null : `${start.slice(0, 10)}T${time}`
}

const two = (value: string | number): string => String(value).padStart(2, '0')

function readTime(text: string): string | null {
  const match = TIME.exec(text)
  if (!match) return null
  const { h, min, before, sign, oh, om } = match.groups ?? {}
  const half = before === undefined ? match.groups?.['half'] : HALVES.get(before)
  let hour = Number(h)
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return null
    hour = (hour % 12) + (half.toUpperCase() === 'P' ? 12 : 0)
  }
  if (hour > 23 || Number(min) > 59 || Number(oh ?? 0) > 14 || Number(om ?? 0) > 59) return null
  const zone =
    oh === undefined
      ? /\((?:GMT|UTC)\)/i.test(text)
        ? 'Z'
        : ''
      : `${sign === '+' ? '+' : '-'}${two(oh)}:${om ?? '00'}`
  return `${two(hour)}:${min}:00${zone}`
}
