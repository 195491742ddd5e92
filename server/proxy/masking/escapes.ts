// Reads the spellings of one character in an error: literal, or escaped as in JSON (RFC 8259), URLs
// (RFC 3986), HTML or source code, also repeatedly.

/** The bytes end within an escape. */
export const CUT = -1

const [PERCENT, AMPERSAND, BACKSLASH, HASH, SEMICOLON, SMALL_U, SMALL_X] = [
  0x25, 0x26, 0x5c, 0x23, 0x3b, 0x75, 0x78,
]
/** Maximum number of times that an escape is escaped again: `%252d`, `\\u002d`, `&amp;#45;`. */
const MOST_ROUNDS = 4
/** Length of the longest HTML character reference that is read, with its delimiters. */
const LONGEST_REFERENCE = 24
/** Maximum length of one character: each round of JSON doubles the backslashes before it. */
export const LONGEST_SPELLING = LONGEST_REFERENCE

/**
 * TABLE of HTML names for characters that occur in credentials:
 * https://html.spec.whatwg.org/#named-character-references
 */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    AMP: '&',
    lt: '<',
    LT: '<',
    gt: '>',
    GT: '>',
    quot: '"',
    QUOT: '"',
    apos: "'",
    lowbar: '_',
    UnderBar: '_',
    period: '.',
    comma: ',',
    colon: ':',
    semi: ';',
    sol: '/',
    bsol: '\\',
    plus: '+',
    equals: '=',
    num: '#',
    dollar: '$',
    percnt: '%',
    commat: '@',
    excl: '!',
    ast: '*',
    midast: '*',
    quest: '?',
    lpar: '(',
    rpar: ')',
    lsqb: '[',
    lbrack: '[',
    rsqb: ']',
    rbrack: ']',
    lcub: '{',
    lbrace: '{',
    rcub: '}',
    rbrace: '}',
    vert: '|',
    verbar: '|',
    VerticalLine: '|',
    Hat: '^',
    grave: '`',
    DiacriticalGrave: '`',
  }),
)

/**
 * The meaning of an escape: a character and its length in bytes. `CUT` as the length: the bytes end
 * within it.
 */
export interface Escape {
  readonly code: number
  readonly length: number
}

const NONE: readonly Escape[] = []
const ONLY_CUT: readonly Escape[] = [{ code: -1, length: CUT }]

/** Whether an escape can begin with a byte. */
export const isEscape = (byte: number | undefined): boolean =>
  byte === PERCENT || byte === AMPERSAND || byte === BACKSLASH

/** The possible meanings of the escape at this position: a double escape also means an escape. */
export function escapesAt(bytes: Buffer, at: number): readonly Escape[] {
  const byte = bytes[at]
  return byte === PERCENT
    ? percentEncoded(bytes, at)
    : byte === AMPERSAND
      ? referenced(bytes, at)
      : byte === BACKSLASH
        ? backslashed(bytes, at)
        : NONE
}

/** `%2d`, `%252d`. */
function percentEncoded(bytes: Buffer, at: number): readonly Escape[] {
  const found: Escape[] = []
  for (let digits = at + 1, round = 0; round < MOST_ROUNDS; digits += 2, round++) {
    const code = hexAt(bytes, digits, 2)
    if (code === CUT) return [...ONLY_CUT, ...found]
    if (code === null) break
    found.push({ code, length: digits + 2 - at })
    if (code !== PERCENT) break
  }
  return found
}

/** `\u002d`, `\x2d`, `\/`, each with any number of backslashes up to 2 to the rounds. */
function backslashed(bytes: Buffer, at: number): readonly Escape[] {
  let next = at + 1
  while (bytes[next] === BACKSLASH && next - at < 2 ** MOST_ROUNDS) next++
  const letter = bytes[next]
  const slashes = next - at
  if (letter === undefined) return ONLY_CUT
  // A backslash is written as two of them, or as four.
  const found: Escape[] =
    slashes > 1 ? [{ code: BACKSLASH, length: 2 ** Math.floor(Math.log2(slashes)) }] : []
  const digits = letter === SMALL_U ? 4 : letter === SMALL_X ? 2 : 0
  const code = digits === 0 ? null : hexAt(bytes, next + 1, digits)
  if (code === CUT) return [...ONLY_CUT, ...found]
  if (code !== null) found.push({ code, length: slashes + 1 + digits })
  else if (!isAlphanumeric(letter)) found.push({ code: letter, length: slashes + 1 })
  return found
}

/** `&#45;`, `&#x2d;`, `&lowbar;`, `&amp;#45;`. */
function referenced(bytes: Buffer, at: number): readonly Escape[] {
  const found: Escape[] = []
  for (let from = at + 1, round = 0; round < MOST_ROUNDS; round++) {
    const end = endOfName(bytes, from, at + LONGEST_REFERENCE)
    if (end === CUT) return [...ONLY_CUT, ...found]
    if (end === from) break
    const name = bytes.toString('latin1', from, end)
    const code = bytes[from] === HASH ? numberOf(name.slice(1)) : NAMED.get(name)?.charCodeAt(0)
    if (code === undefined || Number.isNaN(code)) break
    from = end + 1
    found.push({ code, length: from - at })
    if (code !== AMPERSAND) break
  }
  return found
}

/**
 * The position of the semicolon after a name or a number: `from` if there is none, CUT if it may
 * follow.
 */
function endOfName(bytes: Buffer, from: number, most: number): number {
  for (let at = from; at < most; at++) {
    const byte = bytes[at]
    if (byte === undefined) return CUT
    if (byte === SEMICOLON) return at
    if (!isAlphanumeric(byte) && (byte !== HASH || at !== from)) return from
  }
  return from
}

const numberOf = (text: string): number =>
  /^[xX][0-9a-fA-F]+$/.test(text)
    ? Number.parseInt(text.slice(1), 16)
    : /^[0-9]+$/.test(text)
      ? Number(text)
      : Number.NaN

/**
 * The value of this many hexadecimal digits; null if they are not digits, CUT if the bytes end
 * within them.
 */
function hexAt(bytes: Buffer, at: number, digits: number): number | null {
  let value = 0
  for (let i = at; i < at + digits; i++) {
    const byte = bytes[i]
    if (byte === undefined) return CUT
    const letter = byte | 0x20
    const digit =
      byte >= 0x30 && byte <= 0x39
        ? byte - 0x30
        : letter >= 0x61 && letter <= 0x66
          ? letter - 0x57
          : -1
    if (digit < 0) return null
    value = value * 16 + digit
  }
  return value
}

const isAlphanumeric = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
