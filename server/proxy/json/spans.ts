// Where the parts of a JSON text stand, for who has to take something out of it and leave every
// other byte as it is.

/** From the first character of a value to the one behind its last. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** An array, from behind its `[` to its `]`, and its items. */
export interface ArraySpans extends Span {
  readonly items: readonly Span[]
}

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\]|\\[^])*"/y
/** What stands between two characters that open, close or begin a string. */
const PLAIN = /[^"[\]{}]*/y
/** A number or a word. */
const WORD = /[^\s,\]}"[{:]+/y

/** Where a pattern that matches at a place ends; -1 where it does not match. */
function behind(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

export const skipSpace = (text: string, at: number): number => behind(SPACE, text, at)

/** The value that begins at a place; null where none does. Linear, and without recursion. */
export function valueAt(text: string, from: number): Span | null {
  const first = text[from]
  if (first !== '{' && first !== '[') {
    const to = behind(first === '"' ? STRING : WORD, text, from)
    return to < 0 ? null : { from, to }
  }
  let depth = 0
  for (let at = from; at < text.length;) {
    const char = text[at]
    if (char === '"') {
      at = behind(STRING, text, at)
      if (at < 0) return null
      continue
    }
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    at++
    if (depth === 0) return { from, to: at }
    at = behind(PLAIN, text, at)
  }
  return null
}

/** The items of the array that begins at a place; null where none does, or it is malformed. */
export function itemsAt(text: string, at: number): ArraySpans | null {
  if (text[at] !== '[') return null
  const from = at + 1
  const items: Span[] = []
  for (let next = skipSpace(text, from); ;) {
    if (text[next] === ']' && items.length === 0) return { from, to: next, items }
    const item = valueAt(text, next)
    if (item === null) return null
    items.push(item)
    next = skipSpace(text, item.to)
    if (text[next] === ']') return { from, to: next, items }
    if (text[next] !== ',') return null
    next = skipSpace(text, next + 1)
  }
}

/**
 * The members of the object that begins at a place: names as they are spelled, with their quotes,
 * and values; null where none does, or it is malformed.
 */
export function membersAt(
  text: string,
  at: number,
): {
  readonly members: readonly (readonly [name: Span, value: Span])[]
  readonly to: number
} | null {
  if (text[at] !== '{') return null
  const members: (readonly [Span, Span])[] = []
  for (let next = skipSpace(text, at + 1); ;) {
    if (text[next] === '}' && members.length === 0) return { members, to: next + 1 }
    const name = text[next] === '"' ? valueAt(text, next) : null
    if (name === null) return null
    const colon = skipSpace(text, name.to)
    const value = text[colon] === ':' ? valueAt(text, skipSpace(text, colon + 1)) : null
    if (value === null) return null
    members.push([name, value])
    next = skipSpace(text, value.to)
    if (text[next] === '}') return { members, to: next + 1 }
    if (text[next] !== ',') return null
    next = skipSpace(text, next + 1)
  }
}
