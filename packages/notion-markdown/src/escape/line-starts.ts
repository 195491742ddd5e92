// Escapes characters that have a meaning because of their place in the line: at its start, at its
// end, and in an address.
import type { Draft } from '../line-draft.ts'
import { beginsDirective } from './directives.ts'

/**
 * TABLE of blocks that the start of a line could begin: the test, and the lines that it applies to.
 * The backslash goes before the first character that is not a digit.
 */
const LINE_STARTS: readonly {
  test: RegExp
  only?: 'first' | 'later' | 'item' | 'later in item'
}[] = [
  { test: /^#{1,6}(?=[ \t]|$)/ }, // heading
  { test: /^>/ }, // quote
  { test: /^[-+*](?=[ \t]|$)/, only: 'first' }, // item
  { test: /^[-+*](?=[ \t])/, only: 'later' },
  { test: /^(?:-+|=+)[ \t]*$/, only: 'later' }, // underline of a heading
  { test: /^\d{1,9}(?=[.)](?:[ \t]|$))/, only: 'first' }, // numbered item
  { test: /^0{0,8}1(?=[.)](?:[ \t]|$))/, only: 'later' },
  { test: /^\d{1,9}(?=[.)][ \t])/, only: 'later in item' }, // an item to some readers, such as marked
  { test: /^`{3,}[^`]*$/ }, // fence
  { test: /^[-:| \t]+$/, only: 'later' }, // the line below a table's header
  { test: /^\[[ \txX]\](?=[ \t]|$)/, only: 'item' }, // to-do
  { test: /^\[![a-zA-Z]+\][ \t]*$/, only: 'first' }, // GitHub's alerts
]

/** Escapes the start of each line of a paragraph that would begin a block of another kind. */
export function escapeLineStarts(draft: Draft, typed: Uint8Array, escapes: Uint8Array): void {
  const { text } = draft
  for (let from = 0; from <= text.length;) {
    const newline = text.indexOf('\n', from)
    const end = newline < 0 ? text.length : newline
    escapeLineStart(draft, typed, from, end, escapes)
    from = end + 1
  }
}

function escapeLineStart(
  draft: Draft,
  typed: Uint8Array,
  from: number,
  end: number,
  escapes: Uint8Array,
): void {
  const { text, position } = draft
  const first = text[from]
  if (first === undefined || from === end) return
  // The writer's own syntax (a mark, code, a link) begins no block.
  if (/[*~`[]/.test(first) && !typed[from]) return
  if (first === '~' && text.startsWith('~~~', from)) {
    // A fence; each tilde is escaped, because two of them could still strike text out.
    for (let at = from; typed[at] === 1 && text[at] === '~'; at++) escapes[at] = 1
    return
  }
  if (!/[#>+\-*_=\d`:|[]/.test(first)) return
  // The `\` of a hard break is not part of the line's text.
  const line = text.slice(from, text[end - 1] === '\\' && text[end] === '\n' ? end - 1 : end)
  // In an item, the list's own marker precedes it.
  if (isThematicBreak(line, position === 'item' && from === 0 ? 1 : 3)) {
    // The whole first run: the rest of `___` could still close emphasis.
    for (let at = from; at === from || (text[at] === first && typed[at] === 1); at++)
      escapes[at] = 1
  }
  if (draft.syntax.directives && beginsDirective(text.slice(from, end))) escapes[from] = 1
  for (const row of LINE_STARTS) {
    const isItem = row.only === 'item' || row.only === 'later in item'
    if (isItem && position !== 'item') continue
    const isFirst = row.only === 'first' || row.only === 'item'
    if (row.only !== undefined && isFirst !== (from === 0)) continue
    if (row.test.test(line)) escapes[from + line.search(/\D/)] = 1
  }
}

/** `least` or more of one sign, with spaces between (CommonMark 4.1). */
function isThematicBreak(line: string, least: number): boolean {
  const [sign] = line
  if (sign === undefined || !'-*_'.includes(sign)) return false
  let count = 0
  for (const char of line) {
    if (char === sign) count++
    else if (char !== ' ' && char !== '\t') return false
  }
  return count >= (sign === '_' ? 3 : least)
}

/** A heading's own final `#`s would be read as a closing sequence (CommonMark 4.2). */
export function escapeClosingSequence(draft: Draft, escapes: Uint8Array): void {
  const { text } = draft
  let from = text.length
  while (text[from - 1] === '#') from--
  if (from < text.length && (from === 0 || text[from - 1] === ' ' || text[from - 1] === '\t'))
    escapes[from] = 1
}

/** The beginning of an address. */
const AUTOLINK = /https?:\/\/|www\./gi
/**
 * Characters that end an address for every reader; GitHub's includes other white space, such as
 * U+00A0.
 */
const AUTOLINK_END = /[ \t\n<]/g
const AUTOLINK_TRAIL = '!"\'*,.:;?_~)'

/** Whether a text ends in an address, which would continue with the text after it. */
export function endsInAutolink(text: string): boolean {
  const end = Math.max(...[' ', '\t', '\n', '<'].map((sign) => text.lastIndexOf(sign)))
  return text.slice(end + 1).search(AUTOLINK) >= 0
}

/**
 * An address typed as text becomes a link by itself in GFM (6.9), with everything up to the next
 * space. If that would include a mark or a backslash of ours, the address is escaped.
 */
export function breakAutolinks(draft: Draft, escapes: Uint8Array): void {
  const { text } = draft
  AUTOLINK.lastIndex = 0
  // Most lines have no address.
  if (!AUTOLINK.test(text)) return
  // Syntax of the writer that an address must not include, in addition to backslashes.
  const points = [
    ...draft.marks.flatMap((mark) => [mark.open, mark.close]),
    ...draft.spans.map((span) => span.from),
    ...draft.links.map((link) => link.from),
  ].sort((a, b) => a - b)
  // GFM ignores addresses in code, equations and links.
  const own = [...draft.spans, ...draft.links].sort((a, b) => a.from - b.from)
  let point = 0
  let next = 0
  // The end of the addresses that begin before the next space; the same without trailing
  // punctuation; the last backslash in them.
  let end = 0
  let to = 0
  let escaped = -1
  AUTOLINK.lastIndex = 0
  for (let match = AUTOLINK.exec(text); match; match = AUTOLINK.exec(text)) {
    const from = match.index
    while ((own[next]?.to ?? Infinity) <= from) next++
    const around = own[next]
    if (around && around.from <= from) {
      AUTOLINK.lastIndex = around.to
      continue
    }
    if (from >= end) {
      AUTOLINK_END.lastIndex = from
      end = to = AUTOLINK_END.exec(text)?.index ?? text.length
      while (to > from && AUTOLINK_TRAIL.includes(text.charAt(to - 1))) to--
      escaped = from + escapes.subarray(from, end + 1).lastIndexOf(1)
    }
    while ((points[point] ?? Infinity) <= from) point++
    const swallows = (points[point] ?? Infinity) < to || escaped >= from
    if (!swallows) AUTOLINK.lastIndex = end
    else escapes[from + (match[0].toLowerCase() === 'www.' ? 3 : match[0].indexOf(':'))] = 1
  }
}
