// Decides where emphasis begins and ends (CommonMark 6.2), and which of the writer's marks a reader
// would not recognise.
import type { Draft, Mark } from '../line-draft.ts'

type Kind = 'space' | 'punctuation' | 'word'

/** How a reader classifies the characters beside a mark. */
interface Reading {
  /** Whether symbols are punctuation, as since CommonMark 0.31. */
  symbols: boolean
  /** The character that it looks past; none if empty. */
  skips: string
}

/** TABLE of how readers differ. GitHub's looks past the tildes beside asterisks. */
export const READINGS: readonly Reading[] = [
  { symbols: true, skips: '' },
  { symbols: false, skips: '' },
]
const ASTERISK_READINGS: readonly Reading[] = [...READINGS, { symbols: false, skips: '~' }]

/** TABLE of the classes of ASCII characters. All ASCII symbols are punctuation to every reader. */
const ASCII: readonly Kind[] = Array.from({ length: 128 }, (_, code) =>
  readKind(String.fromCharCode(code), true),
)

/** CommonMark's class of a character at the edge of a mark. */
function kindOf(char: string, symbols: boolean): Kind {
  if (char === '') return 'space'
  return ASCII[char.charCodeAt(0)] ?? readKind(char, symbols)
}

function readKind(char: string, symbols: boolean): Kind {
  if (/\s/.test(char)) return 'space'
  return (symbols ? /[\p{P}\p{S}]/u : /[\p{P}$+<=>^`|~]/u).test(char) ? 'punctuation' : 'word'
}

function charBefore(text: string, at: number): string {
  if (at === 0) return ''
  const low = text.charCodeAt(at - 1)
  return low >= 0xdc00 && low <= 0xdfff && at > 1 ? text.slice(at - 2, at) : text.charAt(at - 1)
}

function charAfter(text: string, at: number): string {
  const code = text.codePointAt(at)
  return code === undefined ? '' : String.fromCodePoint(code)
}

/** Left- and right-flanking (CommonMark 6.2), as one reader sees it. */
export function flanking(
  text: string,
  from: number,
  to: number,
  { symbols, skips }: Reading,
): { left: boolean; right: boolean; before: Kind; after: Kind } {
  while (text[from - 1] === skips) from--
  while (text[to] === skips) to++
  const before = kindOf(charBefore(text, from), symbols)
  const after = kindOf(charAfter(text, to), symbols)
  const left = after !== 'space' && (after !== 'punctuation' || before !== 'word')
  const right = before !== 'space' && (before !== 'punctuation' || after !== 'word')
  return { left, right, before, after }
}

/**
 * The marks that a reader would not recognise in their position (beside CJK text, or between
 * punctuation and a word): they are written as HTML.
 */
export function tagBrokenMarks(draft: Draft): Set<Mark> {
  const tagged = new Set<Mark>()
  if (draft.marks.length === 0) return tagged
  const ends = draft.marks.flatMap((mark) => [
    { mark, at: mark.open, opens: true },
    { mark, at: mark.close, opens: false },
  ])
  ends.sort((a, b) => a.at - b.at)
  // Writing a mark as a tag changes the context of its neighbours, so check again; a line that does
  // not converge is all tags.
  for (let round = 0; round < 4; round++) {
    const before = tagged.size
    const standing = ends.filter((end) => !tagged.has(end.mark))
    for (let i = 0; i < standing.length;) {
      const first = standing[i]
      if (!first) break
      let to = first.at + first.mark.length
      let last = i + 1
      let next = standing[last]
      while (next && next.at === to && next.mark.char === first.mark.char) {
        to += next.mark.length
        next = standing[++last]
      }
      const run = standing.slice(i, last)
      // A mark that ends where another begins, so that their characters would run together.
      for (const end of run) if (end.opens && !first.opens) tagged.add(end.mark)
      for (const reading of first.mark.char === '*' ? ASTERISK_READINGS : READINGS) {
        const { left, right } = flanking(draft.text, first.at, to, reading)
        if (first.opens ? !left : !right) for (const end of run) tagged.add(end.mark)
      }
      i = last
    }
    if (tagged.size === before) return tagged
  }
  return new Set(draft.marks)
}
