// Finds the positions of the parts of a JSON text, for code that removes some of it and keeps every
// other byte. Long texts are read in slices.

/** From the first character of a value to the one after its last. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** An array, from after its `[` to its `]`, and its items. */
export interface ArraySpans extends Span {
  readonly items: readonly Span[]
}

/** A member of an object: its name as written, with its quotes. */
export interface MemberSpans {
  readonly name: Span
  readonly value: Span
  /** Its items, if it is an array. */
  readonly array: ArraySpans | null
}

/** Divides long work into slices: called after each step, and awaited when a slice is over. */
export interface Slices {
  isOver(): boolean
  next(): Promise<void>
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** The index of the next character that is not JSON whitespace. */
export function skipSpace(text: string, at: number): number {
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** The end of the string that begins at an index; -1 if it has none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return -1
}

/** The end of the number or word that begins at an index. */
function endOfWord(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isSpace(code) || code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT) return at
    if (code === QUOTE || code === COLON || code === OPEN_LIST || code === OPEN_OBJECT) return at
  }
  return text.length
}

/** The value that begins at an index; null if none does. Linear, and without recursion. */
export function valueAt(text: string, from: number): Span | null {
  const first = text.charCodeAt(from)
  if (first === QUOTE) {
    const to = endOfString(text, from)
    return to < 0 ? null : { from, to }
  }
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    const to = endOfWord(text, from)
    return to === from ? null : { from, to }
  }
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at) - 1
      if (at < 0) return null
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++
    else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && --depth === 0)
      return { from, to: at + 1 }
  }
  return null
}

/** The items of the array that begins at an index; null if none does, or it is malformed. */
export async function itemsAt(
  text: string,
  at: number,
  slices: Slices,
): Promise<ArraySpans | null> {
  if (text.charCodeAt(at) !== OPEN_LIST) return null
  const from = at + 1
  const items: Span[] = []
  for (let next = skipSpace(text, from); ;) {
    if (text.charCodeAt(next) === CLOSE_LIST && items.length === 0) return { from, to: next, items }
    const item = valueAt(text, next)
    if (item === null) return null
    items.push(item)
    next = skipSpace(text, item.to)
    if (text.charCodeAt(next) === CLOSE_LIST) return { from, to: next, items }
    if (text.charCodeAt(next) !== COMMA) return null
    next = skipSpace(text, next + 1)
    if (slices.isOver()) await slices.next()
  }
}

/** The members of the object that begins at an index; null if none does, or it is malformed. */
export async function membersAt(
  text: string,
  at: number,
  slices: Slices,
): Promise<{ readonly members: readonly MemberSpans[]; readonly to: number } | null> {
  if (text.charCodeAt(at) !== OPEN_OBJECT) return null
  const members: MemberSpans[] = []
  for (let next = skipSpace(text, at + 1); ;) {
    if (text.charCodeAt(next) === CLOSE_OBJECT && members.length === 0)
      return { members, to: next + 1 }
    const name = text.charCodeAt(next) === QUOTE ? valueAt(text, next) : null
    if (name === null) return null
    const colon = skipSpace(text, name.to)
    if (text.charCodeAt(colon) !== COLON) return null
    const from = skipSpace(text, colon + 1)
    const array = await itemsAt(text, from, slices)
    const value = array === null ? valueAt(text, from) : { from, to: array.to + 1 }
    if (value === null) return null
    members.push({ name, value, array })
    next = skipSpace(text, value.to)
    if (text.charCodeAt(next) === CLOSE_OBJECT) return { members, to: next + 1 }
    if (text.charCodeAt(next) !== COMMA) return null
    next = skipSpace(text, next + 1)
    if (slices.isOver()) await slices.next()
  }
}
