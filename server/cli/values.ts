// The options that were given, read by name.
import { duration, integer } from '../config/setting-kinds.ts'
import { Misuse } from './failure.ts'

/** What a date looks like; whether the day exists is for the API to say. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** What a command gets of its options. */
export class OptionValues {
  readonly #given: Readonly<Record<string, unknown>>

  /** @param given by attribute, as commander names them: `readOnly` */
  constructor(given: Readonly<Record<string, unknown>>) {
    this.#given = given
  }

  /** The text behind `--name`; undefined where it was not given. */
  text(name: string): string | undefined {
    const value = this.#given[attributeName(name)]
    return typeof value === 'string' ? value : undefined
  }

  /** Whether `--name` was given. */
  flag(name: string): boolean {
    return this.#given[attributeName(name)] === true
  }

  /** Entries with commas between them. */
  list(name: string): string[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((entry) => entry.trim())
  }

  /** @throws Misuse where it is not a whole number from `least` to `most` */
  number(name: string, min: number, max: number): number | undefined {
    const text = this.text(name)
    const kind = integer(min, max)
    const number = text === undefined ? undefined : kind.parse(text)
    if (text !== undefined && number === undefined)
      throw new Misuse(`--${name} must be ${kind.what}.`)
    return number
  }

  /** A length of time, in seconds. @throws Misuse */
  seconds(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : duration.parse(text)
    if (milliseconds === undefined)
      throw new Misuse(`--${name} must be seconds, or ${duration.what}.`)
    return Math.round(milliseconds / 1000)
  }

  /**
   * A moment as the API takes it: a day, a moment with its zone, or a length of time.
   *
   * @param from what a length of time is added to (1) or taken from (-1): now, in milliseconds
   * @throws Misuse
   */
  moment(name: string, from: number, direction: 1 | -1): string | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const milliseconds = /[a-z]$/i.test(text) ? duration.parse(text) : undefined
    if (milliseconds !== undefined) return new Date(from + direction * milliseconds).toISOString()
    if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return text
    throw new Misuse(
      `--${name}: "${text}" is not a date. Write 2027-01-31, 2027-01-31T12:00:00Z or 30d.`,
    )
  }
}

/** `--read-only` is `readOnly`. */
function attributeName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
