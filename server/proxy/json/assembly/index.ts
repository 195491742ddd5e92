// Reads chosen values from JSON: the loop over the bytes. See scanner.ts for the events of a scan,
// and layout.ts for its state.
import {
  ACTIONS, AFTER_ITEM, AFTER_KEY, AFTER_MEMBER, CAPTURE_DEPTH, CAPTURE_NODE, CAPTURE_START, DEEPEST, DEPTH, EVENTS_OF_A_TOKEN, EVENT_COUNT, FIRSTS, HOLDS_ITEMS, IN_KEY, IN_SCALAR, IN_STRING,
  IS_LOOKED_INTO, IS_WANTED, ITEM_OR_END, KEY, KEY_OR_END, LAST_ODDITIES, LONGEST, LONGEST_ESCAPE, LONGEST_SCALAR, MAX_EVENTS, MISMATCH, NEXT, NODE_ANY, NODE_FIRSTS, NODE_FLAGS, NODE_ITEMS,
  ROOT, SHORTEST, STACK, STACK_ENTRY, STATE, STRICT, TABLE, TELLS_END, TEXT, TOKEN_START, VALUE,
} from '../layout'
import {
  QUOTE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, SKIP, BEGIN_STRING, BEGIN_KEY, BEGIN_SCALAR, OPEN, CLOSE, NEXT_ITEM, NEXT_KEY, EXPECT_VALUE, BEGIN_AGAIN,
} from './actions'
import { hand, tellClosed, tellOddity } from './events'
import { BREAKS, lookUp } from './keys'
import { broken, endCapture, resume, suspend } from './resume'
import { endOfJsonScalar, endOfScalar, INVALID, skipIntegers } from './scalars'
import { endOfString } from './strings'

export { withoutZeros, words } from './words'

// @ts-ignore: decorator
@inline
function flagsOf(table: i32, node: i32): i32 {
  return load<i32>(table + node, NODE_FLAGS)
}

/**
 * Reads from `start` to `end`, where there must be a delimiting byte. Loads reach up to 80 bytes
 * further.
 *
 * @returns the end of the bytes read: less than `end` if the events have to be read first
 */
export function scan(start: i32, end: i32): i32 {
  let i = start
  if (load<i32>(STATE) >= IN_STRING) {
    i = resume(start, end)
    if (load<i32>(STATE) >= IN_STRING) return end
  }
  return scanTokens(i, end)
}

/**
 * Reads on from between two values. Unwanted values are handled here, in local variables: this loop
 * is the main cost of scanning ordinary bodies.
 */
function scanTokens(start: i32, end: i32): i32 {
  const table = load<i32>(TABLE)
  const strict = load<i32>(STRICT) != 0
  const firsts = load<i32>(FIRSTS)
  const shortest = load<i32>(SHORTEST)
  const longestRaw = load<i32>(LONGEST) * LONGEST_ESCAPE
  let state = load<i32>(STATE)
  let next = load<i32>(NEXT)
  let entry = STACK + load<i32>(DEPTH) * STACK_ENTRY
  // The innermost container's node, and the state after one of its values.
  let at = load<i32>(entry)
  let behind = load<i32>(entry, 4)
  // The node of its items; the table's first node, which is unused, has none.
  let items = load<i32>(table + at, NODE_ITEMS)
  // The stack's entry of the value that is captured, or 0.
  let captured = load<i32>(CAPTURE_DEPTH) < 0 ? 0 : STACK + load<i32>(CAPTURE_DEPTH) * STACK_ENTRY
  let stop = end
  let i = start
  while (i < stop) {
    const byte = load<u8>(i) as i32
    const action = load<u8>(ACTIONS + ((state << 8) | byte)) as i32
    if (action == BEGIN_SCALAR) {
      if (next != 0 && (next != load<i32>(LAST_ODDITIES + 4 * MISMATCH) || flagsOf(table, next) & IS_WANTED)) {
        captured = meet(table, next, byte, i, entry, captured)
        stop = left(end)
      } else if (behind == AFTER_ITEM && captured != entry && byte - 0x30 < 10) {
        const item = skipIntegers(i, end)
        if (item > i) {
          i = item
          state = VALUE
          continue
        }
      }
      const last = strict ? endOfJsonScalar(i, end) : endOfScalar(i, end)
      if (last < 0) {
        if (last == INVALID || (strict && end - i > LONGEST_SCALAR)) return broken(end)
        store<i32>(TOKEN_START, strict ? i : 0)
        keepState(IN_SCALAR, entry, next, captured)
        return end
      }
      i = last
    } else if (action == BEGIN_STRING) {
      if (next != 0 && (next != load<i32>(LAST_ODDITIES + 4 * TEXT) || flagsOf(table, next) & IS_WANTED)) {
        captured = meet(table, next, byte, i, entry, captured)
        stop = left(end)
      }
      const from = i + 1
      i = endOfString(from, end)
      if (i < 0) {
        suspend(from, end, 0)
        keepState(IN_STRING, entry, 0, captured)
        return end
      }
      const size = i - 1 - from
      if (size >= shortest && size <= longestRaw && load<u8>(firsts + load<u8>(from)) != 0) {
        hand(from, i - 1)
        stop = left(end)
      }
    } else if (action == BEGIN_KEY) {
      const from = i + 1
      i = endOfString(from, end)
      if (at != 0) next = captured == 0 ? load<i32>(table + at, NODE_ANY) : 0
      if (i < 0) {
        suspend(from, end, at)
        keepState(IN_KEY, entry, next, captured)
        return end
      }
      if (at != 0) {
        const wanted = load<i32>(table + at, NODE_FIRSTS)
        if (wanted != 0 && load<u8>(table + wanted + load<u8>(from)) != 0) {
          next = lookUp(at, from, i - 1, entry, next, captured != 0)
          if (next == BREAKS) return broken(end)
          stop = left(end)
        }
      }
      const size = i - 1 - from
      if (size >= shortest && size <= longestRaw && load<u8>(firsts + load<u8>(from)) != 0) {
        hand(from, i - 1)
        stop = left(end)
      }
      state = AFTER_KEY
      if (i < end && load<u8>(i) == COLON) {
        i++
        state = VALUE
      }
      continue
    } else if (action == OPEN) {
      if (entry == STACK + DEEPEST * STACK_ENTRY) return broken(end)
      if (next != 0 && isMet(flagsOf(table, next), next, byte)) {
        captured = meet(table, next, byte, i, entry, captured)
        stop = left(end)
      }
      i++
      // The code of each closing bracket is that of the opening one plus two.
      if (load<u8>(i) == byte + 2 && i < end) {
        i++
        if (next != 0 && captured == 0 && flagsOf(table, next) & TELLS_END) {
          tellClosed(next)
          stop = left(end)
        }
      } else {
        at = next
        entry += STACK_ENTRY
        if (next != 0) store<i64>(entry, 0, 8)
        if (byte == OPEN_OBJECT) {
          behind = AFTER_MEMBER
          state = KEY_OR_END
          next = 0
          items = 0
        } else {
          behind = AFTER_ITEM
          state = ITEM_OR_END
          items = load<i32>(table + next, NODE_ITEMS)
          next = items
        }
        store<i64>(entry, ((behind as i64) << 32) | (at as i64))
        // Unwanted lists in lists.
        if (at == 0 && behind == AFTER_ITEM) {
          while (i < end && load<u8>(i) == OPEN_LIST && entry < STACK + DEEPEST * STACK_ENTRY) {
            entry += STACK_ENTRY
            store<i64>(entry, (AFTER_ITEM as i64) << 32)
            i++
          }
        }
        continue
      }
    } else if (action == CLOSE) {
      if (at != 0 && captured == 0 && flagsOf(table, at) & TELLS_END) {
        tellClosed(at)
        stop = left(end)
      }
      i++
      entry -= STACK_ENTRY
      at = load<i32>(entry)
      behind = load<i32>(entry, 4)
      items = load<i32>(table + at, NODE_ITEMS)
    } else {
      i++
      if (action == NEXT_ITEM) {
        next = items
        state = VALUE
      } else if (action == NEXT_KEY) state = KEY
      else if (action == EXPECT_VALUE) state = VALUE
      else if (action == SKIP) i = endOfSpace(i, end)
      else if (action == BEGIN_AGAIN) {
        i--
        next = load<i32>(ROOT)
        state = VALUE
      } else return broken(end)
      continue
    }
    // A value has ended before `i`.
    while (true) {
      if (captured == entry) {
        endCapture(i)
        captured = 0
        stop = left(end)
      }
      next = 0
      state = behind
      if (i >= stop) break
      const following = load<u8>(i) as i32
      // Usually a comma follows, or the container of the value ends.
      if (following == COMMA) {
        if (behind == AFTER_ITEM) {
          i++
          next = items
          state = VALUE
        } else if (behind == AFTER_MEMBER) {
          i++
          state = KEY
        }
        break
      }
      if (following == CLOSE_LIST ? behind != AFTER_ITEM : following != CLOSE_OBJECT || behind != AFTER_MEMBER) break
      if (at != 0 && captured == 0 && flagsOf(table, at) & TELLS_END) {
        tellClosed(at)
        stop = left(end)
      }
      i++
      entry -= STACK_ENTRY
      at = load<i32>(entry)
      behind = load<i32>(entry, 4)
      items = load<i32>(table + at, NODE_ITEMS)
    }
  }
  keepState(state, entry, next, captured)
  return i
}

/** Where the loop stops: immediately if there may be no room for the events of another token. */
// @ts-ignore: decorator
@inline
function left(end: i32): i32 {
  return load<i32>(EVENT_COUNT) > MAX_EVENTS - EVENTS_OF_A_TOKEN ? 0 : end
}

function keepState(state: i32, entry: i32, next: i32, captured: i32): void {
  store<i32>(STATE, state)
  store<i32>(DEPTH, (entry - STACK) / STACK_ENTRY)
  store<i32>(NEXT, next)
  store<i32>(CAPTURE_DEPTH, captured == 0 ? -1 : (captured - STACK) / STACK_ENTRY)
}

function endOfSpace(start: i32, end: i32): i32 {
  let at = start
  while (at < end) {
    const bytes = v128.load(at)
    const spaces = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x0a))),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x0d)), i8x16.eq(bytes, i8x16.splat(0x09))),
    )
    const others = ~i8x16.bitmask(spaces) & 0xffff
    if (others != 0) return min(at + ctz(others), end)
    at += 16
  }
  return end
}

/** Whether an object or list here is itself wanted, not just on the path to wanted values. */
// @ts-ignore: decorator
@inline
function isMet(flags: i32, next: i32, byte: i32): bool {
  if (flags & (byte == OPEN_OBJECT ? IS_LOOKED_INTO : HOLDS_ITEMS)) return false
  return (flags & IS_WANTED) != 0 || next != load<i32>(LAST_ODDITIES + 4 * MISMATCH)
}

/**
 * A value begins at the place of a wanted value, or of a container of some. @returns the stack's
 * entry of the value that is captured, or 0
 */
function meet(table: i32, next: i32, byte: i32, i: i32, entry: i32, captured: i32): i32 {
  const isObject = byte == OPEN_OBJECT
  const flags = flagsOf(table, next)
  const looked = (flags & IS_LOOKED_INTO) != 0
  if (flags & IS_WANTED) {
    if (captured != 0 || (isObject && looked)) return captured
    store<i32>(CAPTURE_NODE, next)
    store<i32>(CAPTURE_START, i)
    return entry
  }
  const items = (flags & HOLDS_ITEMS) != 0
  if (byte == QUOTE) {
    if (looked || items) tellOddity(TEXT, next)
    return captured
  }
  // `null` is the only scalar allowed anywhere: it means that there is no value.
  if (byte == 0x6e) return captured
  if (isObject ? looked : byte == OPEN_LIST ? items : !(looked || items)) return captured
  tellOddity(MISMATCH, next)
  return captured
}
