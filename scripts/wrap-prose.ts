// Wraps the prose of Markdown pages, so that every page has lines of the same width. Tables, code,
// headings and HTML stay as they are.

/** Columns. */
export const WIDTH = 100

/** The beginning of a list item or a quote, with its marker. */
const MARKER = /^(?:> ?)+|^(?:[-*+]|\d+[.)]) +/
/** Lines that are not prose: headings, tables, HTML, comments, definitions, rules. */
const OTHER = /^(?:#{1,6} |\||<|\[[^\]]+\]: |(?:[-*_] *){3,}$|=+$)/
/** What would begin another block at the start of a line. */
const BLOCK = /^(?:[-*+>|<=]|#{1,6}$|\d+[.)]$)/

/** A paragraph: the prefixes of its first line and of the others, and its words. */
interface Paragraph {
  readonly first: string
  readonly rest: string
  readonly lines: string[]
}

/** A Markdown page with its prose wrapped. */
export function wrapProse(page: string): string {
  const out: string[] = []
  let paragraph: Paragraph | null = null
  let fence: string | null = null
  const end = (): void => {
    if (paragraph) out.push(...wrap(paragraph))
    paragraph = null
  }
  for (const line of page.split('\n')) {
    const text = line.trimStart()
    const mark = /^(?:```+|~~~+)/.exec(text)?.[0] ?? null
    if (fence !== null || mark !== null || text === '' || OTHER.test(text)) {
      end()
      out.push(line)
      if (fence === null) fence = mark
      else if (text === fence) fence = null
      continue
    }
    const indent = line.slice(0, line.length - text.length)
    const marker = MARKER.exec(text)?.[0]
    if (marker !== undefined) end()
    if (paragraph === null) {
      const first: string = indent + (marker ?? '')
      const rest = marker?.startsWith('>') === true ? first : ' '.repeat(first.length)
      paragraph = { first, rest, lines: [] }
    }
    paragraph.lines.push(text.slice(marker?.length ?? 0))
  }
  end()
  return out.join('\n')
}

function wrap({ first, rest, lines }: Paragraph): string[] {
  const wrapped: string[] = []
  let line = first
  let isEmpty = true
  for (const word of wordsOf(lines.join(' '))) {
    const isFull = !isEmpty && line.length + 1 + word.length > WIDTH
    if (isFull) {
      wrapped.push(line)
      line = rest + word
    } else line += (isEmpty ? '' : ' ') + word
    isEmpty = false
  }
  return [...wrapped, line]
}

/** The words of a text. One that would begin another block stays behind the word before it. */
function wordsOf(text: string): string[] {
  const words: string[] = []
  // Code stays on one line.
  for (const [word] of text.matchAll(/(?:`[^`]*`|[^\s`]|`)+/g)) {
    const last = words.length - 1
    if (last >= 0 && BLOCK.test(word)) words[last] += ` ${word}`
    else words.push(word)
  }
  return words
}
