// The kinds of values that a setting can have. Each kind describes in words what it accepts, so
// that every rejected value gets a sentence.

/** Parses the text of an environment variable. */
export interface Kind<T> {
  /** Completes "… must be …": `a whole number from 1 to 10`. */
  readonly what: string
  /** The value, or `undefined` if the text is not of this kind. */
  readonly parse: (text: string) => T | undefined
}

/** One row of a table of settings. */
export interface Setting<T> {
  /** Name of the environment variable. */
  readonly name: string
  readonly kind: Kind<unknown>
  /** The default, as written in the environment; `null` if there is none. */
  readonly default: string | null
  /** One sentence for `.env.example` and the documentation. */
  readonly sentence: string
  /** A secret's value is never repeated, not even in the error that rejects it. */
  readonly secret: boolean
  /** A type only: what `kind` parses to, or `null` if there is no default. */
  readonly value?: T
}

/**
 * One row: the variable's name, its kind, its default as written in the environment (or null), and
 * a sentence.
 *
 * @example setting('PORT', integer(0, 65_535), '8484', 'The port to listen on; 0 takes any free
 *   one.')
 */
export function setting<T>(
  name: string,
  kind: Kind<T>,
  defaultText: string,
  sentence: string,
  options?: { secret?: true },
): Setting<T>
export function setting<T>(
  name: string,
  kind: Kind<T>,
  defaultText: null,
  sentence: string,
  options?: { secret?: true },
): Setting<T | null>
export function setting<T>(
  name: string,
  kind: Kind<T>,
  defaultText: string | null,
  sentence: string,
  options?: { secret?: true },
): Setting<T | null> {
  return { name, kind, default: defaultText, sentence, secret: options?.secret ?? false }
}

/** Any text that is not empty. */
export const text: Kind<string> = { what: 'text', parse: (value) => value }

/** A host's name or address, in lower case. */
export const host: Kind<string> = { what: text.what, parse: (value) => value.toLowerCase() }

/** A provider's credential must be usable in a header. */
export const CREDENTIAL = /^[!-~]{1,8192}$/

/** A provider's credential. */
export const credential: Kind<string> = {
  what: 'printable ASCII without spaces',
  parse: (value) => (CREDENTIAL.test(value) ? value : undefined),
}

/** The characters of one label of a host name. */
export const HOST_PART = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** One label of a host name. */
export const hostPart: Kind<string> = {
  what: 'one part of a host name',
  parse: (value) => (HOST_PART.test(value.toLowerCase()) ? value : undefined),
}

/** A whole number in decimal digits, from `min` to `max` inclusive. */
export function integer(min: number, max: number): Kind<number> {
  return {
    what: `a whole number from ${min} to ${max}`,
    parse: (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : undefined
    },
  }
}

/** A fraction, from 0 to 1. */
export const share: Kind<number> = {
  what: 'a number from 0 to 1',
  parse: (value) =>
    /^(?:0|1|[01]?\.\d{1,9})$/.test(value) && Number(value) <= 1 ? Number(value) : undefined,
}

/**
 * A size in bytes: `1048576`, `512KB`, `10MB`, `1GB`, in powers of 1,024 (so that 1 MB is 1,048,576
 * bytes).
 */
export const bytes: Kind<number> = {
  what: 'a size such as 512KB, 10MB or 1GB (1 MB is 1,048,576 bytes)',
  parse: (value) => scaled(value, { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }),
}

/** A size of at least `min` megabytes. */
export function bytesFrom(min: number): Kind<number> {
  return atLeast(
    bytes,
    min * 1024 ** 2,
    `a size of ${min}MB or more, such as 512MB or 1GB (1 MB is 1,048,576 bytes)`,
  )
}

const DAY_MS = 86_400_000
/** A hundred years: added to a timestamp, it still gives a valid one. */
const MAX_DURATION_MS = 36_500 * DAY_MS

/** A length of time in milliseconds: `250ms`, `30s`, `5m`, `24h`, `30d`. */
export const duration: Kind<number> = {
  what: 'a length of time such as 250ms, 30s, 5m, 24h or 30d',
  parse: (value) => {
    const milliseconds = scaled(value, { MS: 1, S: 1000, M: 60_000, H: 3_600_000, D: DAY_MS })
    return milliseconds === undefined ? undefined : Math.min(milliseconds, MAX_DURATION_MS)
  },
}

/** A length of time of at least a day. */
export const days: Kind<number> = atLeast(
  duration,
  DAY_MS,
  'a length of time of a day or more, such as 24h or 90d',
)

/** Numbers of a kind, at least `min`; `what` describes both. */
function atLeast(kind: Kind<number>, min: number, what: string): Kind<number> {
  return {
    what,
    parse: (value) => {
      const number = kind.parse(value)
      return number === undefined || number < min ? undefined : number
    },
  }
}

/** The longest delay of Node's timers; a longer one would fire immediately. */
const MAX_WAIT_MS = 2 ** 31 - 1

/** A length of time for a timer, at most 24 days. */
export const wait: Kind<number> = {
  what: duration.what,
  parse: (value) => {
    const milliseconds = duration.parse(value)
    return milliseconds === undefined ? undefined : Math.min(milliseconds, MAX_WAIT_MS)
  },
}

/** A timeout, which cannot be 0. */
export const timeout: Kind<number> = atLeast(
  wait,
  1,
  'a length of time above 0, such as 250ms, 30s or 15m',
)

function scaled(value: string, units: Record<string, number>): number | undefined {
  const [, digits, unit] = /^(\d{1,12})\s*([a-z]*)$/i.exec(value) ?? []
  const factor = units[(unit ?? '').toUpperCase()]
  const number = Number(digits) * (factor ?? Number.NaN)
  return Number.isSafeInteger(number) ? number : undefined
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** `true` or `false`, `1` or `0`. */
export const flag: Kind<boolean> = {
  what: 'true or false',
  parse: (value) => FLAGS.get(value.toLowerCase()),
}

/** One of a list of words. */
export function choice<const W extends string>(...words: W[]): Kind<W> {
  return {
    what: words.map((word) => `"${word}"`).join(' or '),
    parse: (value) => words.find((word) => word === value),
  }
}

/** An absolute URL with one of the schemes, such as `https:`. */
export function url(...schemes: string[]): Kind<URL> {
  return {
    what: `an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    parse: (value) => {
      const address = URL.canParse(value) ? new URL(value) : undefined
      return address && schemes.includes(address.protocol) ? address : undefined
    },
  }
}

/** Origins of web pages as browsers send them (RFC 6454), one or several; `*` for any. */
export const origins: Kind<'*' | readonly string[]> = {
  what: 'origins such as https://app.example.com, separated by commas, or *',
  parse: (value) => {
    if (value === '*') return '*'
    const names = value.split(',').map((name) => originOf(name.trim()))
    return names.every((name) => name !== undefined) ? names : undefined
  },
}

function originOf(text: string): string | undefined {
  const address = url('http:', 'https:').parse(text)
  return address !== undefined && `${address.origin}/` === address.href && /^[^*]+$/.test(text)
    ? address.origin
    : undefined
}

/** The address at which a provider is dialled. */
export const dialled: Kind<URL> = {
  what: 'an address such as http://10.0.0.7:8000/base, without a query or a password',
  parse: (value) => {
    const address = url('http:', 'https:').parse(value)
    return address && address.search + address.hash + address.username + address.password === ''
      ? address
      : undefined
  },
}

/** Header fields in OpenTelemetry's format: `name=value,…`, each value percent-encoded. */
export const headers: Kind<Readonly<Record<string, string>>> = {
  what: 'header fields such as authorization=Bearer%20abc,x-tenant=7',
  parse: (value) => {
    const read: Record<string, string> = {}
    for (const field of value.split(',').filter((part) => part.trim() !== '')) {
      const [, name, coded = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(field) ?? []
      const content = decoded(coded.trim())
      if (name === undefined || content === undefined || !/^[\t -~\x80-\xff]*$/.test(content))
        return undefined
      read[name] = content
    }
    return read
  },
}

/** Decodes a percent-encoded text; `undefined` if an escape is invalid. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** JSON that `check` accepts; `what` describes its shape in words, with an example. */
export function json<T>(what: string, check: (value: unknown) => T | undefined): Kind<T> {
  return {
    what,
    parse: (value) => {
      try {
        return check(JSON.parse(value))
      } catch {
        return undefined
      }
    },
  }
}

/** 32 bytes, as base64 (any of its alphabets, padded or not) or as 64 hexadecimal digits. */
export const key256: Kind<Buffer> = {
  what: '32 bytes in base64 or in 64 hexadecimal digits (make one with: openssl rand -base64 32)',
  parse: (value) => {
    if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex')
    return /^[\w+/-]{43}=?$/.test(value) ? Buffer.from(value, 'base64') : undefined
  },
}

/** A table of settings: field of `Config` → its row. */
export type SettingsArea = Readonly<Record<string, Setting<unknown>>>
