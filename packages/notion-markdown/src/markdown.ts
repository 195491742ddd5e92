// Writes a tree as Markdown. Between siblings, only `gap` decides whether there is a blank line.
import { calloutStart } from './callout-syntax.ts'
import type { Callout } from './tree.ts'
import { Pieces } from './pieces.ts'
import { longestRun, writeInline } from './phrasing.ts'
import { NO_EXTRA_SYNTAX, type ExtraSyntax } from './extra-syntax.ts'
import { PART_END, SourceMarks, type BlockSource, type PartKind } from './source-marks.ts'
import { slugTarget } from './links.ts'
import { needsMarkdown, writeSummary } from './summary.ts'
import {
  plainText,
  type Block,
  type Blockquote,
  type Code,
  type Depth,
  type Details,
  type Inline,
  type List,
  type ListItem,
  type MathBlock,
  type Root,
  type Table,
} from './tree.ts'

/** A heading of the document, in order. */
export interface Outline {
  /** The heading's block id in Notion; null if it has none. */
  id: string | null
  text: string
  /** Whether it can have an id of its own, because programs give it no anchor of theirs. */
  hasOwnId?: true
}

/** Markdown and its headings. Unresolved addresses are between markers (links.ts). */
export interface Written {
  markdown: string
  outline: Outline[]
}

/**
 * Maximum length of all prefixes of a document's lines, in characters; beyond it, no line has one.
 * Only hostile pages reach it.
 */
const PREFIX_BUDGET = 64 * 1024 * 1024

/**
 * Writes a tree as CommonMark + GFM + math: LF, one final newline.
 *
 * @param source the blocks of the tree, if they are known: the text then has marks
 *   (source-marks.ts)
 * @param syntax additional syntax of the pages' program
 */
export function writeMarkdown(
  root: Root,
  source?: BlockSource,
  syntax: ExtraSyntax = NO_EXTRA_SYNTAX,
): Written {
  const writer = new Writer(source ? new SourceMarks(source) : null, syntax)
  writer.blocks(root.children, '', false)
  writer.text.add('\n')
  return { markdown: writer.text.toString(), outline: writer.outline }
}

class Writer {
  readonly text = new Pieces()
  readonly outline: Outline[] = []
  #budget = PREFIX_BUDGET
  readonly #marks: SourceMarks | null
  readonly #syntax: ExtraSyntax

  constructor(marks: SourceMarks | null, syntax: ExtraSyntax) {
    this.#marks = marks
    this.#syntax = syntax
  }

  /**
   * Writes siblings, with `prefix` before each line (the first line already has it). `tight`: in a
   * list item.
   */
  blocks(blocks: readonly Block[], prefix: string, tight: boolean): void {
    let last: Block | undefined
    let marker = 0
    for (const block of blocks) {
      if (last) this.#newline(prefix, gap(last, block, tight))
      marker =
        last?.type === 'list' && block.type === 'list' && last.ordered === block.ordered
          ? 1 - marker
          : 0
      const outer = this.#marks && this.#marks.enter(block)
      this.#block(block, prefix, tight && !last, marker)
      this.#marks?.leave(outer)
      last = block
    }
  }

  /** Begins a part of the text that comes from one block. */
  #begin(kind: PartKind, level = 0): void {
    if (this.#marks) this.text.add(this.#marks.begin(kind, level))
  }

  #end(): void {
    if (this.#marks) this.text.add(PART_END)
  }

  /** The marker of an item or a quote, before its content. */
  #sign(sign: string): void {
    if (this.#marks) this.#marks.lead(sign)
    else this.text.add(sign)
  }

  #block(block: Block, prefix: string, beginsItem: boolean, marker: number): void {
    switch (block.type) {
      case 'paragraph':
        this.#begin('other')
        this.#lines(
          writeInline(block.children, beginsItem ? 'item' : 'paragraph', this.#syntax),
          prefix,
        )
        this.#end()
        break
      case 'heading':
        this.#outlined(block.id, block.children, false)
        this.#begin('heading', block.depth)
        this.text.add(this.#heading(block.depth, block.children))
        this.#end()
        break
      case 'list':
        this.#list(block, prefix, marker)
        break
      case 'blockquote':
        this.#quote(block, prefix)
        break
      case 'code':
        this.#code(block, prefix)
        break
      case 'math':
        this.#math(block, prefix)
        break
      case 'table':
        this.#table(block, prefix)
        break
      case 'thematicBreak':
        this.#begin('other')
        this.text.add('***')
        this.#end()
        break
      case 'details':
        this.#details(block, prefix)
        break
    }
  }

  /** Adds a heading to the outline. */
  #outlined(id: string | null, children: readonly Inline[], isHtml: boolean): void {
    const text = plainText(children)
    const hasOwnId = isHtml || this.#endsInId(text)
    this.outline.push({ id, text, ...(hasOwnId && { hasOwnId }) })
  }

  /** The last heading of the outline. A typed id at its end is text if another one follows. */
  #heading(depth: Depth, children: readonly Inline[]): string {
    const line = `${'#'.repeat(depth)} ${writeInline(children, 'heading', this.#syntax)}`
    return this.#endsInId(plainText(children)) ? `${line} {#${this.#anchor}}` : line
  }

  /** Whether a program would take the end of a heading for its id. */
  #endsInId(text: string): boolean {
    return this.#syntax.headingIds && TYPED_ID.test(text)
  }

  /** Ends the line; `blank` puts an empty one below it. */
  #newline(prefix: string, blank: boolean): void {
    const before = this.#affordable(prefix, blank ? 2 : 1)
    if (this.#marks) this.text.add(this.#marks.takeLead())
    this.text.add(blank ? `\n${before.trimEnd()}\n${before}` : `\n${before}`)
  }

  #lines(text: string, prefix: string): void {
    this.text.add(prefix !== '' && text.includes('\n') ? this.#prefixed(text, prefix) : text)
  }

  /**
   * Text whose lines, except the first, are prefixed by `prefix`; empty lines by its visible part.
   */
  #prefixed(text: string, prefix: string): string {
    const lines = text.split('\n')
    const before = this.#affordable(prefix, lines.length)
    return lines
      .map((line, i) => (i === 0 ? line : line === '' ? before.trimEnd() : before + line))
      .join('\n')
  }

  /** The prefix for this many lines, or none once the budget is used up. */
  #affordable(prefix: string, lines: number): string {
    this.#budget -= prefix.length * lines
    return this.#budget >= 0 ? prefix : ''
  }

  #list(list: List, prefix: string, marker: number): void {
    const bullet = chooseBullet(list, marker)
    for (const [i, item] of list.children.entries()) {
      if (i > 0) this.#newline(prefix, false)
      const sign = list.ordered
        ? `${Math.min((list.start ?? 1) + i, 999_999_999)}${marker === 0 ? '.' : ')'}`
        : bullet
      const outer = this.#marks && this.#marks.enter(item)
      this.#marks?.open()
      this.#item(item, sign, prefix)
      if (this.#marks) this.text.add(this.#marks.takeLead())
      this.#marks?.close()
      this.#marks?.leave(outer)
    }
  }

  #item(item: ListItem, sign: string, prefix: string): void {
    const inside = prefix + ' '.repeat(sign.length + 1)
    this.#sign(sign)
    const [first] = item.children
    if (item.checked !== null) {
      // GFM reads a box only before text; an empty to-do has a reference to a space.
      this.#sign(item.checked ? ' [x] ' : ' [ ] ')
      if (first?.type !== 'paragraph') {
        this.#sign('&#x20;')
        if (first) this.#newline(inside, gap(EMPTY, first, true))
      }
    } else if (first?.type === 'list') {
      // An item without its own words: its list begins on the next line, so that the markers cannot
      // become a divider.
      this.#newline(inside, false)
    } else if (first) this.#sign(' ')
    this.blocks(item.children, inside, true)
  }

  #quote(quote: Blockquote, prefix: string): void {
    const inside = `${prefix}> `
    if (quote.callout?.style === 'admonition') return this.#admonition(quote, quote.callout, prefix)
    this.#marks?.open()
    this.#sign('> ')
    if (quote.callout) {
      this.#sign(calloutStart(quote.callout))
      this.#newline(inside, false)
    }
    this.blocks(quote.children, inside, false)
    this.#marks?.close()
  }

  #admonition({ children }: Blockquote, callout: Callout, prefix: string): void {
    this.text.add(calloutStart(callout))
    this.#newline(prefix, true)
    this.blocks(children, prefix, false)
    this.#newline(prefix, true)
    this.text.add(':'.repeat(3 + callout.inside))
  }

  #code(code: Code, prefix: string): void {
    const fence = '`'.repeat(Math.max(3, longestRun(code.value, '`') + 1))
    this.#begin('other')
    this.#lines(
      `${fence}${(code.lang ?? '').replace(/[`\s]+/g, ' ')}\n${code.value}\n${fence}`,
      prefix,
    )
    this.#end()
  }

  #math(math: MathBlock, prefix: string): void {
    const fence = '$'.repeat(Math.max(2, longestRun(math.value, '$') + 1))
    this.#begin('other')
    this.#lines(`${fence}\n${math.value}\n${fence}`, prefix)
    this.#end()
  }

  #table(table: Table, prefix: string): void {
    this.#marks?.open()
    table.children.forEach((row, i) => {
      if (i > 0) this.#newline(prefix, false)
      const outer = this.#marks && this.#marks.enter(row)
      this.#begin(i === 0 ? 'header' : 'row')
      for (const cell of row.children)
        this.text.add(`| ${writeInline(cell.children, 'cell', this.#syntax)} `)
      this.text.add('|')
      if (i === 0) {
        this.#newline(prefix, false)
        this.text.add(`${'| --- '.repeat(row.children.length)}|`)
      }
      this.#end()
      this.#marks?.leave(outer)
    })
    this.#marks?.close()
  }

  /** A toggle's title, in HTML; as Markdown between blank lines if HTML cannot express it. */
  #summary({ summary, depth }: Details, prefix: string): void {
    if (!needsMarkdown(summary))
      return this.text.add(`<summary>${writeSummary(summary, depth, this.#anchor)}</summary>`)
    this.text.add('<summary>')
    this.#newline(prefix, true)
    if (depth === null) this.#lines(writeInline(summary, 'paragraph', this.#syntax), prefix)
    else this.text.add(this.#heading(depth, summary))
    this.#newline(prefix, true)
    this.text.add('</summary>')
  }

  /** The id to write at the last heading of the outline; null if the program takes no such ids. */
  get #anchor(): string | null {
    return this.#syntax.headingIds ? slugTarget(this.outline.length - 1) : null
  }

  #details(details: Details, prefix: string): void {
    const { depth, id, summary, children } = details
    if (depth !== null) this.#outlined(id, summary, !needsMarkdown(summary))
    this.#marks?.open()
    this.#begin(depth === null ? 'toggle' : 'toggle-heading', depth ?? 0)
    this.text.add('<details>')
    this.#newline(prefix, false)
    this.#summary(details, prefix)
    this.#end()
    this.#newline(prefix, true)
    if (children.length > 0) {
      this.blocks(children, prefix, false)
      this.#newline(prefix, true)
    }
    this.#begin('toggle-end')
    this.text.add('</details>')
    this.#end()
    this.#marks?.close()
  }
}

/** What Docusaurus takes for the id of a heading. */
const TYPED_ID = /\{#(?:.(?!\{#|\}))*.\}$/

const EMPTY: Block = { type: 'paragraph', children: [] }

/** The sign of a bulleted list. A divider as an item's first block would run together with `*`. */
function chooseBullet(list: List, marker: number): string {
  if (marker === 0) return '-'
  return list.children.some((item) => item.children[0]?.type === 'thematicBreak') ? '+' : '*'
}

/**
 * Whether a blank line is between two siblings. Only in an item can a list follow its text without
 * one.
 */
function gap(before: Block, after: Block, tight: boolean): boolean {
  if (!tight || after.type !== 'list' || before.type !== 'paragraph') return true
  const [first] = after.children
  // Lists that cannot interrupt a paragraph (CommonMark 5.2): a number other than 1, an item that
  // begins empty.
  if (after.ordered && after.start !== 1) return true
  if (first?.checked !== null) return false
  return first.children[0] === undefined || first.children[0].type === 'list'
}
