// How one character can be written in an error: as it is, or escaped as in JSON (RFC 8259), addresses (RFC 3986), HTML or source code; also twice over.

/** The bytes end within an escape. */
export const CUT = -1

const [PERCENT, AMPERSAND, BACKSLASH, HASH, SEMICOLON, SMALL_U, SMALL_X] = [0x25, 0x26, 0x5c, 0x23, 0x3b, 0x75, 0x78]
/** Bytes with which an escape begins. */
export const ESCAPES: readonly number[] = [PERCENT, AMPERSAND, BACKSLASH]
/** How often one escape is escaped again, at most: `%252d`, `\\u002d`, `&amp;#45;`. */
const MOST_ROUNDS = 4
/** The longest name or number of a character in HTML that is read, with what stands around it. */
const LONGEST_REFERENCE = 24
/** The longest that one character can be: a backslash for each round of JSON doubles those before it. */
export const LONGEST_SPELLING = LONGEST_REFERENCE

/** TABLE of names that HTML has for characters that stand in credentials: https://html.spec.whatwg.org/#named-character-references */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&', AMP: '&', lt: '<', LT: '<', gt: '>', GT: '>', quot: '"', QUOT: '"', apos: "'", lowbar: '_', UnderBar: '_', period: '.', comma: ',', colon: ':', semi: ';', sol: '/', bsol: '\\', plus: '+', equals: '=',
    num: '#', dollar: '$', percnt: '%', commat: '@', excl: '!', ast: '*', midast: '*', quest: '?', lpar: '(', rpar: ')', lsqb: '[', lbrack: '[', rsqb: ']', rbrack: ']', lcub: '{', lbrace: '{', rcub: '}', rbrace: '}',
    vert: '|', verbar: '|', VerticalLine: '|', Hat: '^', grave: '`', DiacriticalGrave: '`',
  }),
)

/**
 * How long the spellings of a character are that begin at `at`, the longest first; `CUT` among them where one may go on behind the end.
 * @param code of the character, below 128
 */
export function spellingsAt(bytes: Buffer, at: number, code: number): readonly number[] {
  const byte = bytes[at]
  if (byte === undefined) return ONLY_CUT
  if (byte !== PERCENT && byte !== AMPERSAND && byte !== BACKSLASH) return byte === code ? ONLY_ITSELF : NONE
  const escaped = byte === PERCENT ? percentEncoded(bytes, at, code) : byte === AMPERSAND ? referenced(bytes, at, code) : backslashed(bytes, at, code)
  return byte === code ? [...escaped, 1] : escaped
}

const NONE: readonly number[] = []
const ONLY_ITSELF: readonly number[] = [1]
const ONLY_CUT: readonly number[] = [CUT]

/** `%2d`, `%252d`. */
function percentEncoded(bytes: Buffer, at: number, code: number): number[] {
  const lengths: number[] = []
  for (let digits = at + 1, round = 0; round < MOST_ROUNDS; digits += 2, round++) {
    const value = hexAt(bytes, digits, 2)
    if (value === CUT) return [CUT, ...lengths]
    if (value === code) lengths.unshift(digits + 2 - at)
    if (value !== PERCENT) break
  }
  return lengths
}

/** `\u002d`, `\x2d`, `\/`, each with any number of backslashes up to 2 to the rounds. */
function backslashed(bytes: Buffer, at: number, code: number): number[] {
  let next = at + 1
  while (bytes[next] === BACKSLASH && next - at < 2 ** MOST_ROUNDS) next++
  const letter = bytes[next]
  const slashes = next - at
  if (letter === undefined) return [CUT]
  if (letter === SMALL_U || letter === SMALL_X) {
    const length = letter === SMALL_U ? 4 : 2
    const value = hexAt(bytes, next + 1, length)
    if (value === CUT || value === code) return value === CUT ? [CUT] : [slashes + 1 + length]
  }
  // A backslash is written as two of them, or as four.
  if (code === BACKSLASH) return slashes > 1 ? [2 ** Math.floor(Math.log2(slashes))] : []
  return letter === code && !isAlphanumeric(code) ? [slashes + 1] : []
}

/** `&#45;`, `&#x2d;`, `&lowbar;`, `&amp;#45;`. */
function referenced(bytes: Buffer, at: number, code: number): number[] {
  const lengths: number[] = []
  for (let from = at + 1, round = 0; round < MOST_ROUNDS; round++) {
    const end = bytes.subarray(from, at + LONGEST_REFERENCE).indexOf(SEMICOLON)
    if (end < 0) return at + LONGEST_REFERENCE > bytes.length && isBegun(bytes.toString('latin1', from)) ? [CUT, ...lengths] : lengths
    const name = bytes.toString('latin1', from, from + end)
    const value = bytes[from] === HASH ? numberOf(name.slice(1)) : NAMED.get(name)?.charCodeAt(0)
    from += end + 1
    if (value === code) lengths.unshift(from - at)
    if (value !== AMPERSAND) break
  }
  return lengths
}

const isBegun = (name: string): boolean => /^(?:#[xX]?[0-9a-fA-F]*|[A-Za-z]*)$/.test(name)
const numberOf = (text: string): number => (/^[xX][0-9a-fA-F]+$/.test(text) ? Number.parseInt(text.slice(1), 16) : /^[0-9]+$/.test(text) ? Number(text) : Number.NaN)

/** The number that so many hexadecimal digits are; null where they are none, CUT where the bytes end within them. */
function hexAt(bytes: Buffer, at: number, digits: number): number | null {
  let value = 0
  for (let i = at; i < at + digits; i++) {
    const byte = bytes[i]
    if (byte === undefined) return CUT
    const letter = byte | 0x20
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
    if (digit < 0) return null
    value = value * 16 + digit
  }
  return value
}

const isAlphanumeric = (code: number): boolean => /[0-9A-Za-z]/.test(String.fromCharCode(code))
