// Reads the Markdown of a page: lines are blocks in containers (CommonMark 5), with tables, toggles
// and equations in the form of this package's documents.
import { DOCUMENT, type Dialect } from './dialect.ts'
import { readInlines } from './inline-reader.ts'
import { Reading, type PageReading } from './reading.ts'

/** An open quote, or a list item, whose content has this indent. */
type Container = 'quote' | number

const MARKER = /^(?:([-*+])|(\d{1,9})[.)])(?: |$)/
const TASK = /^\[([ x])\] /
const DELIMITER = /\| --- (?:\| --- )*\|$/
const ALERT = /^\[!(?:note|tip|warning|danger)\]$/
const ADMONITION = /^:{3,}(note|tip|warning|danger|)$/
const OWN_ID = / \{#[^{}]+\}$/
const TAG_LINE = /^<\/?(?:details|summary)>$/

/** Reads one page. @param trace receives its words */
export function readMarkdownPage(
  markdown: string,
  trace: string[] | null = null,
  dialect: Dialect = DOCUMENT,
): PageReading {
  return readMarkdown(markdown, trace, dialect).finish()
}

/** Reads one page into a reading that has not been finished. */
export function readMarkdown(markdown: string, trace: string[] | null, dialect: Dialect): Reading {
  const reader = new BlockReader(trace, dialect)
  let from = 0
  while (from < markdown.length) {
    const end = markdown.indexOf('\n', from)
    const to = end < 0 ? markdown.length : end
    reader.line(markdown.slice(from, to), markdown, to + 1)
    from = to + 1
  }
  return reader.finish()
}

/** An open code block or equation. */
interface Fence {
  sign: string
  lines: string[]
  /** The containers around it. */
  depth: number
}

class BlockReader {
  readonly #reading: Reading
  #open: Container[] = []
  #paragraph = ''
  #fence: Fence | null = null
  #inTable = false
  #afterHeader = false
  #inSummary = false

  readonly #dialect: Dialect
  /** Open admonitions. */
  #admonitions = 0
  /** Whether the line has opened a quote. */
  #beganQuote = false

  constructor(trace: string[] | null, dialect: Dialect) {
    this.#reading = new Reading(trace, dialect.keepsNames, dialect.page)
    this.#dialect = dialect
  }

  finish(): Reading {
    this.#endParagraph()
    this.#endFence()
    return this.#reading
  }

  /** @param next the start of the next line in `markdown` */
  line(line: string, markdown: string, next: number): void {
    let [at, matched] = this.#continue(line)
    if (this.#fence && matched >= this.#fence.depth) return this.#fenced(line.slice(at))
    this.#endFence()
    if (matched < this.#open.length) {
      this.#endParagraph()
      this.#open.length = matched
    }
    this.#beganQuote = false
    at = this.#containers(line, at)
    const rest = at === 0 ? line : line.slice(at)
    if (rest.trim() === '') return this.#endParagraph()
    this.#leaf(rest, markdown, next)
  }

  /** How far the open containers continue in a line, and how many of them. */
  #continue(line: string): [at: number, matched: number] {
    let at = 0
    for (const [i, container] of this.#open.entries()) {
      if (container === 'quote') {
        if (line.charCodeAt(at) !== 0x3e) return [at, i]
        at += line.charCodeAt(at + 1) === 0x20 ? 2 : 1
        continue
      }
      let end = at
      while (end < at + container && line.charCodeAt(end) === 0x20) end++
      if (end < at + container && end < line.length) return [at, i]
      at = end
    }
    return [at, this.#open.length]
  }

  /** Opens the containers that begin in a line. @returns the start of their content */
  #containers(line: string, from: number): number {
    let at = from
    for (;;) {
      if (line.charCodeAt(at) === 0x3e) {
        this.#endParagraph()
        this.#reading.block('quotes')
        this.#open.push('quote')
        this.#beganQuote = true
        at += line.charCodeAt(at + 1) === 0x20 ? 2 : 1
        continue
      }
      const code = line.charCodeAt(at)
      const mayBegin =
        code === 0x2d || code === 0x2a || code === 0x2b || (code >= 0x30 && code <= 0x39)
      const rest = mayBegin ? line.slice(at) : ''
      const [marker = '', bullet, number] = (mayBegin && MARKER.exec(rest)) || []
      if (marker === '' || !this.#mayInterrupt(rest, marker, number)) return at
      this.#endParagraph()
      const sign = marker.trimEnd().length
      at += marker.length
      const task = bullet === undefined ? null : TASK.exec(line.slice(at))
      if (task) at += task[0].length
      this.#reading.block(
        task ? (task[1] === 'x' ? 'to_dos_done' : 'to_dos') : bullet ? 'bulleted' : 'numbered',
      )
      this.#open.push(sign + 1)
    }
  }

  /** Whether an item may interrupt a paragraph (CommonMark 5.2). */
  #mayInterrupt(rest: string, marker: string, number: string | undefined): boolean {
    if (this.#paragraph === '') return true
    return rest.length > marker.length && (number === undefined || number === '1')
  }

  #leaf(rest: string, markdown: string, next: number): void {
    const first = rest.charCodeAt(0)
    if (first === 0x7c && (this.#inTable || this.#isTable(markdown, next))) return this.#row(rest)
    this.#inTable = false
    if (this.#dialect.callouts !== 'quote' && this.#calloutLine(rest)) return
    const fence =
      first === 0x60 ? /^(`{3,})[^`]*$/.exec(rest) : first === 0x24 ? /^(\${2,})$/.exec(rest) : null
    if (fence) {
      this.#endParagraph()
      this.#fence = { sign: fence[1] ?? '', lines: [], depth: this.#open.length }
      return
    }
    if (first === 0x23 && /^#{1,6} /.test(rest)) {
      this.#endParagraph()
      if (!this.#inSummary) this.#reading.block('headings')
      const text = rest.replace(/^#+ /, '')
      this.#inlines(this.#dialect.headingIds ? text.replace(OWN_ID, '') : text)
      return this.#reading.gap()
    }
    if (rest === '***') {
      this.#endParagraph()
      return this.#reading.block('dividers')
    }
    if (first === 0x3c && this.#tagLine(rest)) return
    this.#paragraph += this.#paragraph === '' ? rest : `\n${rest}`
  }

  /** The line that begins a callout, or ends it. */
  #calloutLine(rest: string): boolean {
    if (this.#dialect.callouts === 'alert') return this.#beganQuote && ALERT.test(rest)
    const kind = ADMONITION.exec(rest)?.[1]
    if (kind === undefined || (kind === '' && this.#admonitions === 0)) return false
    this.#endParagraph()
    if (kind === '') this.#admonitions--
    else {
      this.#admonitions++
      this.#reading.block('quotes')
    }
    return true
  }

  /** A toggle's tags, and its summary if that is HTML. */
  #tagLine(rest: string): boolean {
    const summary = /^<summary>(.*)<\/summary>$/s.exec(rest)
    if (!summary && !TAG_LINE.test(rest)) return false
    this.#endParagraph()
    if (rest === '<details>') this.#reading.block('toggles')
    if (!summary) this.#inSummary = rest === '<summary>'
    if (summary) readInlines(summary[1] ?? '', this.#reading, 'html')
    this.#reading.gap()
    return true
  }

  /** Whether the next line makes this one a table's header. */
  #isTable(markdown: string, next: number): boolean {
    const end = markdown.indexOf('\n', next)
    return DELIMITER.test(markdown.slice(next, end < 0 ? markdown.length : end))
  }

  #row(rest: string): void {
    const isHeader = !this.#inTable
    if (isHeader) {
      this.#endParagraph()
      this.#reading.block('tables')
      this.#inTable = true
    } else if (/^\|(?: --- \|)+$/.test(rest) && this.#afterHeader) {
      this.#afterHeader = false
      return
    }
    this.#afterHeader = isHeader
    const cells = cellsOf(rest)
    this.#reading.row()
    for (const [column, cell] of cells.entries()) {
      const place = this.#reading.cell(column)
      this.#inlines(cell)
      this.#reading.endMaybe(place)
    }
    this.#reading.gap()
    if (isHeader && !this.#reading.rowShown) return
    this.#reading.counts.rows++
    this.#reading.counts.cells += cells.length
  }

  #fenced(rest: string): void {
    if (this.#fence && rest === this.#fence.sign) this.#endFence()
    else this.#fence?.lines.push(rest)
  }

  #endFence(): void {
    if (!this.#fence) return
    const { sign, lines } = this.#fence
    this.#fence = null
    const text = lines.join('\n')
    if (sign.startsWith('`')) return this.#reading.code(text)
    this.#reading.block('equations')
    this.#reading.equation(text)
  }

  #inlines(text: string): void {
    readInlines(text, this.#reading, this.#dialect.links === 'wiki' ? 'wiki' : 'markdown')
  }

  #endParagraph(): void {
    this.#inTable = false
    if (this.#paragraph === '') return
    this.#inlines(this.#paragraph)
    this.#reading.gap()
    this.#paragraph = ''
  }
}

/** The cells of a row, without the backslashes before their pipes (GFM 4.10). */
function cellsOf(row: string): string[] {
  const cells: string[] = []
  let from = 1
  for (let i = 1; i < row.length; i++) {
    const code = row.charCodeAt(i)
    if (code === 0x5c) i++
    else if (code === 0x7c) {
      const cell = row.slice(from, i).trim()
      cells.push(cell.includes('\\|') ? cell.replaceAll('\\|', '|') : cell)
      from = i + 1
    }
  }
  return cells
}
