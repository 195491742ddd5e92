// What a key of an object is: a wanted one, one that some parsers take for one, or simply another one.
import {
  DECODED, DUPLICATE, ESCAPED_KEY, KEY_BYTES, KEY_EXACT, KEY_LENGTH, KEY_LOWER, KEY_NODE, KEY_NUMBER, KEY_WIDTH, LONGEST_KEY, LOOKALIKE, NODE_KEYS, NODE_KEY_COUNT, NODE_LENGTHS,
  STRICT, TABLE,
} from '../layout'
import { tellOddity } from './events'
import { decode, MALFORMED } from './escapes'
import { hasBackslash } from './strings'

/** Instead of a node: the key is none that JSON knows. */
export const BREAKS: i32 = -1

const CONTROL_SIGN: u8 = 0x80

/**
 * Looks up a key that has just been closed, `from … to - 1` inside of its quotes.
 *
 * @param at the node of its object, whose entry of the stack is `entry`
 * @param next the node of its value, where it is simply another key
 * @param captured whether it stands within a value that is captured
 * @returns the node of its value
 */
export function lookUp(at: i32, from: i32, to: i32, entry: i32, next: i32, captured: bool): i32 {
  const size = to - from
  if (size > LONGEST_KEY) return next
  const table = load<i32>(TABLE)
  const lengths = table + load<i32>(table + at, NODE_LENGTHS)
  let key = 0
  let kind = -1
  if (size < KEY_WIDTH) {
    const keys = table + load<i32>(table + at, NODE_KEYS)
    const last = keys + (load<u8>(lengths + size + 1) as i32) * KEY_BYTES
    for (key = keys + (load<u8>(lengths + size) as i32) * KEY_BYTES; key < last; key += KEY_BYTES) {
      if (isSame(key + KEY_EXACT, from, size)) return meetKey(load<i32>(key, KEY_NODE), load<i32>(key, KEY_NUMBER), entry, next, captured)
    }
    if (!isOdd(from, to)) {
      // A key of plain letters is like another one in nothing but their case.
      for (key = keys + (load<u8>(lengths + size) as i32) * KEY_BYTES; key < last; key += KEY_BYTES) {
        if (!isSameInAnyCase(key + KEY_LOWER, from, size)) continue
        tellOddity(LOOKALIKE, load<i32>(key, KEY_NODE))
        return next
      }
      return next
    }
  } else if (!isOdd(from, to)) return next
  return oddKey(table, at, from, to, entry, next, captured)
}

/** A wanted key, in whatever spelling. */
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

function isSameInAnyCase(lower: i32, from: i32, size: i32): bool {
  for (let at = 0; at < size; at++) {
    const byte = load<u8>(from + at)
    if (load<u8>(lower + at) != (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte)) return false
  }
  return true
}

/** Whether a key holds an escape, a control character or a byte beyond ASCII. */
function isOdd(from: i32, to: i32): bool {
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at)
    // As signed numbers the bytes beyond ASCII come before the control characters.
    const odd = v128.or(i8x16.lt_s(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x5c)))
    const mask = i8x16.bitmask(odd)
    if (mask != 0) return at + ctz(mask) < to
  }
  return false
}

/** A key with an escape, a control character or a letter beyond ASCII: only such ones can be like a key of other letters or another length. */
function oddKey(table: i32, at: i32, from: i32, to: i32, entry: i32, next: i32, captured: bool): i32 {
  const size = decode(from, to, DECODED)
  const escaped = hasBackslash(from, to)
  const control = hasControl(from, to)
  const unknown = load<i32>(STRICT) != 0 ? BREAKS : next
  if (size == MALFORMED || (escaped && control)) return unknown
  const count = load<i32>(table + at, NODE_KEY_COUNT)
  const keys = table + load<i32>(table + at, NODE_KEYS)
  for (let i = 0; i < count; i++) {
    const key = keys + i * KEY_BYTES
    if (load<i32>(key, KEY_LENGTH) != size || !isSpelled(key + KEY_EXACT, size)) continue
    const node = load<i32>(key, KEY_NODE)
    tellOddity(ESCAPED_KEY, node)
    return meetKey(node, load<i32>(key, KEY_NUMBER), entry, next, captured)
  }
  const folded = foldDecoded(size)
  for (let i = count - 1; i >= 0; i--) {
    const key = keys + i * KEY_BYTES
    if (load<i32>(key, KEY_LENGTH) != folded || !isSpelled(key + KEY_LOWER, folded)) continue
    tellOddity(LOOKALIKE, load<i32>(key, KEY_NODE))
    return next
  }
  return control ? unknown : next
}

/** Whether a key holds a control character, which has to be escaped. */
function hasControl(from: i32, to: i32): bool {
  for (let at = from; at < to; at++) if (load<u8>(at) < 0x20) return true
  return false
}

function isSpelled(key: i32, size: i32): bool {
  for (let i = 0; i < size; i++) if ((load<u8>(key + i) as u16) != load<u16>(DECODED + 2 * i)) return false
  return true
}

/** Folds the decoded key up to its first NUL, in place, as `toUpperCase().toLowerCase()` does where that yields ASCII. @returns its new length */
function foldDecoded(size: i32): i32 {
  // What a letter becomes can be longer than it: up to three letters.
  const folded = DECODED + 2 * (LONGEST_KEY + 16)
  let length = 0
  for (let i = 0; i < size; i++) {
    const unit = load<u16>(DECODED + 2 * i) as u32
    if (unit == 0) break
    let letters: u32 = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit
    let count = 1
    if (unit >= 0x80) {
      // The letters of FOLDING_LETTERS of json-paths.ts.
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
    for (let letter = 0; letter < count; letter++) store<u16>(folded + 2 * length++, count == 1 ? letters : (letters >> (8 * letter)) & 0xff)
  }
  memory.copy(DECODED, folded, 2 * length)
  return length
}
