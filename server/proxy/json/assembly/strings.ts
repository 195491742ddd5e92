// Finds the ends of JSON strings (RFC 8259, section 7), 16 and 64 bytes at a time.
import { ESCAPED } from '../layout'

const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c
const SPACE: u8 = 0x20
const ODD_BITS: u64 = 0xaaaaaaaaaaaaaaaa

/** A bit for each of the 16 bytes at `at`: 1 if it equals `byte`. */
// @ts-ignore: decorator
@inline
export function equalMask(at: i32, byte: u8): i32 {
  return i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(byte)))
}

// @ts-ignore: decorator
@inline
function equalMask64(a: v128, b: v128, c: v128, d: v128, byte: u8): u64 {
  const wanted = i8x16.splat(byte)
  return (i8x16.bitmask(i8x16.eq(a, wanted)) as u64)
    | ((i8x16.bitmask(i8x16.eq(b, wanted)) as u64) << 16)
    | ((i8x16.bitmask(i8x16.eq(c, wanted)) as u64) << 32)
    | ((i8x16.bitmask(i8x16.eq(d, wanted)) as u64) << 48)
}

// @ts-ignore: decorator
@inline
function special(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH)))
}

/**
 * The address after the closing quote, or -1 if the string continues after `end`; ESCAPED then
 * tells whether the next byte is escaped.
 */
// @ts-ignore: decorator
@inline
export function endOfString(start: i32, end: i32): i32 {
  // Known without waiting for the search.
  if (load<u8>(start) == QUOTE && start < end) return start + 1
  const mask = i8x16.bitmask(special(v128.load(start)))
  if (mask == 0) return endOfLongString(start + 16, end)
  const at = start + ctz(mask)
  if (load<u8>(at) == QUOTE && at < end) return at + 1
  // Short strings have one escape, if any.
  const rest = i8x16.bitmask(special(v128.load(at, 2)))
  const quote = at + 2 + ctz(rest)
  if (rest != 0 && load<u8>(quote) == QUOTE && quote < end) return quote + 1
  return endOfEscapedString(at, end)
}

function endOfLongString(start: i32, end: i32): i32 {
  let at = start
  while (at < end) {
    const a = special(v128.load(at))
    const b = special(v128.load(at, 16))
    const c = special(v128.load(at, 32))
    const d = special(v128.load(at, 48))
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) {
      const mask = (i8x16.bitmask(a) as u64) | ((i8x16.bitmask(b) as u64) << 16) | ((i8x16.bitmask(c) as u64) << 32) | ((i8x16.bitmask(d) as u64) << 48)
      at += ctz(mask) as i32
      if (load<u8>(at) == QUOTE && at < end) return at + 1
      return endOfEscapedString(at, end)
    }
    at += 64
  }
  store<i32>(ESCAPED, 0)
  return -1
}

/**
 * `endOfString` from a byte that is not escaped. Which quotes are escaped is computed for 64 bytes
 * at once: those after runs of backslashes of odd length (Langdale and Lemire, Parsing Gigabytes of
 * JSON per Second, section 3.1.1).
 */
function endOfEscapedString(start: i32, end: i32): i32 {
  let at = start
  // Bit 0: whether the first byte of the block is escaped.
  let carried: u64 = 0
  while (at < end) {
    const a = v128.load(at)
    const b = v128.load(at, 16)
    const c = v128.load(at, 32)
    const d = v128.load(at, 48)
    const backslashes = equalMask64(a, b, c, d, BACKSLASH)
    const quotes = equalMask64(a, b, c, d, QUOTE)
    const begin = backslashes & ~carried
    const codes = (((begin << 1) | ODD_BITS) - begin) ^ ODD_BITS
    const escaped = codes ^ (backslashes | carried)
    const closing = quotes & ~escaped
    if (closing != 0) {
      const quote = at + (ctz(closing) as i32)
      if (quote < end) return quote + 1
    }
    carried = (codes & backslashes) >> 63
    const left = end - at
    if (left < 64) {
      store<i32>(ESCAPED, ((escaped >> left) & 1) as i32)
      return -1
    }
    at += 64
  }
  store<i32>(ESCAPED, carried as i32)
  return -1
}

/** Whether one of these bytes is a backslash. */
export function hasBackslash(from: i32, to: i32): bool {
  for (let at = from; at < to; at += 16) {
    const mask = equalMask(at, BACKSLASH)
    if (mask != 0) return at + ctz(mask) < to
  }
  return false
}

/** Whether there is a space between other characters. */
export function isProse(from: i32, to: i32): bool {
  let at = from
  while (at < to && load<u8>(at) == SPACE) at++
  for (; at < to; at += 16) {
    const mask = equalMask(at, SPACE)
    if (mask == 0) continue
    at += ctz(mask)
    while (at < to && load<u8>(at) == SPACE) at++
    return at < to
  }
  return false
}
