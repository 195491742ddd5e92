// The only place that escapes. It sees a whole line of Markdown (a paragraph, heading or cell) with the writer's marks in
// place, and adds the backslashes without which a person's own characters would mean something: no more than those.
// Rules: CommonMark 0.31 (https://spec.commonmark.org/0.31.2/), GFM (https://github.github.com/gfm/), `$` as in micromark's math.
import { decodeText } from './entities.ts'
import type { Draft, Mark } from './phrasing.ts'

/** A run of one character that could open or close a mark. */
interface Run {
  char: string
  from: number
  to: number
  opens: boolean
  closes: boolean
}

const TAG = { strong: 'strong', emphasis: 'em', delete: 'del' } as const
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/
const REFERENCE = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{0,31});/y

/** For each character of a text, 1 where something holds of it. */
type Flags = Uint8Array

/** The draft's text, escaped. */
export function escapeLine(draft: Draft): string {
  const tagged = tagBrokenMarks(draft)
  const escapes: Flags = new Uint8Array(draft.text.length + 1)
  const literals: Flags = new Uint8Array(draft.text.length + 1)
  for (const at of draft.literals) literals[at] = 1
  escapeLiterals(draft, literals, tagged, escapes)
  escapeBrackets(draft, escapes)
  if (draft.place === 'paragraph' || draft.place === 'item') escapeLineStarts(draft, literals, escapes)
  if (draft.place === 'heading') escapeClosingSequence(draft, escapes)
  breakAutolinks(draft, escapes)
  return apply(draft, tagged, escapes)
}

/** Puts the backslashes in, and HTML tags where marks would not be read as marks. */
function apply(draft: Draft, tagged: ReadonlySet<Mark>, escapes: Flags): string {
  const { text } = draft
  const tags = [...tagged].flatMap((mark) => [
    { at: mark.open, length: mark.length, tag: `<${TAG[mark.type]}>` },
    { at: mark.close, length: mark.length, tag: `</${TAG[mark.type]}>` },
  ])
  tags.sort((a, b) => a.at - b.at)
  tags.push({ at: text.length, length: 0, tag: '' })
  let out = ''
  let done = 0
  let escape = escapes.indexOf(1)
  for (const { at, length, tag } of tags) {
    for (; escape >= 0 && escape < at; escape = escapes.indexOf(1, escape + 1)) {
      out += `${text.slice(done, escape)}\\`
      done = escape
    }
    out += text.slice(done, at) + tag
    done = at + length
  }
  return out
}

// ── Marks ────────────────────────────────────────────────────────────────────────────────────────────────────────────

type Kind = 'space' | 'punctuation' | 'word'

/** What CommonMark takes a character for at the edge of a mark. Readers differ on symbols: 0.31 counts them as punctuation. */
function kindOf(char: string, symbols: boolean): Kind {
  if (char === '' || /\s/.test(char)) return 'space'
  return (symbols ? /[\p{P}\p{S}]/u : /[\p{P}$+<=>^`|~]/u).test(char) ? 'punctuation' : 'word'
}

function charBefore(text: string, at: number): string {
  if (at === 0) return ''
  const low = text.charCodeAt(at - 1)
  return low >= 0xdc00 && low <= 0xdfff && at > 1 ? text.slice(at - 2, at) : text[at - 1]!
}

function charAfter(text: string, at: number): string {
  const code = text.codePointAt(at)
  return code === undefined ? '' : String.fromCodePoint(code)
}

/** Left- and right-flanking (CommonMark 6.2), by the definition of punctuation that is asked for. */
function flanking(text: string, from: number, to: number, symbols: boolean): { left: boolean; right: boolean; before: Kind; after: Kind } {
  const before = kindOf(charBefore(text, from), symbols)
  const after = kindOf(charAfter(text, to), symbols)
  const left = after !== 'space' && (after !== 'punctuation' || before !== 'word')
  const right = before !== 'space' && (before !== 'punctuation' || after !== 'word')
  return { left, right, before, after }
}

/**
 * The marks that a reader would not take for marks where they stand (beside CJK text, or between punctuation and a
 * word): those are written as HTML.
 */
function tagBrokenMarks(draft: Draft): Set<Mark> {
  const tagged = new Set<Mark>()
  if (draft.marks.length === 0) return tagged
  const ends = draft.marks.flatMap((mark) => [
    { mark, at: mark.open, opens: true },
    { mark, at: mark.close, opens: false },
  ])
  ends.sort((a, b) => a.at - b.at)
  // Tagging a mark changes what stands beside its neighbours, so look again; a line that does not settle is all tags.
  for (let round = 0; round < 4; round++) {
    const before = tagged.size
    const standing = ends.filter((end) => !tagged.has(end.mark))
    for (let i = 0; i < standing.length; ) {
      const first = standing[i]!
      let to = first.at + first.mark.length
      let last = i + 1
      while (last < standing.length && standing[last]!.at === to && standing[last]!.mark.char === first.mark.char) to += standing[last++]!.mark.length
      const run = standing.slice(i, last)
      // A mark that ends where another begins: the characters would run together.
      for (const end of run) if (end.opens && !first.opens) tagged.add(end.mark)
      for (const symbols of [true, false]) {
        const { left, right } = flanking(draft.text, first.at, to, symbols)
        if (first.opens ? !left : !right) for (const end of run) tagged.add(end.mark)
      }
      i = last
    }
    if (tagged.size === before) return tagged
  }
  return new Set(draft.marks)
}

// ── Literals ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function escapeLiterals(draft: Draft, isLiteral: Flags, tagged: ReadonlySet<Mark>, escapes: Flags): void {
  const { text, literals, place } = draft
  if (literals.length === 0) return
  const emphasis: Run[] = []
  const backticks: { from: number; to: number }[] = []
  const dollars: number[] = []
  const brackets: number[] = []
  const lastGreater = text.lastIndexOf('>')
  for (let i = 0; i < literals.length; ) {
    const at = literals[i]!
    const char = text[at]!
    let to = at + 1
    i++
    switch (char) {
      case '\\':
        if (to < text.length && (ASCII_PUNCTUATION.test(text[to]!) || text[to] === '\n')) escapes[at] = 1
        break
      case '*':
      case '_':
      case '~':
        for (; literals[i] === to && text[to] === char; i++) to++
        emphasis.push(runOf(text, char, at, to))
        break
      case '`':
        for (; literals[i] === to && text[to] === char; i++) to++
        backticks.push({ from: at, to })
        break
      case '$':
        dollars.push(at)
        break
      case '<':
        if (/[a-zA-Z/!?]/.test(text[to] ?? '') && (lastGreater > at || isLineStart(text, at, place))) escapes[at] = 1
        break
      case '&':
        if (isReference(text, at)) escapes[at] = 1
        break
      case '|':
        if (place === 'cell') escapes[at] = 1
        break
      case '!':
        // Before a link, an exclamation mark would make it an image.
        if (text[to] === '[' && !isLiteral[to]) escapes[at] = 1
        break
      case '[':
        brackets.push(at)
        break
      case ']': {
        const open = brackets.pop()
        const next = text[to]
        // `[text](address)`, and a definition at the start of a block; other brackets mean nothing in a document without definitions.
        if (open !== undefined && (next === '(' || (next === ':' && open === 0))) escapes[open] = 1
        break
      }
    }
  }
  for (const char of ['*', '_', '~']) escapeRuns(emphasis, char, draft, tagged, escapes)
  escapeBackticks(backticks, draft, escapes)
  const hasMath = draft.spans.some((span) => text[span.from] === '$')
  if (dollars.length > 1 || hasMath) for (const at of dollars) escapes[at] = 1
}

/** Brackets in a link's text may stay where they pair up (CommonMark 6.3), but not before what would make a link of them. */
function escapeBrackets(draft: Draft, escapes: Flags): void {
  const { text, brackets, links } = draft
  let open: number[] = []
  let link = 0
  for (const at of brackets) {
    while (links[link]!.to <= at) {
      link++
      for (const unpaired of open) escapes[unpaired] = 1
      open = []
    }
    if (text[at] === '[') open.push(at)
    else {
      const from = open.pop()
      if (from === undefined || text[at + 1] === '(') escapes[at] = 1
      if (from !== undefined && text[at + 1] === '(') escapes[from] = 1
    }
  }
  for (const unpaired of open) escapes[unpaired] = 1
}

function isLineStart(text: string, at: number, place: Draft['place']): boolean {
  return (place === 'paragraph' || place === 'item') && (at === 0 || text[at - 1] === '\n')
}

function isReference(text: string, at: number): boolean {
  REFERENCE.lastIndex = at
  const reference = REFERENCE.exec(text)?.[0]
  return reference !== undefined && decodeText(reference) !== reference
}

/** Whether a run could open or close emphasis or strikethrough, by either definition of punctuation. */
function runOf(text: string, char: string, from: number, to: number): Run {
  const run: Run = { char, from, to, opens: false, closes: false }
  // Strikethrough knows one tilde or two (GFM 6.5).
  if (char === '~' && to - from > 2) return run
  for (const symbols of [true, false]) {
    const { left, right, before, after } = flanking(text, from, to, symbols)
    run.opens ||= char === '_' ? left && (!right || before === 'punctuation') : left
    run.closes ||= char === '_' ? right && (!left || after === 'punctuation') : right
  }
  return run
}

/** Escapes the runs of `char` that could pair with one another, or with a mark of the writer's. */
function escapeRuns(all: readonly Run[], char: string, draft: Draft, tagged: ReadonlySet<Mark>, escapes: Flags): void {
  const runs = all.filter((run) => run.char === char)
  if (runs.length === 0) return
  const beside = draft.marks.some((mark) => mark.char === char && !tagged.has(mark))
  const firstOpener = runs.findIndex((run) => run.opens)
  const lastCloser = runs.findLastIndex((run) => run.closes)
  runs.forEach((run, i) => {
    const pairs = (run.opens && lastCloser > i) || (run.closes && firstOpener >= 0 && firstOpener < i)
    if (pairs || (beside && (run.opens || run.closes))) for (let at = run.from; at < run.to; at++) escapes[at] = 1
  })
}

/** A run of backticks opens code only where another of the same length follows. */
function escapeBackticks(runs: readonly { from: number; to: number }[], draft: Draft, escapes: Flags): void {
  if (runs.length === 0) return
  const hasCode = draft.spans.some((span) => draft.text[span.from] === '`')
  if (runs.length === 1 && !hasCode) return
  for (const run of runs) for (let at = run.from; at < run.to; at++) escapes[at] = 1
}

// ── Places ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** TABLE of what a line could be taken for at its start: the test, and where the backslash goes. */
const LINE_STARTS: readonly { first: RegExp; test: RegExp; offset?: (match: RegExpExecArray) => number; only?: 'first' | 'later' | 'item' }[] = [
  { first: /#/, test: /^#{1,6}(?=[ \t]|$)/ }, // heading
  { first: />/, test: /^>/ }, // quote
  { first: /[-+*]/, test: /^[-+*](?=[ \t]|$)/, only: 'first' }, // item
  { first: /[-+*]/, test: /^[-+*](?=[ \t])/, only: 'later' },
    { first: /[-=]/, test: /^(?:-+|=+)[ \t]*$/, only: 'later' }, // underline of a heading
  { first: /\d/, test: /^\d{1,9}(?=[.)](?:[ \t]|$))/, offset: (match) => match[0].length, only: 'first' }, // numbered item
  { first: /[01]/, test: /^0{0,8}1(?=[.)](?:[ \t]|$))/, offset: (match) => match[0].length, only: 'later' },
  { first: /`/, test: /^`{3,}[^`]*$/ }, // fence
  { first: /[-:|]/, test: /^[-:| \t]+$/, only: 'later' }, // the line below a table's header
  { first: /\[/, test: /^\[[ \txX]\](?=[ \t]|$)/, only: 'item' }, // to-do
  { first: /\[/, test: /^\[![a-zA-Z]+\][ \t]*$/, only: 'first' }, // GitHub's alerts
]

function escapeLineStarts(draft: Draft, literals: Flags, escapes: Flags): void {
  const { text } = draft
  for (let from = 0; from <= text.length; ) {
    const newline = text.indexOf('\n', from)
    const end = newline < 0 ? text.length : newline
    escapeLineStart(draft, literals, from, end, escapes)
    from = end + 1
  }
}

function escapeLineStart(draft: Draft, literals: Flags, from: number, end: number, escapes: Flags): void {
  const { text, place } = draft
  const first = text[from]
  if (first === undefined || from === end) return
  // What the writer put there (a mark, code, a link) begins no block.
  if (/[*~`[]/.test(first) && !literals[from]) return
  if (first === '~' && text.startsWith('~~~', from)) {
    // A fence; each tilde, because two of them could still strike out.
    for (let at = from; text[at] === '~'; at++) escapes[at] = 1
    return
  }
  if (!/[#>+\-*_=\d`:|[]/.test(first)) return
  // The `\` of a hard break is not part of what the line says.
  const line = text.slice(from, text[end - 1] === '\\' && text[end] === '\n' ? end - 1 : end)
  if (isDivider(line)) escapes[from] = 1
  for (const row of LINE_STARTS) {
    if (!row.first.test(first)) continue
    if (row.only === 'item' ? place !== 'item' || from > 0 : row.only !== undefined && (row.only === 'first') !== (from === 0)) continue
    const match = row.test.exec(line)
    if (match) escapes[from + (row.offset?.(match) ?? 0)] = 1
  }
}

/** Three or more of one sign, blanks between (CommonMark 4.1). */
function isDivider(line: string): boolean {
  const sign = line[0]!
  if (!'-*_'.includes(sign)) return false
  let count = 0
  for (const char of line) {
    if (char === sign) count++
    else if (char !== ' ' && char !== '\t') return false
  }
  return count >= 3
}

/** A heading's own `#`s at its end would be taken for a closing sequence (CommonMark 4.2). */
function escapeClosingSequence(draft: Draft, escapes: Flags): void {
  const { text } = draft
  let from = text.length
  while (text[from - 1] === '#') from--
  if (from < text.length && (from === 0 || text[from - 1] === ' ' || text[from - 1] === '\t')) escapes[from] = 1
}

const AUTOLINK = /(?:https?:\/\/|www\.)[^\s<]+/gi
const AUTOLINK_TRAIL = '!"\'*,.:;?_~)'

/**
 * An address typed as text becomes a link by itself in GFM (6.9), with everything up to the next space. Where that would
 * swallow a mark or a backslash of ours, the address is kept from being one.
 */
function breakAutolinks(draft: Draft, escapes: Flags): void {
  const { text } = draft
  if (!/https?:\/\/|www\./i.test(text)) return
  // What of the writer's own an address must not swallow, besides backslashes.
  const points = [...draft.marks.flatMap((mark) => [mark.open, mark.close]), ...draft.spans.map((span) => span.from)].sort((a, b) => a - b)
  // Addresses in code, equations and links are none of GFM's business.
  const own = [...draft.spans, ...draft.links].sort((a, b) => a.from - b.from)
  let point = 0
  let next = 0
  AUTOLINK.lastIndex = 0
  for (let match = AUTOLINK.exec(text); match; match = AUTOLINK.exec(text)) {
    const from = match.index
    let to = from + match[0].length
    while (AUTOLINK_TRAIL.includes(text[to - 1]!)) to--
    while (next < own.length && own[next]!.to <= from) next++
    if (next < own.length && own[next]!.from <= from) {
      AUTOLINK.lastIndex = own[next]!.to
      continue
    }
    while (point < points.length && points[point]! <= from) point++
    const swallows = (point < points.length && points[point]! < to) || escapes.subarray(from, to).includes(1)
    if (swallows) escapes[from + (match[0].toLowerCase().startsWith('www') ? 3 : match[0].indexOf(':'))] = 1
  }
}
