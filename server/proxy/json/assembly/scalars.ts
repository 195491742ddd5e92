// Numbers and literals of JSON (RFC 8259, sections 3 and 6).
import { LONGEST_SCALAR } from '../layout'

/** Instead of an address: the number or literal may continue after the piece. */
export const INCOMPLETE: i32 = -1
/** Instead of an address: it is not a number or literal. */
export const INVALID: i32 = -2

const TRUE: u32 = 0x65757274
const FALSE: u32 = 0x736c6166
const NULL: u32 = 0x6c6c756e

// @ts-ignore: decorator
@inline
function isDigit(byte: u32): bool {
  return byte - 0x30 < 10
}

// @ts-ignore: decorator
@inline
function isDelimiter(byte: u32): bool {
  return byte == 0x2c || byte <= 0x20 || byte == 0x5d || byte == 0x7d || byte == 0x3a || byte == 0x22 || byte == 0x5b || byte == 0x7b
}

/** The end of a number or literal, valid or not; INCOMPLETE at the end of the piece. */
export function endOfScalar(start: i32, end: i32): i32 {
  let at = start
  while (at < end && !isDelimiter(load<u8>(at))) at++
  return at < end ? at : INCOMPLETE
}

/**
 * The end of a number or literal of RFC 8259, which has at most LONGEST_SCALAR bytes. INCOMPLETE if
 * it may continue after the piece, INVALID for anything else. A delimiter must be at `end`.
 */
// @ts-ignore: decorator
@inline
export function endOfJsonScalar(start: i32, end: i32): i32 {
  const first = load<u8>(start) as u32
  // A single digit.
  const second = load<u8>(start, 1) as u32
  if (isDigit(first) && (second == 0x2c || second == 0x7d) && start + 1 < end) return start + 1
  return endOfLongScalar(first, start, end)
}

function endOfLongScalar(first: u32, start: i32, end: i32): i32 {
  if (!isDigit(first) && first != 0x2d) return endOfLiteral(start, end)
  let at = start + i32(first == 0x2d)
  if (at == end) return INCOMPLETE
  const whole = at
  const leading = load<u8>(at) as u32
  let byte = leading
  while (isDigit(byte)) byte = load<u8>(++at)
  if (at == end) return at - start > LONGEST_SCALAR ? INVALID : INCOMPLETE
  if (at == whole || (leading == 0x30 && at > whole + 1)) return INVALID
  if (!isDelimiter(byte)) at = endOfFraction(at, end)
  return at - start > LONGEST_SCALAR ? INVALID : at
}

/** Reads on after the integer part of a number. */
function endOfFraction(start: i32, end: i32): i32 {
  let at = start
  let byte = load<u8>(at) as u32
  if (byte == 0x2e) {
    const digits = ++at
    byte = load<u8>(at)
    while (isDigit(byte)) byte = load<u8>(++at)
    if (at == end) return INCOMPLETE
    if (at == digits) return INVALID
  }
  if ((byte | 0x20) == 0x65) {
    byte = load<u8>(++at)
    if (at < end && (byte == 0x2b || byte == 0x2d)) byte = load<u8>(++at)
    const digits = at
    while (isDigit(byte)) byte = load<u8>(++at)
    if (at == end) return INCOMPLETE
    if (at == digits) return INVALID
  }
  return isDelimiter(byte) ? at : INVALID
}

function endOfLiteral(start: i32, end: i32): i32 {
  const head = load<u32>(start)
  if (head == TRUE || head == NULL) {
    if (start + 4 < end && isDelimiter(load<u8>(start, 4))) return start + 4
  } else if (head == FALSE && load<u8>(start, 4) == 0x65) {
    if (start + 5 < end && isDelimiter(load<u8>(start, 5))) return start + 5
  }
  return endOfScalar(start, end) == INCOMPLETE ? INCOMPLETE : INVALID
}

/**
 * Skips the short integers of a list, each with its comma, as lists of tokens have them: 16 bytes
 * at a time.
 *
 * @param start the start of an item
 * @returns the start of the first item that is anything else, may be the last, or continues after
 *   the piece
 */
// @ts-ignore: decorator
@inline
export function skipIntegers(start: i32, end: i32): i32 {
  let item = start
  // Whether the block begins with an item, and whether a zero that began one ended the block
  // before.
  let begins = 1
  let zero = 0
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(at)
    let commas = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(0x2c)))
    const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10)))
    const zeros = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(0x30)))
    const starts = ((commas << 1) | begins) & 0xffff
    const leading = zeros & starts
    const wrong = (commas & starts) | (((leading << 1) | zero) & digits)
    // The bytes before the first that is neither a digit nor a comma, is wrong, or is after the
    // piece.
    const others = (~(commas | digits) | wrong) & 0xffff
    const left = end - at
    const clean = min(others == 0 ? 16 : ctz(others), left)
    commas &= (1 << clean) - 1
    if ((commas == 0 ? at + 16 : at + ctz(commas)) - item > LONGEST_SCALAR) return item
    if (commas != 0) item = at + 32 - clz(commas)
    if (clean < 16) return item
    begins = (commas >> 15) & 1
    zero = (leading >> 15) & 1
  }
  return item
}
