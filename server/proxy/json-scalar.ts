// Numbers and literals of JSON (RFC 8259, sections 3 and 6).

/** Characters of the longest number that makes sense. */
export const LONGEST_SCALAR = 1024
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

/** Instead of an index: the scalar may go on behind the chunk; it is none. */
export const INCOMPLETE = -1
export const INVALID = -2

/** What a byte is within a scalar. */
const OTHER = 0
const DELIMITER = 1
const DIGIT = 2
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || '"{}[],:'.includes(String.fromCharCode(byte))) return DELIMITER
  return byte >= 0x30 && byte <= 0x39 ? DIGIT : OTHER
})

const [MINUS, PLUS, COMMA, POINT, ZERO, SMALL_E, LARGE_E] = [0x2d, 0x2b, 0x2c, 0x2e, 0x30, 0x65, 0x45]
const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text))

/** Where a number or literal ends, whatever it is; INCOMPLETE at the end of the chunk. */
export function endOfScalar(chunk: Buffer, start: number): number {
  const { length } = chunk
  let i = start
  while (i < length && KINDS[chunk[i]!] !== DELIMITER) i++
  return i < length ? i : INCOMPLETE
}

/** Whether a text is a number or a literal. */
export const isScalar = (text: string): boolean => SCALAR.test(text)

/** Where a number or literal of JSON ends, which is no longer than any that makes sense; INVALID where there is none. */
export function endOfJsonScalar(chunk: Buffer, start: number): number {
  const { length } = chunk
  const first = chunk[start]!
  if (KINDS[first] !== DIGIT && first !== MINUS) return endOfLiteral(chunk, start)
  let i = first === MINUS ? start + 1 : start
  if (i === length) return INCOMPLETE
  const leading = i
  while (i < length && KINDS[chunk[i]!] === DIGIT) i++
  if (i === length) return INCOMPLETE
  if (i === leading || (chunk[leading] === ZERO && i > leading + 1)) return INVALID
  if (KINDS[chunk[i]!] !== DELIMITER) i = endOfFraction(chunk, i)
  return i - start > LONGEST_SCALAR ? INVALID : i
}

/**
 * Skips the integers of a list, each with its comma, as lists of tokens have them. The loop is small on purpose: it runs twice as fast as the same
 * within the scan.
 *
 * @param start where an item begins
 * @returns where the first item begins that is anything else, or may be the last, or goes on behind the chunk
 */
export function skipIntegers(chunk: Buffer, start: number): number {
  const most = chunk.length - 1
  for (let item = start; ; ) {
    let i = item
    if (i >= most || KINDS[chunk[i]!] !== DIGIT) return item
    if (chunk[i++] !== ZERO) while (i < most && KINDS[chunk[i]!] === DIGIT) i++
    if (i >= most || chunk[i] !== COMMA || i - item > LONGEST_SCALAR) return item
    item = i + 1
  }
}

/** From behind the whole part of a number. */
function endOfFraction(chunk: Buffer, start: number): number {
  const { length } = chunk
  let i = start
  if (chunk[i] === POINT) {
    const digits = ++i
    while (i < length && KINDS[chunk[i]!] === DIGIT) i++
    if (i === length) return INCOMPLETE
    if (i === digits) return INVALID
  }
  const sign = chunk[i]!
  if (sign === SMALL_E || sign === LARGE_E) {
    i++
    if (i < length && (chunk[i] === PLUS || chunk[i] === MINUS)) i++
    const digits = i
    while (i < length && KINDS[chunk[i]!] === DIGIT) i++
    if (i === length) return INCOMPLETE
    if (i === digits) return INVALID
  }
  return KINDS[chunk[i]!] === DELIMITER ? i : INVALID
}

function endOfLiteral(chunk: Buffer, start: number): number {
  const end = endOfScalar(chunk, start)
  if (end === INCOMPLETE) return end
  for (const literal of LITERALS) {
    if (literal.length !== end - start) continue
    let i = 0
    while (i < literal.length && literal[i] === chunk[start + i]) i++
    if (i === literal.length) return end
  }
  return INVALID
}
