// Typed text, character by character: finds those that Markdown would give a meaning.
import { decodeText } from '../entities.ts'
import type { Draft, Mark } from '../line-draft.ts'
import { READINGS, flanking } from './marks.ts'

const SPECIAL = /[\\`*_[\]<&~$|!]/g
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/
const REFERENCE = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{0,31});/y

/**
 * An e-mail address in angle brackets is a link (CommonMark 6.5), whatever its name begins with.
 */
const EMAIL = /<[\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z\d]/y

/** The possible effects of a run of `*`, `_` or `~`. */
const OPENS = 1
const CLOSES = 2

/**
 * Marks in `escapes` the characters that need a backslash because of themselves or their
 * neighbours.
 *
 * @param tagged the writer's marks that are written as HTML
 * @returns 1 for each special character that a person typed
 */
export function escapeLiterals(
  draft: Draft,
  tagged: ReadonlySet<Mark>,
  escapes: Uint8Array,
): Uint8Array {
  const line = new LiteralReader(draft, tagged, escapes)
  line.read()
  const { typed, runs, dollars } = line
  for (const char of ['*', '_', '~'] as const)
    escapeRuns(runs[char], char, draft, typed, tagged, escapes)
  escapeBackticks(runs['`'], draft, typed, escapes)
  if (dollars.length > 1 || holds(draft, '$')) for (const at of dollars) escapes[at] = 1
  return typed
}

/**
 * Reads the special characters of one line. It decides immediately about those whose meaning
 * depends on their position; runs and dollars, which form pairs, are collected.
 */
class LiteralReader {
  // Only indexes and flags: a hostile text has only special characters, and an object for each
  // would take too much memory.
  readonly typed: Uint8Array
  /** The starts of a character's runs. */
  readonly runs: Readonly<Record<'*' | '_' | '~' | '`', number[]>> = {
    '*': [],
    _: [],
    '~': [],
    '`': [],
  }
  readonly dollars: number[] = []
  readonly #draft: Draft
  readonly #escapes: Uint8Array
  /** The last `>`, a tag of the writer's included. */
  readonly #lastGreater: number
  /**
   * Whether code, an equation or an address contains `]:`, which would end the name of a
   * definition: readers look for definitions before they look for code.
   */
  readonly #endsInCode: boolean

  constructor(draft: Draft, tagged: ReadonlySet<Mark>, escapes: Uint8Array) {
    this.#draft = draft
    this.#escapes = escapes
    this.typed = new Uint8Array(draft.text.length + 1)
    let lastGreater = draft.text.lastIndexOf('>')
    for (const { close } of tagged) lastGreater = Math.max(lastGreater, close)
    this.#lastGreater = lastGreater
    this.#endsInCode = holds(draft, ']:')
  }

  read(): void {
    const { text, texts } = this.#draft
    const escapes = this.#escapes
    const outside: number[] = []
    SPECIAL.lastIndex = 0
    // The next special character of any text: if each text searched for its own, they would scan
    // the same range repeatedly.
    let match = SPECIAL.exec(text)
    for (const { from, to: end, linked } of texts) {
      // A link uses the brackets of its own text; earlier open brackets remain open after it.
      const brackets = linked ? [] : outside
      // GitHub reads no image there, but an exclamation mark before a footnote. A typed exclamation
      // mark is itself escaped.
      if (linked && text.startsWith('![^', from - 2) && !this.typed[from - 2]) escapes[from] = 1
      if (match && match.index < from) {
        SPECIAL.lastIndex = from
        match = SPECIAL.exec(text)
      }
      for (; match && match.index < end; match = SPECIAL.exec(text)) {
        const at = match.index
        this.typed[at] = 1
        if (match[0] === '[') this.#openBracket(at, brackets)
        else if (match[0] === ']') this.#closeBracket(at, brackets, linked)
        else this.#character(match[0], at, from, end)
      }
      if (linked) for (const open of brackets) escapes[open] = 1
    }
  }

  /** @param from the start of the surrounding text, and `end` its end */
  #character(char: string, at: number, from: number, end: number): void {
    const { text, position } = this.#draft
    const next = text[at + 1] ?? ''
    switch (char) {
      case '\\':
        if (next === '\n' || ASCII_PUNCTUATION.test(next)) this.#escapes[at] = 1
        break
      case '*':
      case '_':
      case '~':
      case '`':
        if (at === from || text[at - 1] !== char) this.runs[char].push(at)
        break
      case '$':
        this.dollars.push(at)
        break
      case '<':
        if (this.#beginsTag(at, next)) this.#escapes[at] = 1
        break
      case '&':
        if (isReference(text, at)) this.#escapes[at] = 1
        break
      case '|':
        if (position === 'cell') this.#escapes[at] = 1
        break
      case '!':
        // Before a link, an exclamation mark would make it an image.
        if (next === '[' && at + 1 === end) this.#escapes[at] = 1
        break
    }
  }

  #beginsTag(at: number, next: string): boolean {
    const { text, position } = this.#draft
    const ends = this.#lastGreater > at
    return /[a-zA-Z/!?]/.test(next)
      ? ends || isLineStart(text, at, position)
      : ends && standsAt(EMAIL, text, at)
  }

  #openBracket(at: number, brackets: number[]): void {
    const { text, position, syntax } = this.#draft
    // Two in a row begin an Obsidian link.
    const isWikiLink = syntax.obsidian && (text[at + 1] === '[' || text[at - 1] === '[')
    if (isWikiLink || (this.#endsInCode && beginsDefinition(text, at, position)))
      this.#escapes[at] = 1
    else brackets.push(at)
  }

  /** @param linked whether it is in a link's text */
  #closeBracket(at: number, brackets: number[], linked: boolean): void {
    const { text, position } = this.#draft
    const next = text[at + 1]
    const open = brackets.pop()
    // `[text](address)` and definitions; other pairs mean nothing in a document without
    // definitions.
    const means =
      open !== undefined &&
      (next === '(' || (next === ':' && isDefinition(text, open, at, position)))
    if (linked) {
      // In a link's text brackets must pair up (CommonMark 6.3).
      if (means) this.#escapes[open] = 1
      if (means || open === undefined) this.#escapes[at] = 1
    } else if (means && brackets.length === 0) this.#escapes[open] = 1
    else if (means) {
      // An outer bracket would replace an escaped one. This one remains open for another end; a
      // footnote's is escaped, too, because for GitHub its name ends at an escaped bracket.
      this.#escapes[at] = 1
      if (beginsDefinition(text, open, position) && text[open + 1] === '^') this.#escapes[open] = 1
      else brackets.push(open)
    }
  }
}

/**
 * The rest of a definition: an address, and at most a title (CommonMark 4.7). A `<` may be escaped,
 * and then begins an address.
 */
const DEFINED = /[ \t]*\n?[ \t]*(?:<[^<>\n]*>|[^ \t\n]+)[ \t]*(?:$|\n|["'(])/y

/**
 * Whether a bracket could begin the definition of a link (at the start of a block) or of a footnote
 * (at the start of any line).
 */
function beginsDefinition(text: string, open: number, place: Draft['position']): boolean {
  return isLineStart(text, open, place) && (open === 0 || text[open + 1] === '^')
}

/** Whether `[…]:` would be a definition. */
function isDefinition(
  text: string,
  open: number,
  close: number,
  place: Draft['position'],
): boolean {
  if (!beginsDefinition(text, open, place)) return false
  if (text[open + 1] === '^') return true
  return standsAt(DEFINED, text, close + 2)
}

function isLineStart(text: string, at: number, place: Draft['position']): boolean {
  return (place === 'paragraph' || place === 'item') && (at === 0 || text[at - 1] === '\n')
}

/** Whether a sticky pattern matches at an index. */
function standsAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

function isReference(text: string, at: number): boolean {
  REFERENCE.lastIndex = at
  const reference = REFERENCE.exec(text)?.[0]
  return reference !== undefined && decodeText(reference) !== reference
}

/**
 * The end of a run of `char` that begins at `from`: at another character, or at the writer's
 * syntax.
 */
function endOfRun(text: string, char: string, from: number, typed: Uint8Array): number {
  let to = from
  while (text[to] === char && typed[to] === 1) to++
  return to
}

/** Escapes the runs that could pair with one another, or with a mark of the writer's. */
function escapeRuns(
  starts: readonly number[],
  char: string,
  draft: Draft,
  typed: Uint8Array,
  tagged: ReadonlySet<Mark>,
  escapes: Uint8Array,
): void {
  if (starts.length === 0) return
  const roles = new Uint8Array(starts.length)
  let firstOpener = starts.length
  let lastCloser = -1
  for (const [i, from] of starts.entries()) {
    const role = roleOf(draft.text, char, from, endOfRun(draft.text, char, from, typed))
    roles[i] = role
    if (role & OPENS && i < firstOpener) firstOpener = i
    if (role & CLOSES) lastCloser = i
  }
  const beside = draft.marks.some((mark) => mark.char === char && !tagged.has(mark))
  for (const [i, from] of starts.entries()) {
    const role = roles[i] ?? 0
    const opens = (role & OPENS) !== 0 && (beside || lastCloser > i)
    const closes = (role & CLOSES) !== 0 && (beside || firstOpener < i)
    const end = endOfRun(draft.text, char, from, typed)
    // Next to a mark of the writer's they would merge with it, whatever they are alone.
    const touches = draft.text[end] === char || draft.text[from - 1] === char
    if (opens || closes || touches) escapes.fill(1, from, end)
  }
}

/**
 * Whether a run could open or close emphasis or strikethrough, by either definition of punctuation.
 */
function roleOf(text: string, char: string, from: number, to: number): number {
  let role = 0
  for (const reading of READINGS) {
    const { left, right, before, after } = flanking(text, from, to, reading)
    if (char === '_' ? left && (!right || before === 'punctuation') : left) role |= OPENS
    if (char === '_' ? right && (!left || after === 'punctuation') : right) role |= CLOSES
  }
  // Beside a mark of another kind micromark asks for less than CommonMark does.
  if ('*_~'.includes(text[to] || ' ')) role |= OPENS
  if ('*_~'.includes(text[from - 1] || ' ')) role |= CLOSES
  return role
}

/**
 * Whether the writer's code, equations or addresses contain `sign`, with which a typed one could
 * pair.
 */
function holds(draft: Draft, sign: string): boolean {
  return draft.spans.some((span) => draft.text.slice(span.from, span.to).includes(sign))
}

/** Whether an index is in a link's text; `links` includes images. */
function isInLink(draft: Draft, at: number): boolean {
  return draft.links.some(({ from, to }) => draft.text[from] === '[' && from < at && at < to)
}

/**
 * A run of backticks opens code only if another of the same length follows; in a link's text, some
 * readers then see no link.
 */
function escapeBackticks(
  starts: readonly number[],
  draft: Draft,
  typed: Uint8Array,
  escapes: Uint8Array,
): void {
  const [first] = starts
  if (first === undefined) return
  if (starts.length === 1 && !holds(draft, '`') && !isInLink(draft, first)) return
  for (const from of starts) escapes.fill(1, from, endOfRun(draft.text, '`', from, typed))
}
