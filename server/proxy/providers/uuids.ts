// Parses UUIDs as providers' servers do. Python's `uuid.UUID` takes dashes anywhere or nowhere,
// braces and `urn:uuid:`; Rust's and Go's the same but for the dashes; PostgreSQL any dashes
// between groups; Java groups that lack their leading zeros; .NET parentheses and `{0x…,0x…}`.

const CANONICAL = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Characters around the digits, or between them. */
const MARKS = /urn:|uuid:|0x|[-_{}()[\],:]/g
const DIGITS = /^[0-9a-f]{32}$/
/** Digits of each group. */
const GROUPS = [8, 4, 4, 4, 12]
const [SHORTEST, LONGEST] = [24, 80]
const PERCENT = 0x25

/** The possible beginnings of a UUID. */
export const UUID_FIRSTS = '0123456789abcdefABCDEF{([uU-_'

/** The UUID in any of these forms, in lower case with dashes; null if the text is not one. */
export function uuidOf(text: string): string | null {
  if (text.length < SHORTEST || text.length > LONGEST) return null
  const lower = text.toLowerCase()
  if (CANONICAL.test(lower)) return lower
  const digits = lower.replaceAll(MARKS, '')
  return DIGITS.test(digits) ? grouped(digits) : withZeros(lower)
}

/** Its digits without dashes, as some providers write them. */
export const withoutDashes = (uuid: string): string => uuid.replaceAll('-', '')

function grouped(digits: string): string {
  let at = 0
  return GROUPS.map((length) => digits.slice(at, (at += length))).join('-')
}

/** Five groups that lack leading zeros, or have too many of them. */
function withZeros(text: string): string | null {
  const groups = text.split('-')
  if (groups.length !== GROUPS.length) return null
  const whole = groups.map((group, i) => group.replace(/^0+/, '').padStart(GROUPS[i] ?? 0, '0'))
  return whole.every(
    (group, i) => group.length === GROUPS[i] && /^[0-9a-f]+$/.test(group) && groups[i] !== '',
  )
    ? whole.join('-')
    : null
}

/**
 * For QuickCheck: 1 for each byte of a UUID, 2 for one after which any byte may follow: after the
 * first escape all others may be escaped.
 */
export const UUID_BYTES = {
  shortest: SHORTEST,
  bytes: Uint8Array.from({ length: 256 }, (_, byte) =>
    byte === PERCENT
      ? 2
      : /[0-9a-fA-F{}()[\],:_xXuUrRnNiIdD-]/.test(String.fromCharCode(byte))
        ? 1
        : 0,
  ),
}
