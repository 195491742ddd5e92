// Strings, keys, numbers and literals that continue in the next piece.
import {
  AFTER_KEY, BROKEN, CAPTURE_DEPTH, CAPTURE_NODE, CAPTURE_START, DEPTH, ESCAPED, FIRSTS, IN_KEY, IN_SCALAR, IN_STRING, LONGEST, LONGEST_ESCAPE, LONGEST_KEY, LONGEST_SCALAR, NEXT, NODE_FIRSTS, SHORTEST,
  STACK, STACK_ENTRY, STATE, STRICT, TABLE, TOKEN_START,
} from '../layout'
import { hand, tellValue } from './events'
import { BREAKS, lookUp } from './keys'
import { endOfJsonScalar, endOfScalar, INCOMPLETE, INVALID } from './scalars'
import { endOfString } from './strings'

/** The longest string that may be wanted whole. */
// @ts-ignore: decorator
@inline
function longestKept(): i32 {
  return max(LONGEST_KEY, load<i32>(LONGEST) * LONGEST_ESCAPE)
}

/** The piece ends within a string or key that began at `from`. @param at the object of the key */
export function suspend(from: i32, end: i32, at: i32): void {
  store<i32>(TOKEN_START, isKept(from, end, at) ? from : 0)
}

/** Whether the begun string or key may be wanted whole. */
function isKept(from: i32, end: i32, at: i32): bool {
  if (from == end) return true
  if (end - from > longestKept()) return false
  const first = load<u8>(from)
  if (load<u8>(load<i32>(FIRSTS) + first) != 0) return true
  const table = load<i32>(TABLE)
  const firsts = at == 0 ? 0 : load<i32>(table + at, NODE_FIRSTS)
  return firsts != 0 && load<u8>(table + firsts + first) != 0
}

/**
 * Continues a token from the previous piece. @returns its end; the state says whether it has ended
 */
export function resume(start: i32, end: i32): i32 {
  const state = load<i32>(STATE)
  const token = load<i32>(TOKEN_START)
  if (state == IN_SCALAR) return resumeScalar(token, start, end)
  if (state == BROKEN) return end
  const entry = STACK + load<i32>(DEPTH) * STACK_ENTRY
  const at = state == IN_KEY ? load<i32>(entry) : 0
  const last = endOfString(start + load<i32>(ESCAPED), end)
  if (last < 0) {
    if (token != 0 && !isKept(token, end, at)) store<i32>(TOKEN_START, 0)
    return end
  }
  store<i32>(TOKEN_START, 0)
  if (state == IN_KEY) store<i32>(STATE, AFTER_KEY)
  if (token != 0 && last - 1 > token) {
    const size = last - 1 - token
    const first = load<u8>(token)
    if (state == IN_KEY && at != 0) {
      const table = load<i32>(TABLE)
      const firsts = load<i32>(table + at, NODE_FIRSTS)
      if (firsts != 0 && load<u8>(table + firsts + first) != 0) {
        const next = lookUp(at, token, last - 1, entry, load<i32>(NEXT), load<i32>(CAPTURE_DEPTH) >= 0)
        if (next == BREAKS) return broken(end)
        store<i32>(NEXT, next)
      }
    }
    if (size >= load<i32>(SHORTEST) && size <= load<i32>(LONGEST) * LONGEST_ESCAPE && load<u8>(load<i32>(FIRSTS) + first) != 0) hand(token, last - 1)
  }
  if (state == IN_STRING) endValue(last)
  return last
}

/** A number or literal that began in an earlier piece. */
function resumeScalar(token: i32, start: i32, end: i32): i32 {
  const strict = load<i32>(STRICT) != 0
  const last = strict ? endOfJsonScalar(token, end) : endOfScalar(start, end)
  if (last == INVALID || (last == INCOMPLETE && strict && end - token > LONGEST_SCALAR)) return broken(end)
  if (last == INCOMPLETE) return end
  store<i32>(TOKEN_START, 0)
  endValue(last)
  return last
}

/** A value ends before `i`. */
function endValue(i: i32): void {
  const depth = load<i32>(DEPTH)
  if (load<i32>(CAPTURE_DEPTH) == depth) {
    endCapture(i)
    store<i32>(CAPTURE_DEPTH, -1)
  }
  store<i32>(NEXT, 0)
  store<i32>(STATE, load<i32>(STACK + depth * STACK_ENTRY, 4))
}

/** The value that is captured ends before `end`. */
export function endCapture(end: i32): void {
  tellValue(load<i32>(CAPTURE_NODE), load<i32>(CAPTURE_START), end)
}

/** The bytes are not JSON. */
export function broken(end: i32): i32 {
  store<i32>(STATE, BROKEN)
  return end
}
