// Writes the events of a scan, and has the caches that suppress repetitions.
import {
  CLOSED_TOLD, EVENTS, EVENT_BYTES, EVENT_COUNT, DECODED, KNOWN, KNOWN_BYTES, KNOWN_SLOT, KNOWN_SLOTS, LAST_CLOSED, LAST_ODDITIES, LAST_VALUE, LONGEST, ODDITY_CACHE, ODDITY_SLOTS, ODDITY_TOLD, PENDING_VALUE, PROSE, QUICK, REPEATS, SERIAL, SHORTEST, STRING_TOLD, VALUES, VALUE_AGAIN,
  VALUE_BYTES, VALUE_SLOT, VALUE_SLOTS, VALUES_SINCE, VALUE_TOLD,
} from '../layout'
import { decode, MALFORMED } from './escapes'
import { hasBackslash, isProse } from './strings'

/** Writes an event. */
export function tell(kind: i32, first: i32, second: i32, third: i32): void {
  const count = load<i32>(EVENT_COUNT)
  const event = EVENTS + count * EVENT_BYTES
  store<i32>(event, kind)
  store<i32>(event, first, 4)
  store<i32>(event, second, 8)
  store<i32>(event, third, 12)
  store<i32>(EVENT_COUNT, count + 1)
}

/** An oddity of a place is reported once, unless the cache has dropped it. */
export function tellOddity(kind: i32, node: i32): void {
  store<i32>(LAST_ODDITIES + 4 * kind, node)
  const slot = ODDITY_CACHE + 8 * (((node >> 5) + kind * 101) & (ODDITY_SLOTS - 1))
  const oddity = node + kind
  const serial = load<i32>(SERIAL)
  if (load<i32>(slot) == serial && load<i32>(slot, 4) == oddity) return
  store<i32>(slot, serial)
  store<i32>(slot, oddity, 4)
  tell(ODDITY_TOLD, node, kind, 0)
}

/**
 * Reports a value at a wanted path. If the sink handles repetitions, an immediate repetition of a
 * value is not reported, nor is one of a value and the end of its list or object.
 *
 * @param start 0 if it began in an earlier piece
 */
export function tellValue(node: i32, start: i32, end: i32): void {
  if (load<i32>(REPEATS) == 0) return tell(VALUE_TOLD, node, start, end)
  if (!isRepeated(node, start, end)) {
    tellPending()
    tellOne(VALUE_TOLD, node, start, end)
  } else if (load<i32>(LAST_VALUE) == node && load<i32>(PENDING_VALUE) == 0) {
    if (load<i32>(LAST_CLOSED) != 0) store<i32>(PENDING_VALUE, node)
  } else {
    tellPending()
    tellOne(VALUE_AGAIN, node, 0, 0)
  }
}

function tellOne(kind: i32, node: i32, start: i32, end: i32): void {
  store<i32>(LAST_VALUE, node)
  store<i32>(LAST_CLOSED, 0)
  store<i32>(VALUES_SINCE, load<i32>(VALUES_SINCE) + 1)
  tell(kind, node, start, end)
}

/** Whether these are the bytes last reported for this node; remembers them. */
function isRepeated(node: i32, start: i32, end: i32): bool {
  const slot = VALUES + ((node >> 5) & (VALUE_SLOTS - 1)) * VALUE_SLOT
  const size = end - start
  if (start == 0 || size > VALUE_BYTES) {
    store<i32>(slot, 0)
    return false
  }
  const serial = load<i32>(SERIAL)
  if (load<i32>(slot) == serial && load<i32>(slot, 4) == node && load<i32>(slot, 8) == size && isSame(slot + 16, start, size)) return true
  store<i32>(slot, serial)
  store<i32>(slot, node, 4)
  store<i32>(slot, size, 8)
  memory.copy(slot + 16, start, VALUE_BYTES)
  return false
}

function tellPending(): void {
  const pending = load<i32>(PENDING_VALUE)
  if (pending == 0) return
  store<i32>(PENDING_VALUE, 0)
  tellOne(VALUE_AGAIN, pending, 0, 0)
}

/** Reports the end of a node's list or object, unless that follows from the last event. */
export function tellClosed(node: i32): void {
  if (load<i32>(PENDING_VALUE) != 0) {
    if (load<i32>(LAST_CLOSED) == node) {
      store<i32>(PENDING_VALUE, 0)
      return
    }
    tellPending()
  }
  const single = load<i32>(VALUES_SINCE) == 1
  store<i32>(VALUES_SINCE, 0)
  store<i32>(LAST_CLOSED, single ? node : 0)
  if (!single) store<i32>(LAST_VALUE, 0)
  tell(CLOSED_TOLD, node, 0, 0)
}

/**
 * Reports a string whose length and first byte match, unless it cannot be wanted, or was recently
 * reported.
 */
export function hand(from: i32, to: i32): void {
  if (load<i32>(PROSE) == 0 && isProse(from, to)) return
  const quick = load<i32>(QUICK)
  const escaped = hasBackslash(from, to)
  if (escaped) {
    if (quick != 0 && !mayBeWantedDecoded(quick, from, to)) return
  } else if (to - from > load<i32>(LONGEST) || (quick != 0 && !mayBeWanted(quick, from, to))) return
  tellString(from, to, escaped)
}

/** Reports a string, with a hash whose lowest bit is `mark`, unless it was recently reported. */
export function tellString(from: i32, to: i32, mark: bool): void {
  if (!isKnown(from, to)) tell(STRING_TOLD, from, to, (hashOf(from, to) & ~1) | i32(mark))
}

/** A hash of all bytes. */
function hashOf(from: i32, to: i32): i32 {
  const size = to - from
  let mixed: u64 = 0
  let at = from
  for (; at + 8 <= to; at += 8) mixed = mix(mixed, load<u64>(at))
  if (at < to && size >= 8) mixed = mix(mixed, load<u64>(to - 8))
  else for (; at < to; at++) mixed = mix(mixed, load<u8>(at))
  return (mix(mixed, size) >> 32) as i32
}

// @ts-ignore: decorator
@inline
function mix(mixed: u64, bytes: u64): u64 {
  const product = (mixed ^ bytes) * 0x9e3779b97f4a7c15
  return product ^ (product >> 32)
}

/**
 * Units of a string with escapes that are checked, and how many of those may be leading spaces.
 */
const HEAD_UNITS: i32 = 64
const HEAD_SPACES: i32 = 32

/** `mayBeWanted` for a string with escapes; false if the string is not valid JSON. */
function mayBeWantedDecoded(quick: i32, from: i32, to: i32): bool {
  const size = decode(from, to, DECODED, HEAD_UNITS)
  if (size == MALFORMED || size < load<i32>(SHORTEST)) return false
  const marks = quick + 64
  let start = 0
  while (start < size && (isSpace(load<u16>(DECODED + 2 * start)) || markOf(marks, start) == 2)) start++
  if (start > HEAD_SPACES) return true
  // Its units as bytes; a unit that is not a byte becomes a byte that no such string has.
  for (let i = start; i < size; i++) {
    const unit = load<u16>(DECODED + 2 * i)
    store<u8>(DECODED + i - start, unit < 0x80 ? unit as u8 : 0x80)
  }
  return mayBeWanted(quick, DECODED, DECODED + size - start)
}

function markOf(marks: i32, i: i32): u32 {
  const unit = load<u16>(DECODED + 2 * i) as i32
  return unit < 0x80 ? load<u8>(marks + unit) : 3
}

/** The characters beyond ASCII that JavaScript's `trim` removes. */
function isSpace(unit: u16): bool {
  return unit >= 0xa0 && (unit == 0xa0 || unit == 0x1680 || (unit >= 0x2000 && unit <= 0x200a) || unit == 0x2028 || unit == 0x2029 || unit == 0x202f || unit == 0x205f || unit == 0x3000 || unit == 0xfeff)
}

/** Applies the QuickCheck of tables.ts to the beginning of a string, up to its first mark. */
export function mayBeWanted(quick: i32, from: i32, to: i32): bool {
  const marks = quick + 64
  let start = from
  while (start < to && load<u8>(marks + load<u8>(start)) == 2) start++
  const last = min(to, start + load<i32>(quick, 4))
  for (let at = start; at < last; at++) {
    const byte = load<u8>(at) as i32
    const mark = load<u8>(marks + byte)
    if (mark == 0) continue
    if (mark != 1) break
    if (byte == 0x2f || byte == 0x25) return true
    const second = start + 1 < to ? (load<u8>(start, 1) as i32) : 0
    if (load<u8>(quick + 320 + (((load<u8>(start) as i32) * 31 + second * 977 + (at - start + 1) * 131) & 4095)) == 1) return true
    break
  }
  const shortest = load<i32>(quick)
  return shortest > 0 && mayBeUuid(quick + 4416, start, to, shortest)
}

/** Whether a string may begin like a UUID; most differ in their first few bytes. */
function mayBeUuid(bytes: i32, from: i32, to: i32, shortest: i32): bool {
  if (to - from < shortest) return false
  for (let at = from; at < from + shortest; at++) {
    const kind = load<u8>(bytes + load<u8>(at))
    if (kind != 1) return kind == 2
  }
  return true
}

/** Whether a string has been reported in this scan; remembers it. */
function isKnown(from: i32, to: i32): bool {
  const size = to - from
  if (size > KNOWN_BYTES) return false
  const serial = load<i32>(SERIAL)
  const slot = KNOWN + slotOf(from, to) * KNOWN_SLOT
  if (load<i32>(slot) == serial && load<i32>(slot, 4) == size && isSame(slot + 16, from, size)) return true
  store<i32>(slot, serial)
  store<i32>(slot, size, 4)
  memory.copy(slot + 16, from, KNOWN_BYTES)
  return false
}

function slotOf(from: i32, to: i32): i32 {
  const size = to - from
  let mixed: u64 = size
  if (size >= 8) mixed += load<u64>(from) * 0x9e3779b97f4a7c15 + load<u64>(to - 8) * 0xc2b2ae3d27d4eb4f
  else for (let at = from; at < to; at++) mixed = mixed * 0x9e3779b97f4a7c15 + load<u8>(at)
  return ((mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9 >> 40) as i32 & (KNOWN_SLOTS - 1)
}

// @ts-ignore: decorator
@inline
function isSame(one: i32, other: i32, size: i32): bool {
  let at = 0
  for (; at + 16 <= size; at += 16) {
    if (!i8x16.all_true(i8x16.eq(v128.load(one + at), v128.load(other + at)))) return false
  }
  const rest = (1 << (size - at)) - 1
  return (i8x16.bitmask(i8x16.eq(v128.load(one + at), v128.load(other + at))) & rest) == rest
}
