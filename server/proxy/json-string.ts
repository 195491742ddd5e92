// Finds where strings of JSON end (RFC 8259, section 7).

/** The bytes that structure JSON. */
export const BYTE = { quote: 0x22, backslash: 0x5c, openObject: 0x7b, closeObject: 0x7d, openList: 0x5b, closeList: 0x5d, comma: 0x2c, colon: 0x3a } as const

/** Bytes that are looked at one by one before the native search, which costs 18 ns a call: the break-even of `npm run bench -- inspect`. */
const NEAR = 20

/**
 * The index behind the closing quote, or -1 where the string goes on behind the chunk.
 *
 * Quotes are searched natively, and a quote is escaped when an odd number of backslashes precedes it. Each byte is searched once and each
 * backslash counted once, because a run of them ends at the quote before.
 *
 * @param start within the string, not behind an escaping backslash
 */
export function endOfString(chunk: Buffer, start: number): number {
  const { length } = chunk
  let i = start
  while (i < length) {
    // Where quotes or escapes are dense a loop is faster than a search.
    const near = i + NEAR < length ? i + NEAR : length
    while (i < near) {
      const byte = chunk[i]!
      if (byte === BYTE.quote) return i + 1
      i += byte === BYTE.backslash ? 2 : 1
    }
    if (i >= length) return -1
    const quote = chunk.indexOf(BYTE.quote, i)
    if (quote < 0) return -1
    let before = quote
    while (before > i && chunk[before - 1] === BYTE.backslash) before--
    if (((quote - before) & 1) === 0) return quote + 1
    i = quote + 1
  }
  return -1
}

/** Whether a chunk that ends within a string ends with a backslash that escapes what comes next. @param start as in `endOfString` */
export function endsEscaped(chunk: Buffer, start: number): boolean {
  let before = chunk.length
  while (before > start && chunk[before - 1] === BYTE.backslash) before--
  return ((chunk.length - before) & 1) === 1
}
