// Runs: a line of text as pieces with their marks, the form between the exporter's HTML (nested
// tags for each run, with spaces and line breaks inside the tags) and the tree (each mark once, as
// far as it extends, without spaces at its edges).
import type { Positions, Range } from './positions.ts'
import type { Inline } from './tree.ts'

/** The bits of `Run.marks`. */
export const MARK = { underline: 1, delete: 2, strong: 4, emphasis: 8, code: 16 } as const

/** The nested marks. If two extend equally far, the first is the outer one. */
const NESTING_ORDER = ['underline', 'delete', 'strong', 'emphasis'] as const

/**
 * A piece of a line. `value` is its text, its TeX, an image's address, or the origin of a break:
 * empty for a newline, `typed` for a `<br>` between words of the same format, `br` for any other.
 */
export interface Run {
  kind: 'text' | 'math' | 'break' | 'image'
  value: string
  /** An image's description. */
  alt?: string
  marks: number
  /** The address of its link; consecutive runs with the same address become one link. */
  link: string | null
  /** Its range in the page, if positions are requested. */
  at?: Range
}

const BLANK = /^\s*$/

/**
 * The inline nodes of a line: white space moved out of marks, equal neighbours merged, breaks at
 * the edges dropped, marks nested.
 */
export function nestMarks(runs: readonly Run[], positions?: Positions | null): Inline[] {
  const plain = plainValue(runs)
  if (plain !== undefined) return placed(textOf(plain), runs[0], positions)
  const clean = mergeRuns(moveSpacesOut(splitLines(runs)))
  return buildTree(clean, { from: 0, to: clean.length, done: 0, linked: false }, positions)
}

/** Like `nestMarks`, but a blank line ends a paragraph: no mark or link extends over it. */
export function nestParagraphs(runs: readonly Run[], positions?: Positions | null): Inline[][] {
  const plain = plainValue(runs)
  if (plain !== undefined)
    return paragraphsOf(plain).map((nodes) => placed(nodes, runs[0], positions))
  return splitAtBlankLines(mergeRuns(moveSpacesOut(splitLines(runs))), isBreak).map((paragraph) =>
    buildTree(paragraph, { from: 0, to: paragraph.length, done: 0, linked: false }, positions),
  )
}

/** The nodes of a run, with its range. */
function placed(nodes: Inline[], run: Run | undefined, positions?: Positions | null): Inline[] {
  if (positions && run?.at) for (const node of nodes) positions.place(node, run.at)
  return nodes
}

/** The text of a line that is only text; undefined if it has marks, links or breaks. */
function plainValue(runs: readonly Run[]): string | undefined {
  const [only] = runs
  if (only === undefined) return ''
  return runs.length === 1 && only.kind === 'text' && only.marks === 0 && only.link === null
    ? only.value
    : undefined
}

const isBreak = (run: Run | undefined): boolean => run?.kind === 'break'

/** Splits nodes at each two or more consecutive breaks; there are no breaks at the ends. */
function splitAtBlankLines<T>(
  nodes: readonly T[],
  isBreak: (node: T | undefined) => boolean,
): T[][] {
  const paragraphs: T[][] = []
  let from = 0
  for (let i = 0; i < nodes.length; i++) {
    if (!isBreak(nodes[i])) continue
    let end = i + 1
    while (isBreak(nodes[end])) end++
    if (end - i > 1) {
      paragraphs.push(nodes.slice(from, i))
      from = end
    }
    i = end - 1
  }
  if (from < nodes.length) paragraphs.push(nodes.slice(from))
  return paragraphs
}

/** The nodes of text without marks, with lines separated by `\n`; none if it shows nothing. */
export function textOf(value: string): Inline[] {
  if (BLANK.test(value)) return []
  if (!value.includes('\n')) return [{ type: 'text', value: trimLine(value) }]
  const nodes: Inline[] = []
  // Breaks before the first words and after the last show nothing.
  let breaks = 0
  for (const line of value.split('\n')) {
    const text = trimLine(line)
    if (text !== '') {
      if (nodes.length > 0) for (; breaks > 0; breaks--) nodes.push({ type: 'break' })
      nodes.push({ type: 'text', value: text })
      breaks = 0
    }
    breaks++
  }
  return nodes
}

/** Like `textOf`, but a blank line ends a paragraph. */
export function paragraphsOf(value: string): Inline[][] {
  return splitAtBlankLines(textOf(value), (node) => node?.type === 'break')
}

/** Splits each run into words and the white space and line breaks around them. */
function splitLines(runs: readonly Run[]): Run[] {
  const out: Run[] = []
  for (const run of runs) {
    if (run.kind !== 'text') {
      out.push(run)
      continue
    }
    const lines = run.value.includes('\n') ? run.value.split('\n') : [run.value]
    for (let i = 0; i < lines.length; i++) {
      if (i > 0) out.push({ ...run, kind: 'break', value: '' })
      const line = lines[i]
      if (!line) continue
      if (run.marks === 0 && run.link === null) {
        out.push(line === run.value ? run : { ...run, value: line })
        continue
      }
      const start = line.length - line.trimStart().length
      const end = start === line.length ? start : line.trimEnd().length
      if (start > 0) out.push({ ...run, value: line.slice(0, start) })
      if (end > start) out.push({ ...run, value: line.slice(start, end) })
      if (end < line.length) out.push({ ...run, value: line.slice(end) })
    }
  }
  return out
}

/** Text without marks. */
export function plainRun(value: string): Run {
  return { kind: 'text', value, marks: 0, link: null }
}

/** Whether there is a run, and it shows nothing by itself. */
export function isBlank(run: Run | undefined): boolean {
  return run?.kind === 'break' || (run?.kind === 'text' && BLANK.test(run.value))
}

/** White space and breaks keep a mark only if all of them and both neighbours have it. */
function moveSpacesOut(runs: Run[]): Run[] {
  const out: Run[] = []
  let before: Run | undefined
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i]
    if (run && !isBlank(run)) {
      before = run
      out.push(run)
      continue
    }
    let end = i
    while (isBlank(runs[end])) end++
    const after = runs[end]
    // A mark that one of them lacks ends before it.
    const blanks = runs.slice(i, end)
    const marks =
      before && after
        ? blanks.reduce((common, run) => common & run.marks, before.marks & after.marks)
        : 0
    const link =
      before &&
      after &&
      before.link === after.link &&
      blanks.every(({ link }) => link === after.link)
        ? after.link
        : null
    for (const run of blanks)
      out.push(marks === run.marks && link === run.link ? run : { ...run, marks, link })
    i = end - 1
  }
  return out
}

/** Merges equal neighbours, and removes invisible runs at the ends, and spaces around breaks. */
function mergeRuns(runs: Run[]): Run[] {
  const out: Run[] = []
  for (const run of runs) {
    const last = out[out.length - 1]
    if (
      last &&
      run.kind === 'text' &&
      last.kind === 'text' &&
      run.marks === last.marks &&
      run.link === last.link
    ) {
      out[out.length - 1] = merged(last, run)
    } else {
      // Two equations in a row would share their `$`.
      if (last?.kind === 'math' && run.kind === 'math')
        out.push({
          kind: 'text',
          value: ' ',
          marks: last.marks & run.marks,
          link: last.link === run.link ? run.link : null,
        })
      out.push(run)
    }
  }
  for (const [i, run] of out.entries()) {
    if (run.kind !== 'text' || run.marks & MARK.code) continue
    let value = run.value
    if (i === 0 || isBreak(out[i - 1])) value = trimLine(value, 'start')
    if (i === out.length - 1 || isBreak(out[i + 1])) value = trimLine(value, 'end')
    if (value !== run.value) out[i] = { ...run, value }
  }
  const shown = withoutDoubledBreaks(out.filter((run) => run.kind !== 'text' || run.value !== ''))
  if (shown.every(isBlank)) return []
  let start = 0
  let end = shown.length
  while (isBreak(shown[start])) start++
  while (isBreak(shown[end - 1])) end--
  return shown.slice(start, end)
}

/**
 * Consecutive breaks, as many as were typed. Exporters since 2024 write one `<br>` too many where
 * the formatting changes; newlines beside a `<br>` come from editors, and all others are typed.
 */
function withoutDoubledBreaks(runs: readonly Run[]): Run[] {
  const out: Run[] = []
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i]
    if (run && !isBreak(run)) {
      out.push(run)
      continue
    }
    let end = i + 1
    while (isBreak(runs[end])) end++
    const breaks = runs.slice(i, end)
    const elements = breaks.filter(({ value }) => value !== '')
    const isDoubled = elements.length > 1 && elements.some(({ value }) => value === 'br')
    for (const run of elements.length === 0 ? breaks : elements.slice(isDoubled ? 1 : 0))
      out.push(run)
    i = end - 1
  }
  return out
}

/**
 * The text without spaces and tabs at a line's ends, which Markdown drops or reads as structure.
 */
function trimLine(value: string, ends: 'both' | 'start' | 'end' = 'both'): string {
  let start = 0
  let end = value.length
  const isSpace = (at: number) => value.charCodeAt(at) === 0x20 || value.charCodeAt(at) === 0x09
  if (ends !== 'end') while (start < end && isSpace(start)) start++
  if (ends !== 'start') while (end > start && isSpace(end - 1)) end--
  return value.slice(start, end)
}

/** Joins two runs of text. */
function merged(run: Run, next: Run): Run {
  const value = run.value + next.value
  if (!run.at || !next.at) return { ...run, value }
  const at = {
    start: Math.min(run.at.start, next.at.start),
    end: Math.max(run.at.end, next.at.end),
  }
  return { ...run, value, at }
}

/**
 * A stretch of runs, `from … to` (exclusive), inside the marks `done` (bits of `MARK`), and inside
 * a link if `linked`.
 */
interface Stretch {
  from: number
  to: number
  done: number
  linked: boolean
}

/** Nests the marks of runs: the one that extends farthest is the outermost. */
function buildTree(
  runs: readonly Run[],
  { from, to, done, linked }: Stretch,
  positions: Positions | null | undefined,
): Inline[] {
  const out: Inline[] = []
  for (let i = from; i < to;) {
    const run = runs[i]
    if (!run) break
    let reach = i
    let outer: (typeof NESTING_ORDER)[number] | null = null
    if (!linked && run.link !== null) {
      reach = i + 1
      while (reach < to && runs[reach]?.link === run.link) reach++
    }
    for (const mark of NESTING_ORDER) {
      const bit = MARK[mark]
      if (!(run.marks & bit) || done & bit) continue
      let end = i + 1
      while (end < to && (runs[end]?.marks ?? 0) & bit) end++
      if (end > reach) {
        reach = end
        outer = mark
      }
    }
    if (outer) {
      const inner = { from: i, to: reach, done: done | MARK[outer], linked }
      out.push({ type: outer, children: buildTree(runs, inner, positions) })
    } else if (!linked && run.link !== null) {
      const inner = { from: i, to: reach, done, linked: true }
      out.push({ type: 'link', url: run.link, children: buildTree(runs, inner, positions) })
    } else {
      const node = leaf(run)
      if (positions && run.at) positions.place(node, run.at)
      out.push(node)
      reach = i + 1
    }
    i = reach
  }
  return out
}

function leaf(run: Run): Inline {
  if (run.kind === 'break') return { type: 'break' }
  if (run.kind === 'math') return { type: 'inlineMath', value: run.value }
  if (run.kind === 'image') return { type: 'image', url: run.value, alt: run.alt ?? '' }
  return { type: run.marks & MARK.code ? 'inlineCode' : 'text', value: run.value }
}
