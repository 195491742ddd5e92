// Classifies a key of an object: a wanted one, one that some parsers read as a wanted one, or any
// other.
import {
  DECODED, DUPLICATE, ESCAPED_KEY, FOLDED, KEY_BYTES, KEY_EXACT, KEY_LOWER, KEY_NODE, KEY_NUMBER, KEY_WIDTH, LONGEST_KEY, LOOKALIKE, NODE_KEYS, NODE_LENGTHS,
  STRICT, TABLE,
} from '../layout'
import { tellOddity } from './events'
import { decode, MALFORMED } from './escapes'
import { hasBackslash } from './strings'

/** Instead of a node: the key is not valid JSON. */
export const BREAKS: i32 = -1

/**
 * Looks up a key that has just ended, `from … to - 1` inside its quotes.
 *
 * @param at the node of its object, whose stack entry is `entry`
 * @param next the node of its value if the key is not wanted
 * @param captured whether it is within a captured value
 * @returns the node of its value
 */
export function lookUp(at: i32, from: i32, to: i32, entry: i32, next: i32, captured: bool): i32 {
  const size = to - from
  if (size > LONGEST_KEY) return next
  const table = load<i32>(TABLE)
  if (mayBeOdd(from, to)) return oddKey(table, at, from, to, entry, next, captured)
  if (size >= KEY_WIDTH) return next
  // A key of plain letters can resemble another one only in another case.
  let alike = 0
  let key = keysOf(table, at, size)
  for (const last = keysOf(table, at, size + 1); key < last; key += KEY_BYTES) {
    if (!isSameInAnyCase(key + KEY_LOWER, from, size)) continue
    if (isSame(key + KEY_EXACT, from, size)) return meetKey(load<i32>(key, KEY_NODE), load<i32>(key, KEY_NUMBER), entry, next, captured)
    if (alike == 0) alike = load<i32>(key, KEY_NODE)
  }
  if (alike != 0) tellOddity(LOOKALIKE, alike)
  return next
}

/** Marks a wanted key, in any spelling, as seen. @returns the node of its value */
function meetKey(node: i32, number: i32, entry: i32, next: i32, captured: bool): i32 {
  const seen = load<u64>(entry, 8)
  const bit = (1 as u64) << number
  if (seen & bit) tellOddity(DUPLICATE, node)
  else store<u64>(entry, seen | bit, 8)
  return captured ? next : node
}

// @ts-ignore: decorator
@inline
function isSame(key: i32, from: i32, size: i32): bool {
  let at = 0
  for (; at + 16 <= size; at += 16) {
    if (!i8x16.all_true(i8x16.eq(v128.load(key + at), v128.load(from + at)))) return false
  }
  const rest = (1 << (size - at)) - 1
  return (i8x16.bitmask(i8x16.eq(v128.load(key + at), v128.load(from + at))) & rest) == rest
}

// @ts-ignore: decorator
@inline
function isSameInAnyCase(lower: i32, from: i32, size: i32): bool {
  for (let at = 0; at < size; at += 16) {
    const bytes = v128.load(from + at)
    const capitals = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x41)), i8x16.splat(26))
    const lowered = v128.or(bytes, v128.and(capitals, i8x16.splat(0x20)))
    const rest = size - at < 16 ? (1 << (size - at)) - 1 : 0xffff
    if ((i8x16.bitmask(i8x16.eq(lowered, v128.load(lower + at))) & rest) != rest) return false
  }
  return true
}

/**
 * Whether a key contains an escape, a control character or a letter that folds into ASCII
 * (FOLDING_LETTERS of paths.ts). Any other letter beyond ASCII makes it another key.
 */
// @ts-ignore: decorator
@inline
function mayBeOdd(from: i32, to: i32): bool {
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at)
    // As signed numbers, bytes beyond ASCII are below the control characters.
    const odd = v128.or(i8x16.lt_s(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x5c)))
    const mask = i8x16.bitmask(odd)
    if (mask != 0 && isOddAmong(mask, at, to)) return true
  }
  return false
}

function isOddAmong(mask: i32, at: i32, to: i32): bool {
  for (let left = mask; left != 0; left &= left - 1) {
    const odd = at + ctz(left)
    if (odd >= to) return false
    const byte = load<u8>(odd) as i32
    if (byte < 0x80) return true
    if (byte < 0xc0) continue
    const pair = (byte << 8) | (odd + 1 < to ? (load<u8>(odd, 1) as i32) : 0)
    if (pair == 0xc39f || pair == 0xc4b1 || pair == 0xc5bf || pair == 0xe284 || pair == 0xefac) return true
  }
  return false
}

/**
 * A key with an escape, a control character or a letter beyond ASCII: only these can resemble a key
 * with other letters or another length.
 */
function oddKey(table: i32, at: i32, from: i32, to: i32, entry: i32, next: i32, captured: bool): i32 {
  const size = decode(from, to, DECODED, LONGEST_KEY)
  const unknown = load<i32>(STRICT) != 0 ? BREAKS : next
  const control = hasControl(from, to)
  if (size == MALFORMED || (control && hasBackslash(from, to))) return unknown
  let key = keysOf(table, at, size)
  const last = keysOf(table, at, size + 1)
  if (key == last && isPlain(size)) return control ? unknown : next
  for (; key < last; key += KEY_BYTES) {
    if (!isSpelled(DECODED, key + KEY_EXACT, size)) continue
    const node = load<i32>(key, KEY_NODE)
    tellOddity(ESCAPED_KEY, node)
    return meetKey(node, load<i32>(key, KEY_NUMBER), entry, next, captured)
  }
  const folded = foldDecoded(size)
  const first = keysOf(table, at, folded)
  for (key = keysOf(table, at, folded + 1) - KEY_BYTES; key >= first; key -= KEY_BYTES) {
    if (!isSpelled(FOLDED, key + KEY_LOWER, folded)) continue
    tellOddity(LOOKALIKE, load<i32>(key, KEY_NODE))
    return next
  }
  return control ? unknown : next
}

/** Whether a key contains a control character, which must be escaped. */
function hasControl(from: i32, to: i32): bool {
  for (let at = from; at < to; at += 16) {
    const mask = i8x16.bitmask(i8x16.lt_u(v128.load(at), i8x16.splat(0x20)))
    if (mask != 0) return at + ctz(mask) < to
  }
  return false
}

/** Whether the decoded key has no letter that folds into others, and no NUL. */
function isPlain(size: i32): bool {
  for (let i = 0; i < size; i++) {
    const unit = load<u16>(DECODED + 2 * i) as u32
    if (unit - 1 >= 0x7f) return false
  }
  return true
}

function isSpelled(units: i32, key: i32, size: i32): bool {
  for (let i = 0; i < size; i++) if ((load<u8>(key + i) as u16) != load<u16>(units + 2 * i)) return false
  return true
}

/** The first of a node's keys of this length, or of a longer one. */
function keysOf(table: i32, at: i32, size: i32): i32 {
  const lengths = table + load<i32>(table + at, NODE_LENGTHS)
  return table + load<i32>(table + at, NODE_KEYS) + (load<u8>(lengths + clamp(size)) as i32) * KEY_BYTES
}

/** No key has a length of 0, or of KEY_WIDTH. */
function clamp(size: i32): i32 {
  return size < 0 ? 0 : min(size, KEY_WIDTH)
}

/**
 * Folds the decoded key up to its first NUL, as `toUpperCase().toLowerCase()` does where that
 * yields ASCII. @returns its new length
 */
function foldDecoded(size: i32): i32 {
  let length = 0
  for (let i = 0; i < size; i++) {
    const unit = load<u16>(DECODED + 2 * i) as u32
    if (unit == 0) break
    let letters: u32 = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit
    let count = 1
    if (unit >= 0x80) {
      // The letters of FOLDING_LETTERS of paths.ts.
      if (unit == 0xdf) (letters = 0x7373), (count = 2) // ß
      else if (unit == 0x131) letters = 0x69 // ı
      else if (unit == 0x17f) letters = 0x73 // ſ
      else if (unit == 0x212a) letters = 0x6b // K
      else if (unit == 0xfb00) (letters = 0x6666), (count = 2) // ff
      else if (unit == 0xfb01) (letters = 0x6966), (count = 2) // fi
      else if (unit == 0xfb02) (letters = 0x6c66), (count = 2) // fl
      else if (unit == 0xfb03) (letters = 0x696666), (count = 3) // ffi
      else if (unit == 0xfb04) (letters = 0x6c6666), (count = 3) // ffl
      else if (unit == 0xfb05 || unit == 0xfb06) (letters = 0x7473), (count = 2) // st
      else return -1
    }
    for (let letter = 0; letter < count; letter++) store<u16>(FOLDED + 2 * length++, count == 1 ? letters : (letters >> (8 * letter)) & 0xff)
  }
  return length
}
