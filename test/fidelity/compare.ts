// The judge: what a page of the export holds against what its Markdown renders to, difference by
// difference.
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'
import type { CompileContext, HtmlExtension, Token } from 'micromark-util-types'
import { readMarkdown, unescapePipes } from './actual.ts'
import { diff } from './diff.ts'
import { isSitemap, readExport } from './expected.ts'
import {
  SOME_BREAKS,
  LOOSE_BREAK,
  atoms,
  isBlank,
  isInvisible,
  plainText,
  plainTex,
  splitWords,
  type Atom,
  type Block,
  type Outline,
  type Run,
} from './outline.ts'
import { wordsOfRendered } from './visible.ts'

/** One thing that is not as it was in the export. */
export interface Difference {
  /**
   * `words`, `rendered` (words, by the second reading), `block`, `text`, `marks`, `level`, `list`,
   * `code`, `lang`, `math`, `table`, `link`, `raw`, `form`
   */
  kind: string
  /** where in the document: the place's number and what stands before it */
  where: string
  expected: string
  actual: string
}

/**
 * Judges the Markdown of one exported page; an empty list is a perfect page. `fileName` is what the
 * engine was told.
 */
export function judge(html: string, markdown: string, fileName = ''): Difference[] {
  if (isSitemap(html)) return judgeSitemap(html, markdown, fileName)
  const expected = readExport(html, fileName)
  const actual = readMarkdown(markdown)
  return [
    ...form(markdown),
    ...actual.faults.map((fault) => ({ kind: 'raw', where: '', expected: '', actual: fault })),
    ...compareOutlines(expected, actual),
    ...compareWords('words', expected.words, actual.words),
    // The renderer drops line ends of fenced code that begins a nested list: where only spaces
    // differ, the first reading has judged.
    ...compareWords(
      'rendered',
      expected.words,
      wordsOfRendered(render(withoutEmptyTasks(expected, markdown))),
    ).filter((found) => !sameLetters(found)),
  ]
}

const sameLetters = ({ expected, actual }: Difference) =>
  expected.replaceAll(' ', '') === actual.replaceAll(' ', '')

/** GFM knows no empty task: renderers show its brackets, which are no words of the page. */
function withoutEmptyTasks(expected: Outline, markdown: string): string {
  const has = expected.blocks.some(
    (block, at, all) =>
      block.kind === 'item' && block.list === 'todo' && all[at + 1]?.kind !== 'paragraph',
  )
  return has
    ? markdown.replace(/^([ >]*(?:(?:[-*+]|\d+[.)]) +)+)\[[ x]\][ \t]*$/gm, '$1')
    : markdown
}

/** The sitemap's shape is the document's to choose; its names must all be there. */
function judgeSitemap(html: string, markdown: string, fileName: string): Difference[] {
  return compareWords(
    'words',
    withoutIds(readExport(html, fileName).words),
    withoutIds(readMarkdown(markdown).words),
  )
}

const withoutIds = (words: string[]) =>
  splitWords(words.join(' ').replace(/ ?\b[0-9a-f]{32}(?:\.html)?/g, ''))

/** What must hold of every document's characters. */
function form(markdown: string): Difference[] {
  const faults: [boolean, string][] = [
    [markdown.includes('\r'), 'a carriage return'],
    [!markdown.endsWith('\n') || markdown.endsWith('\n\n'), 'not one final newline'],
    [markdown.startsWith('\n'), 'a blank line at the beginning'],
    [markdown.startsWith('\u{FEFF}'), 'a byte order mark'],
    [!markdown.isWellFormed(), 'half a surrogate pair'],
    [/\n\n\n/.test(withoutCode(markdown)), 'two blank lines together'],
  ]
  return faults
    .filter(([found]) => found)
    .map(([, actual]) => ({ kind: 'form', where: '', expected: '', actual }))
}

/** The document with its fenced code blanked out. */
function withoutCode(markdown: string): string {
  let fence = ''
  const lines = markdown.split('\n').map((line) => {
    const [, mark = ''] = /^[ >]*(?:(?:[-*+]|\d+[.)]) +)*(`{3,}|~{3,})/.exec(line) ?? []
    if (fence === '') fence = mark
    else if (mark.startsWith(fence) && line.trim().endsWith(mark)) fence = ''
    return fence === '' && mark === '' ? line : '.'
  })
  return lines.join('\n')
}

/** Renders Markdown to HTML, an equation as its TeX. */
export function render(markdown: string): string {
  return micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm(), math()],
    htmlExtensions: [gfmHtml(), texHtml],
  })
}

/**
 * What the table extension keeps while it is inside a table; its own types would be one more
 * package.
 */
const TABLE = 'tableAlign' as Parameters<CompileContext['getData']>[0]

/** Writes equations as the exporter does, without typesetting them. */
const texHtml: HtmlExtension = {
  enter: { mathFlow: begin, mathText: begin, mathFlowFenceMeta: begin },
  exit: {
    mathFlow: end,
    mathText: end,
    mathFlowFenceMeta: drop,
    mathFlowValue: line,
    mathTextData: value,
  },
}
function begin(this: CompileContext): undefined {
  this.buffer()
}
function end(this: CompileContext, token: Token): undefined {
  const tex = `<span class="katex"><annotation>${this.resume()}</annotation></span>`
  this.raw(token.type === 'mathFlow' ? `<p>${tex}</p>` : tex)
}
function drop(this: CompileContext): undefined {
  this.resume()
}
function value(this: CompileContext, token: Token): undefined {
  const tex = this.sliceSerialize(token)
  this.raw(this.encode(this.getData(TABLE) ? unescapePipes(tex) : tex))
}
function line(this: CompileContext, token: Token): undefined {
  this.raw(`${this.encode(this.sliceSerialize(token))}\n`)
}

/** Words of both sides, in order; a hunk of the difference with its surroundings. */
export function compareWords(
  kind: string,
  expected: readonly string[],
  actual: readonly string[],
): Difference[] {
  return diff(expected, actual, (x, y) => x === y).map(({ a, b }) => ({
    kind,
    where: `word ${a[0]} after "${expected.slice(Math.max(0, a[0] - 4), a[0]).join(' ')}"`,
    expected: expected.slice(...a).join(' '),
    actual: actual.slice(...b).join(' '),
  }))
}

/** Blocks of both sides: which are there, and what is inside those that are. */
export function compareOutlines(expected: Outline, actual: Outline): Difference[] {
  const wanted = expected.blocks.filter(isSeen)
  const found = actual.blocks.filter(isSeen)
  const names = wanted.map(signature)
  const foundNames = found.map(signature)
  const hunks = diff(names, foundNames, sameSignature)
  const out: Difference[] = []
  const path = (at: number) => {
    const before = wanted[at - 1]
    return `block ${at}${before ? ` after ${show(before)}` : ''}`
  }
  let atA = 0
  let atB = 0
  const inside = (until: number) => {
    for (; atA < until; atA++, atB++)
      out.push(...compareBlocks(wanted[atA]!, found[atB]!, path(atA)))
  }
  for (const { a, b } of hunks) {
    inside(a[0])
    const pairs = Math.max(a[1] - a[0], b[1] - b[0])
    for (let index = 0; index < pairs; index++) {
      const before = a[0] + index < a[1] ? wanted[a[0] + index] : undefined
      const after = b[0] + index < b[1] ? found[b[0] + index] : undefined
      const kind =
        before && after && before.kind === after.kind && before.depth === after.depth
          ? 'text'
          : 'block'
      out.push({
        kind,
        where: path(Math.min(a[0] + index, a[1])),
        expected: before ? show(before) : '(nothing)',
        actual: after ? show(after) : '(nothing)',
      })
    }
    atA = a[1]
    atB = b[1]
  }
  inside(wanted.length)
  return out
}

/** An empty heading, quotation or equation shows nothing on either side. */
function isSeen(block: Block, index: number, all: readonly Block[]): boolean {
  if (block.kind === 'heading') return index === 0 || !isBlank(block.runs)
  if (block.kind === 'paragraph') return !isBlank(block.runs)
  if (block.kind === 'math') return plainTex(block.tex) !== ''
  if (block.kind === 'quote') return (all[index + 1]?.depth ?? 0) > block.depth
  return true
}

/** Whether line breaks cannot be written there. */
const isFlat = (block: Block) =>
  block.kind === 'heading' || block.kind === 'toggle' || block.kind === 'image'

const runsOf = (block: Block): readonly Run[] => ('runs' in block ? block.runs : [])

/** What must agree for two blocks to be the same block: kind, depth, text. */
function signature(block: Block): string {
  const head = `${block.kind} ${block.depth} `
  if (block.kind === 'math') return head + plainTex(block.tex)
  if (block.kind === 'code') return head + (/\S+/.exec(block.text)?.[0] ?? '')
  if (block.kind === 'table') return head
  // An alternative text may keep the dollar signs of an equation or not.
  if (block.kind === 'image')
    return (
      head +
      plainText(
        block.runs.map(({ text }) => ({ text, marks: [] })),
        true,
      ).replace(/[\s$]+/g, '')
    )
  return head + plainText(runsOf(block), isFlat(block))
}

/** Compares texts in which some whitespace may be a break or not, or any number of breaks. */
function sameSignature(a: string, b: string): boolean {
  if (a === b) return true
  if (!a.includes(LOOSE_BREAK) && !a.includes(SOME_BREAKS)) return false
  let at = 0
  for (const unit of a) {
    if (unit === LOOSE_BREAK) {
      if (b[at] !== ' ' && b[at] !== '\n') return false
      at++
    } else if (unit === SOME_BREAKS) {
      if (b[at] !== '\n') return false
      while (b[at] === '\n') at++
    } else if (b.startsWith(unit, at)) at += unit.length
    else return false
  }
  return at === b.length
}

function compareBlocks(a: Block, b: Block, where: string): Difference[] {
  const out: Difference[] = []
  const expect = (kind: string, expected: unknown, actual: unknown) => {
    if (expected !== actual)
      out.push({ kind, where, expected: `${show(a)}: ${String(expected)}`, actual: String(actual) })
  }
  if (a.kind === 'item' && b.kind === 'item') {
    expect('list', a.list, b.list)
    expect('list', a.number, b.number)
    expect('list', a.checked, b.checked)
    if (a.list === b.list && a.opens !== undefined)
      expect(
        'list',
        a.opens ? 'a list begins' : 'the list goes on',
        b.opens ? 'a list begins' : 'the list goes on',
      )
  }
  if (
    (a.kind === 'heading' && b.kind === 'heading' && a.level > 0) ||
    (a.kind === 'toggle' && b.kind === 'toggle')
  )
    expect('level', a.level, b.level)
  if (a.kind === 'code' && b.kind === 'code') {
    expect('code', JSON.stringify(a.text.replaceAll('\r\n', '\n')), JSON.stringify(b.text))
    if (!isLanguage(a.lang, b.lang)) expect('lang', a.lang, b.lang)
  }
  if (a.kind === 'math' && b.kind === 'math') expect('math', bare(a.tex), bare(b.tex))
  if (a.kind === 'image' && b.kind === 'image') {
    expect('link', a.src, b.src)
    return out
  }
  if (a.kind === 'table' && b.kind === 'table') out.push(...compareTables(a, b, where))
  out.push(...compareMarks(runsOf(a), runsOf(b), isFlat(a), where))
  return out
}

/** A block equation byte for byte, but for blank lines and the space around it. */
const bare = (tex: string) =>
  tex
    .replaceAll('\u{FEFF}', '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .join('\n')
    .trim()

/** TABLE: the exporter's names of languages whose usual name is another word. */
const LANGUAGES: Record<string, string> = {
  'c++': 'cpp',
  'c#': 'csharp',
  'f#': 'fsharp',
  'plain text': '',
  'objective-c': 'objectivec',
}

/**
 * Whether an info string names the exporter's language. Spelling is free but where highlighters
 * know one name only.
 */
function isLanguage(display: string, info: string): boolean {
  const known = LANGUAGES[display.toLowerCase()]
  if (known !== undefined)
    return info === known || (known === 'objectivec' && info === 'objective-c')
  if (display === '') return info === ''
  return /^[a-z0-9+#._-]+$/.test(info)
}

/** A row without the empty cells at its end, which a shorter row of the export does not have. */
const withoutEmptyEnd = (row: Run[][]) =>
  row.slice(0, row.findLastIndex((cell) => !isBlank(cell)) + 1)

function compareTables(
  a: Extract<Block, { kind: 'table' }>,
  b: Extract<Block, { kind: 'table' }>,
  where: string,
): Difference[] {
  const wanted = a.rows.map(withoutEmptyEnd)
  let found = b.rows.map(withoutEmptyEnd)
  if (!a.header && found[0]?.length === 0) found = found.slice(1)
  const out: Difference[] = []
  for (let row = 0; row < Math.max(wanted.length, found.length); row++) {
    for (
      let column = 0;
      column < Math.max(wanted[row]?.length ?? 0, found[row]?.length ?? 0);
      column++
    ) {
      const x = wanted[row]?.[column] ?? []
      const y = found[row]?.[column] ?? []
      const place = `${where}, row ${row} column ${column}`
      if (sameSignature(plainText(x), plainText(y))) out.push(...compareMarks(x, y, false, place))
      else out.push({ kind: 'table', where: place, expected: plainText(x), actual: plainText(y) })
    }
  }
  return out
}

/** The marks of every visible character of two equal texts. */
function compareMarks(
  a: readonly Run[],
  b: readonly Run[],
  flat: boolean,
  where: string,
): Difference[] {
  const visible = (runs: readonly Run[]) => atoms(runs, flat).filter((atom) => !isInvisible(atom))
  const wanted = visible(a)
  const found = visible(b)
  if (wanted.every((atom, index) => sameMarks(atom, found[index]))) return []
  // A link within the page that the export itself cannot resolve may keep any target or none.
  return [{ kind: 'marks', where, expected: showMarks(wanted), actual: showMarks(found) }]
}

function sameMarks(a: Atom, b: Atom | undefined): boolean {
  const loose = a.marks.includes('link #*')
  const set = (marks: readonly string[]) =>
    marks
      .filter((mark) => !(loose && mark.startsWith('link ')))
      .sort()
      .join('\n')
  return b !== undefined && set(a.marks) === set(b.marks)
}

/** Marked text on one line: `[strong,em]text[]`. */
function showMarks(list: readonly Atom[]): string {
  let last = ''
  let out = ''
  for (const atom of list) {
    const marks = [...atom.marks].sort().join(',')
    if (marks !== last) out += `[${marks}]`
    last = marks
    out += atom.text
  }
  return out
}

/** A block on one line. */
function show(block: Block): string {
  const details =
    block.kind === 'item'
      ? `${block.list}${block.number ?? ''}`
      : block.kind === 'heading' || block.kind === 'toggle'
        ? String(block.level)
        : block.kind === 'image'
          ? block.src
          : ''
  const text =
    block.kind === 'code'
      ? block.text
      : block.kind === 'math'
        ? block.tex
        : block.kind === 'table'
          ? `${block.rows.length} rows`
          : plainText(runsOf(block), isFlat(block))
  return `${'  '.repeat(block.depth)}${block.kind}${details ? ` ${details}` : ''} ${JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text)}`
}
