// The neutral shape into which both sides are read: what a page of the export holds, and what its
// Markdown renders to. Blocks come in document order with their depth, containers before their
// content, so that the list is the whole tree.

/**
 * A stretch of text under the same marks. `math` text is TeX; an image is `IMAGE` followed by its
 * alternative text.
 */
export interface Run {
  text: string
  /** `strong`, `em`, `del`, `code`, `u`, `link ADDRESS`, `image ADDRESS` */
  marks: readonly string[]
  math?: true
}

/** The list an item stands in. */
export type ListKind = 'bullet' | 'number' | 'todo'

export type Block = { depth: number } & (
  | {
      kind: 'heading'
      /** 1 to 6; 0 where any level will do */ level: number
      id?: string
      runs: Run[]
    }
  | { kind: 'paragraph'; runs: Run[] }
  | {
      kind: 'item'
      list: ListKind
      number?: number
      checked?: boolean
      /** whether a list begins here; undefined where that is all the same */ opens:
        | boolean
        | undefined
    }
  | { kind: 'quote' }
  | {
      kind: 'toggle'
      /** 0 without a heading in the summary */ level: number
      id?: string
      runs: Run[]
    }
  | { kind: 'code'; lang: string; text: string }
  | { kind: 'math'; tex: string }
  | { kind: 'table'; /** the first row is a header row */ header: boolean; rows: Run[][][] }
  | { kind: 'divider' }
  | { kind: 'image'; src: string; runs: Run[] }
)

/** One page, read from either side. */
export interface Outline {
  blocks: Block[]
  /** the visible words in order, found without the blocks */
  words: string[]
  /** what the reader met that must not be there at all, such as foreign raw HTML */
  faults: string[]
}

/** Stands in a run's text for an image that is set among words. */
export const IMAGE = '\u{FFFC}'

/**
 * Stands for whitespace that may be a line break or a mere space: a newline that an editor
 * indented.
 */
export const LOOSE_BREAK = '\u{E001}'

/**
 * A line break written as an element. The exporter doubles these where the formatting changes, so
 * of several any number may stay.
 */
export const ELEMENT_BREAK = '\u{E002}'

/** A line break written as an element where the formatting does not change: every one was typed. */
export const TYPED_BREAK = '\u{E004}'

/** Where a block that is read as inline content begins or ends: a line break, however many meet. */
export const LINE_EDGE = '\u{E005}'

/** Among atoms: one or more line breaks. */
export const SOME_BREAKS = '\u{E003}'

/** One comparable unit of text: a character or a whole equation, with its marks. */
export interface Atom {
  text: string
  marks: string[]
}

/**
 * TeX without the whitespace that Markdown cannot keep inside `$…$`, nor the comments, which would
 * not end on one line.
 */
export function plainTex(tex: string): string {
  return tex
    .replaceAll('\u{FEFF}', '')
    .replace(/(?<!\\)((?:\\\\)*)%.*\n/g, '$1\n')
    .replace(/\s+/g, ' ')
    .trim()
}

/**
 * Puts one space between equations that touch, or that only spaces part: `$a$$b$` would be one
 * equation with another meaning, so a space there may be the page's or the Markdown's own.
 */
function partEquations(runs: readonly Run[]): Run[] {
  const out: Run[] = []
  for (const run of runs) {
    if (run.text.replaceAll('\u{FEFF}', '') === '') continue
    if (run.math && out.at(-1)?.math) out.push({ text: ' ', marks: [] })
    out.push(run)
  }
  return out
}

/**
 * TeX in a cell, where a bar is the cell's end: `|` may be written `\\vert` there, `\\|` must be
 * written `\\Vert`; TeX drops spaces behind either.
 */
export function cellTex(tex: string): string {
  return plainTex(tex)
    .replace(/\\[lr]?Vert(?![a-zA-Z]) ?/g, '\\|')
    .replace(/\\[lr]?vert(?![a-zA-Z]) ?/g, '|')
    .replace(/\\\| /g, '\\|')
}

const isSpace = (text: string) =>
  text === ' ' ||
  text === '\t' ||
  text === '\n' ||
  text === '\r' ||
  text === '\f' ||
  text === LOOSE_BREAK ||
  ELEMENTS.includes(text)

const ELEMENTS = [ELEMENT_BREAK, TYPED_BREAK, LINE_EDGE]

/** What is between two visible characters ends a paragraph if it is a blank line that was typed. */
function isBlankLine(space: string): boolean {
  const count = (unit: string) => space.split(unit).length - 1
  const elements = count(ELEMENT_BREAK) + count(TYPED_BREAK)
  if (elements > 0) return elements - (elements > 1 && count(ELEMENT_BREAK) > 0 ? 1 : 0) > 1
  return count('\n') + count(LOOSE_BREAK) > 1
}

/** Runs cut at their blank lines. */
export function splitParagraphs(runs: readonly Run[]): Run[][] {
  const paragraphs: Run[][] = [[]]
  let space = ''
  for (const run of runs) {
    for (const unit of run.math || run.text.startsWith(IMAGE) ? [run.text] : run.text) {
      if (!run.math && isSpace(unit)) space += unit
      else if (unit !== '\u{FEFF}') {
        if (isBlankLine(space)) paragraphs.push([])
        space = ''
      }
      paragraphs.at(-1)!.push({ ...run, text: unit })
    }
  }
  return paragraphs
}

/**
 * Splits runs into atoms, with whitespace as Markdown can keep it: a run of spaces is one space,
 * none beside a line break, none at the edges; other spaces of Unicode stay, but for the invisible
 * ones at the end. Whitespace carries no marks.
 *
 * @param flat where a line break cannot be written (headings, alternative texts): breaks are spaces
 */
export function atoms(runs: readonly Run[], flat = false): Atom[] {
  const out: Atom[] = []
  let space = ''
  for (const run of partEquations(runs)) {
    const units = run.math ? [`$${plainTex(run.text)}$`] : run.text.replaceAll('\u{FEFF}', '')
    for (const unit of units) {
      if (!run.math && isSpace(unit)) {
        space += unit
        continue
      }
      if (space !== '' && out.length > 0)
        out.push(...gap(space, flat).map((text) => ({ text, marks: [] })))
      space = ''
      out.push({
        text: unit,
        marks: run.math ? run.marks.filter((mark) => mark.startsWith('link ')) : [...run.marks],
      })
    }
  }
  while (out.length > 0 && isInvisible(out.at(-1)!)) out.pop()
  return out
}

/** Whether it is a space or a break of any kind. */
export const isInvisible = ({ text }: Atom): boolean => /^[\s\u{E001}\u{E003}]$/u.test(text)

/** What a run of whitespace between two visible characters amounts to. */
function gap(space: string, flat: boolean): string[] {
  if (flat) return [' ']
  const breaks = [...space].filter((unit) => unit === '\n' || ELEMENTS.includes(unit)).length
  if (breaks > 1 && ELEMENTS.some((unit) => space.includes(unit))) return [SOME_BREAKS]
  const loose = [...space].filter((unit) => unit === LOOSE_BREAK).length
  if (loose > 0 && breaks + loose > 1) return [SOME_BREAKS]
  if (breaks > 0) return Array.from({ length: breaks }, () => '\n')
  return [loose > 0 ? LOOSE_BREAK : ' ']
}

/** Text without the plain white space around it; wider and no-break spaces stay. */
export function trimPlain(text: string): string {
  return text.replace(
    /^[ \t\n\r\f\u{E001}\u{E002}\u{E004}\u{E005}\u{FEFF}]+|[ \t\n\r\f\u{E001}\u{E002}\u{E004}\u{E005}\u{FEFF}]+$/gu,
    '',
  )
}

/** The text of runs as `atoms` sees it. */
export function plainText(runs: readonly Run[], flat = false): string {
  return atoms(runs, flat)
    .map((atom) => atom.text)
    .join('')
}

/** Whether a reader sees nothing there. A lone no-break or ideographic space is nothing either. */
export function isBlank(runs: readonly Run[]): boolean {
  return plainText(runs).trim() === ''
}

/** Words as a reader separates them. A no-break space joins, as it does on paper. */
export function splitWords(text: string): string[] {
  return text
    .replaceAll('\u{FEFF}', '')
    .replaceAll(IMAGE, '')
    .split(/[ \t\n\r\f\u{E001}\u{E002}\u{E004}\u{E005}]+/u)
    .map((word) => word.trimEnd())
    .filter((word) => word !== '')
}

/** The words of an outline's blocks, in order. */
export function wordsOfBlocks(blocks: readonly Block[]): string[] {
  return splitWords(blocks.map(textOfBlock).join('\n'))
}

function textOfBlock(block: Block): string {
  switch (block.kind) {
    case 'code':
      return block.text
    case 'math':
      return plainTex(block.tex)
    case 'table':
      return block.rows.map((row) => row.map(joinRuns).join('\n')).join('\n')
    // What an image shows is no word of it; its caption is a paragraph.
    case 'image':
      return ''
    default:
      return 'runs' in block ? joinRuns(block.runs) : ''
  }
}

function joinRuns(runs: readonly Run[]): string {
  return partEquations(runs)
    .map((run) => (run.math ? plainTex(run.text) : run.text.startsWith(IMAGE) ? '' : run.text))
    .join('')
}

/**
 * An address in the one form in which both sides are compared: every percent-encoded UTF-8 sequence
 * decoded once.
 */
export function plainAddress(address: string): string {
  return address.trim().replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes)
    } catch {
      return bytes
    }
  })
}

/**
 * Whether a link's text is its address: then nothing tells a link from an address that renderers
 * link by themselves.
 */
export function isOwnAddress(text: string, address: string): boolean {
  const plain = plainAddress(text)
  const target = plainAddress(address)
  return ['', 'http://', 'https://', 'mailto:'].some((scheme) => scheme + plain === target)
}
