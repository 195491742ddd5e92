// Splits a body that is not plain JSON into words: runs of bytes that a name can have. A word of
// several parts (`files/abc`, `ft:gpt-4o:acme::abc`) is reported with its parts. `\u…` and `\/`
// count as the character that they encode, and zeros are left out, so that UTF-16 reads as ASCII.
import {
  BINARY_WORDS, EVENT_COUNT, EVERY_WORD, FIRSTS, LONGEST_LENGTH, LONGEST_WORD, MAX_EVENTS, QUICK, SHORTEST, SHORTEST_WORD, WORDS, WORDS_FULL, WORD_AT, WORD_ESCAPE, WORD_ESCAPED, WORD_LONG,
  WORD_NARROW, WORD_WIDE,
} from '../layout'
import { mayBeWanted, tellString } from './events'

const BACKSLASH: i32 = 0x5c
const SLASH: i32 = 0x2f
const COLON: i32 = 0x3a
const SMALL_U: i32 = 0x75

/**
 * The class bits of bytes that can be in a part of a word. The others are those of `/`, `%` and
 * `:`, which separate parts, and of the backslash.
 */
const NARROW: u8 = 0x1f

/**
 * The classes of 16 bytes: for each, the bits that its low and its high hexadecimal digit have in
 * common in these tables.
 */
// @ts-ignore: decorator
@inline
function classesOf(bytes: v128): v128 {
  const byLast = i8x16(0x1a, 0x1e, 0x1e, 0x1e, 0x1e, 0x3e, 0x1e, 0x1e, 0x1e, 0x1e, 0x5c, 0x04, -0x7c, 0x05, 0x15, 0x2c)
  const byFirst = i8x16(0, 0, 0x21, 0x42, 0x04, -0x78, 0x04, 0x10, 0, 0, 0, 0, 0, 0, 0, 0)
  return v128.and(i8x16.swizzle(byLast, v128.and(bytes, i8x16.splat(0x0f))), i8x16.swizzle(byFirst, i8x16.shr_u(bytes, 4)))
}

/**
 * The address after the word so far; the addresses at which it and its last part begin; whether
 * either is too long to be reported.
 */
let at: i32 = 0
let wide: i32 = 0
let narrow: i32 = 0
let wideIsLong = false
let narrowIsLong = false
/**
 * Whether it holds a `/` or `%`: then any of its parts may be an id, also one that is spelled with
 * them.
 */
let isPath = false

/** Removes the zeros from the bytes from `start` to `end`. @returns their new end */
export function withoutZeros(start: i32, end: i32): i32 {
  let out = start
  let i = start
  for (; i + 16 <= end; i += 16) {
    const bytes = v128.load(i)
    if (i8x16.all_true(bytes)) {
      v128.store(out, bytes)
      out += 16
    } else {
      for (let byte = i; byte < i + 16; byte++) {
        const one = load<u8>(byte)
        store<u8>(out, one)
        out += i32(one != 0)
      }
    }
  }
  for (; i < end; i++) {
    const one = load<u8>(i)
    store<u8>(out, one)
    out += i32(one != 0)
  }
  return out
}

/**
 * Reads from `start` to `end`, which contain no zeros. Loads reach up to 64 bytes further.
 *
 * @returns the end of the bytes read: less than `end` if the words have to be read first
 */
export function words(start: i32, end: i32): i32 {
  enter()
  let i = at == wide && !wideIsLong && load<i32>(WORD_ESCAPE) == 0 ? skip(start, end) : start
  while (i < end && at < WORDS_FULL && load<i32>(EVENT_COUNT) < MAX_EVENTS - 8) {
    if (load<i32>(WORD_ESCAPE) > 0) {
      if (goOnWithEscape(load<u8>(i))) i++
      continue
    }
    const bytes = v128.load(i)
    const others = i8x16.bitmask(i8x16.eq(v128.and(classesOf(bytes), i8x16.splat(NARROW)), i8x16.splat(0)))
    const run = min(ctz(others | 0x10000), end - i)
    if (run > 0) {
      v128.store(at, bytes)
      at += run
      i += run
      if (at - wide > LONGEST_WORD) outgrow()
      if (run == 16 || i == end) continue
    }
    const byte = load<u8>(i++) as i32
    if (byte == BACKSLASH) store<i32>(WORD_ESCAPE, 1)
    else if (isWide(byte)) addWide(byte)
    else {
      endWord()
      i = skip(i, end)
    }
  }
  leave()
  return i
}

/**
 * Moves the word so far to the beginning of the memory for words, because all reported words have
 * been read.
 */
function enter(): void {
  const from = load<i32>(WORD_WIDE)
  if (from != WORDS) memory.copy(WORDS, from, load<i32>(WORD_AT) - from)
  at = load<i32>(WORD_AT) - from + WORDS
  narrow = load<i32>(WORD_NARROW) - from + WORDS
  wide = WORDS
  wideIsLong = (load<i32>(WORD_LONG) & 1) != 0
  narrowIsLong = (load<i32>(WORD_LONG) & 2) != 0
  isPath = (load<i32>(WORD_LONG) & 4) != 0
}

function leave(): void {
  store<i32>(WORD_AT, at)
  store<i32>(WORD_WIDE, wide)
  store<i32>(WORD_NARROW, narrow)
  store<i32>(WORD_LONG, i32(wideIsLong) | (i32(narrowIsLong) << 1) | (i32(isPath) << 2))
}

/**
 * From a place between words, the address of the next word that is, or may be, long enough, or of a
 * backslash. Shorter words cost nothing: 64 bytes are looked at together.
 */
function skip(start: i32, end: i32): i32 {
  let i = start
  while (i < end) {
    let word: u64 = 0
    let backslashes: u64 = 0
    for (let block = 0; block < 64; block += 16) {
      const classes = classesOf(v128.load(i + block))
      word |= (i8x16.bitmask(i8x16.gt_s(classes, i8x16.splat(0))) as u64) << block
      // Of the classes, only that of the backslash has the highest bit.
      backslashes |= (i8x16.bitmask(classes) as u64) << block
    }
    const limit = min(backslashes == 0 ? 64 : (ctz(backslashes) as i32), end - i)
    if (limit < 64) word &= ((1 as u64) << limit) - 1
    const two = word & (word >> 1)
    const six = two & (two >> 2) & (two >> 4)
    if (six != 0) return i + (ctz(six) as i32)
    if (limit == 0) return i
    const last = clz(~(word << (64 - limit))) as i32
    i += limit - last
    if (limit < 64) return i
  }
  return end
}

// @ts-ignore: decorator
@inline
function isWide(byte: i32): bool {
  return byte == SLASH || byte == COLON || byte == 0x25
}

function isNarrow(byte: i32): bool {
  const small = byte | 0x20
  return (small >= 0x61 && small <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte == 0x5f || byte == 0x2d || byte == 0x2e || byte == 0x7e
}

function add(byte: i32): void {
  store<u8>(at++, byte as u8)
  if (at - wide > LONGEST_WORD) outgrow()
}

function addWide(byte: i32): void {
  endPart()
  if (byte != COLON) isPath = true
  store<u8>(at++, byte as u8)
  narrow = at
  if (at - wide > LONGEST_WORD) outgrow()
}

/**
 * The word is too long to be reported, and perhaps its last part is, too. If not, that part is
 * kept.
 */
function outgrow(): void {
  wideIsLong = true
  wide = narrow
  if (at - narrow > LONGEST_WORD) narrowIsLong = true
  if (narrowIsLong) at = narrow
}

function endPart(): void {
  if (!narrowIsLong && at - narrow >= SHORTEST_WORD) tellWord(narrow, at, false)
  narrowIsLong = false
}

function endWord(): void {
  if (at == wide && !wideIsLong) return
  endPart()
  if (!wideIsLong && narrow != wide && at - wide >= SHORTEST_WORD) tellWord(wide, at, true)
  wideIsLong = false
  isPath = false
  // Reported words must not be moved.
  if (load<i32>(EVENT_COUNT) == 0) at = WORDS
  wide = at
  narrow = at
}

function tellWord(from: i32, to: i32, isWhole: bool): void {
  const isTold = isWhole ? isPath && load<i32>(SHORTEST) <= LONGEST_WORD : load<i32>(EVERY_WORD) != 0
  if (!isTold && !mayBeId(from, to)) return
  tellString(from, to, isWhole)
}

function mayBeId(from: i32, to: i32): bool {
  const firsts = load<i32>(FIRSTS)
  const quick = load<i32>(QUICK)
  const last = min(to - load<i32>(SHORTEST), from + (load<i32>(BINARY_WORDS) == 0 ? 0 : LONGEST_LENGTH))
  for (let start = from; start <= last; start++) {
    if (load<u8>(firsts + load<u8>(start)) == 1 && (quick == 0 || mayBeWanted(quick, start, to))) return true
  }
  return false
}

/** @returns false if the byte does not belong to the escape */
function goOnWithEscape(byte: i32): bool {
  const had = load<i32>(WORD_ESCAPE)
  if (had == 1 && byte == SLASH) {
    store<i32>(WORD_ESCAPE, 0)
    addWide(SLASH)
    return true
  }
  if (had == 1 ? (byte | 0x20) != SMALL_U : digitOf(byte) < 0) {
    giveUpEscape(had)
    return false
  }
  store<u8>(WORD_ESCAPED + had - 1, byte as u8)
  store<i32>(WORD_ESCAPE, had + 1)
  if (had < 5) return true
  store<i32>(WORD_ESCAPE, 0)
  let code = 0
  for (let i = 1; i < 5; i++) code = (code << 4) | digitOf(load<u8>(WORD_ESCAPED + i))
  if (isWide(code)) addWide(code)
  else if (code < 0x80 && isNarrow(code)) add(code)
  else endWord()
  return true
}

/** A backslash that escapes nothing separates words; the bytes after it are text. */
function giveUpEscape(had: i32): void {
  store<i32>(WORD_ESCAPE, 0)
  endWord()
  for (let i = 0; i < had - 1; i++) add(load<u8>(WORD_ESCAPED + i))
}

function digitOf(byte: i32): i32 {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const small = byte | 0x20
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1
}
