// Decodes JSON strings (RFC 8259, section 7) into 16-bit units, as in JavaScript.
import { HEX_DIGITS } from '../layout'

/** Instead of a length: the string is not valid JSON. */
export const MALFORMED: i32 = -1

const REPLACEMENT: u16 = 0xfffd

/**
 * Decodes the inside of a string. A character beyond 16 bits, or invalid UTF-8, is decoded to a
 * character that is in no wanted string.
 *
 * @param into room for as many units as there are bytes
 * @param most maximum number of units to decode
 * @returns the number of units, or MALFORMED if an escape is invalid. Control characters are kept.
 */
export function decode(from: i32, to: i32, into: i32, most: i32): i32 {
  let out = into
  const last = into + 2 * most
  for (let at = from; at < to && out < last; ) {
    const byte = load<u8>(at) as i32
    if (byte < 0x80 && byte != 0x5c) {
      store<u16>(out, byte as u16)
      at++
    } else if (byte >= 0x80) {
      const unit = letter(at, to)
      store<u16>(out, unit as u16)
      at += unit < 0x800 ? 2 : unit == REPLACEMENT ? 1 : 3
    } else {
      const escape = at + 1 < to ? (load<u8>(at, 1) as i32) : 0
      if (escape == 0x75) {
        const unit = at + 6 <= to ? fourDigits(at + 2) : -1
        if (unit < 0) return MALFORMED
        store<u16>(out, unit as u16)
        at += 6
      } else {
        const unit = shortEscape(escape)
        if (unit < 0) return MALFORMED
        store<u16>(out, unit as u16)
        at += 2
      }
    }
    out += 2
  }
  return (out - into) >> 1
}

/** A letter of two or three bytes; REPLACEMENT for any other byte. */
function letter(at: i32, to: i32): i32 {
  const first = load<u8>(at) as i32
  const second = load<u8>(at, 1) as i32
  if (first >= 0xc2 && first < 0xe0 && at + 1 < to && (second & 0xc0) == 0x80) return ((first & 0x1f) << 6) | (second & 0x3f)
  const third = load<u8>(at, 2) as i32
  if ((first & 0xf0) != 0xe0 || at + 2 >= to || (second & 0xc0) != 0x80 || (third & 0xc0) != 0x80) return REPLACEMENT
  const unit = ((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f)
  return unit < 0x800 || (unit & 0xf800) == 0xd800 ? REPLACEMENT : unit
}

function shortEscape(escape: i32): i32 {
  if (escape == 0x22 || escape == 0x5c || escape == 0x2f) return escape
  if (escape == 0x6e) return 0x0a
  if (escape == 0x74) return 0x09
  if (escape == 0x72) return 0x0d
  if (escape == 0x62) return 0x08
  if (escape == 0x66) return 0x0c
  return -1
}

for (let byte = 0; byte < 0x100; byte++) {
  const small = byte | 0x20
  store<u8>(HEX_DIGITS + byte, byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : small >= 0x61 && small <= 0x66 ? small - 0x57 : 0xff)
}

/** The value of four hexadecimal digits, or -1. */
// @ts-ignore: decorator
@inline
function fourDigits(at: i32): i32 {
  const a = load<u8>(HEX_DIGITS + load<u8>(at)) as i32
  const b = load<u8>(HEX_DIGITS + load<u8>(at, 1)) as i32
  const c = load<u8>(HEX_DIGITS + load<u8>(at, 2)) as i32
  const d = load<u8>(HEX_DIGITS + load<u8>(at, 3)) as i32
  return (a | b | c | d) > 15 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}
