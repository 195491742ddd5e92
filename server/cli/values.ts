// Reads the given options by name.
import { duration, integer } from '../config/setting-kinds.ts'
import { Misuse } from './failure.ts'

/** The form of a date; the API checks whether the day exists. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** The options of a command. */
export class OptionValues {
  readonly #given: Readonly<Record<string, unknown>>

  /** @param given values by commander's attribute names: `readOnly` */
  constructor(given: Readonly<Record<string, unknown>>) {
    this.#given = given
  }

  /** The value of `--name`; undefined if not given. */
  text(name: string): string | undefined {
    const value = this.#given[attributeName(name)]
    return typeof value === 'string' ? value : undefined
  }

  /** Whether `--name` was given. */
  flag(name: string): boolean {
    return this.#given[attributeName(name)] === true
  }

  /** A comma-separated list. */
  list(name: string): string[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((entry) => entry.trim())
  }

  /** @throws Misuse if it is not a whole number from `min` to `max` */
  number(name: string, min: number, max: number): number | undefined {
    const text = this.text(name)
    const kind = integer(min, max)
    const number = text === undefined ? undefined : kind.parse(text)
    if (text !== undefined && number === undefined)
      throw new Misuse(`--${name} must be ${kind.what}.`)
    return number
  }

  /** A duration in seconds. @throws Misuse */
  seconds(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : duration.parse(text)
    if (milliseconds === undefined)
      throw new Misuse(`--${name} must be seconds, or ${duration.what}.`)
    return Math.round(milliseconds / 1000)
  }

  /**
   * A timestamp for the API, from a date, a time with its zone, or a duration.
   *
   * @param from now, in milliseconds; `direction` adds a duration (1) or subtracts it (-1)
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
