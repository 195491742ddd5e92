// Header fields on the wire (RFC 9112, section 5), for requests and responses.

/** A raw header list: name, value, name, value, … (latin1, in wire order and case). */
export type RawHeaders = string[]

/** The end of a head. */
export const HEAD_END = Buffer.from('\r\n\r\n')
/** An empty buffer, shared. */
export const NO_BYTES = Buffer.alloc(0)

const [CR, LF, COLON, ZERO] = [13, 10, 58, 48]
/** Every number with this many digits is exact. */
const MAX_DIGITS = 15

/**
 * Where a character is allowed, as two bits: 1 in a field name (RFC 9110 token), 2 in a field value
 * or reason.
 */
const CHARACTERS = new Uint8Array(256)
for (let code = 0; code < 256; code++) {
  const isInValue = code === 9 || (code >= 32 && code !== 127)
  const isInName = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code))
  CHARACTERS[code] = (isInValue ? 2 : 0) | (isInName ? 1 : 0)
}

/** Whether a token may contain this byte (RFC 9110, section 5.6.2). */
export const isTokenByte = (code: number): boolean => ((CHARACTERS[code] ?? 0) & 1) !== 0

/**
 * The fields of a head, from `at` to the end of the text: lines of `name: value` with CRLF between
 * them. One pass over the characters, because this runs twice for every request. Null if a line is
 * invalid: folded lines, bare CR or LF, and other control characters.
 */
export function parseFields(text: string, at: number): RawHeaders | null {
  const headers: RawHeaders = []
  while (at < text.length) {
    const from = at
    while (at < text.length && ((CHARACTERS[text.charCodeAt(at)] ?? 0) & 1) !== 0) at++
    if (at === from || text.charCodeAt(at) !== COLON) return null
    const name = text.slice(from, at)
    const value = at + 1
    at = endOfLine(text, value)
    if (at < 0) return null
    headers.push(name, trimBlanks(text, value, at))
    at += 2
  }
  return headers
}

/**
 * The end of the line that starts at `at`: its CRLF or the end of the text; -1 if another control
 * character comes first.
 */
export function endOfLine(text: string, at: number): number {
  while (at < text.length && ((CHARACTERS[text.charCodeAt(at)] ?? 0) & 2) !== 0) at++
  return at < text.length && (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF)
    ? -1
    : at
}

/**
 * Whether a line ends with LF alone, in which case a head or trailers would never end. @param from
 * bytes before it have been checked
 */
export function hasBareLineFeed(bytes: Buffer, from = 0): boolean {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1))
    if (bytes[at - 1] !== CR) return true
  return false
}

/** Parses a number of 1 to 15 digits; null for any other text. */
export function digits(text: string, from = 0, to = text.length): number | null {
  if (to === from || to - from > MAX_DIGITS) return null
  let number = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return null
    number = number * 10 + digit
  }
  return number
}

/**
 * The name of the field at the even index `i` of a raw list, which holds names and values in turn.
 */
export const nameAt = (headers: readonly string[], i: number): string => headers[i] ?? ''
/** The value of the field at the even index `i` of a raw list. */
export const valueAt = (headers: readonly string[], i: number): string => headers[i + 1] ?? ''

/** The first value of a field (name in lower case), or undefined. */
export function valueOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    const found = nameAt(headers, i)
    // Most names already differ in length.
    if (found.length === name.length && (found === name || found.toLowerCase() === name))
      return headers[i + 1]
  }
  return undefined
}

/**
 * The value of a field that may occur once (name in lower case): undefined if it is missing, null
 * if it occurs twice.
 */
export function onlyValueOf(headers: readonly string[], name: string): string | null | undefined {
  let value: string | undefined
  for (let i = 0; i < headers.length; i += 2) {
    const found = nameAt(headers, i)
    if (found.length !== name.length || (found !== name && found.toLowerCase() !== name)) continue
    if (value !== undefined) return null
    value = headers[i + 1]
  }
  return value
}

/** All values of a field (name in lower case). */
export function valuesOf(headers: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const found = nameAt(headers, i)
    if (found.length === name.length && found.toLowerCase() === name)
      values.push(valueAt(headers, i))
  }
  return values
}

/** The list without the given fields (names in lower case). */
export function without(headers: readonly string[], ...names: readonly string[]): RawHeaders {
  const kept: RawHeaders = []
  for (let i = 0; i < headers.length; i += 2)
    if (!names.includes(nameAt(headers, i).toLowerCase()))
      kept.push(nameAt(headers, i), valueAt(headers, i))
  return kept
}

/**
 * The list as lines, each with its CRLF. @param omitted a field that is left out (name in lower
 * case)
 */
export function fieldLines(headers: readonly string[], omitted?: string): string {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) {
    const name = nameAt(headers, i)
    if (omitted === undefined || name.length !== omitted.length || name.toLowerCase() !== omitted)
      lines += `${name}: ${headers[i + 1]}\r\n`
  }
  return lines
}

/** The text from `from` to `to`, without surrounding spaces and tabs. */
function trimBlanks(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
