// What converters keep of real pages: `npm run bench -- fidelity FOLDER`. The two readers of `npm
// run test:corpus` (one of the export, one of CommonMark + GFM + math) read each page and its
// conversion. Counts words in order, and tables, equations and code blocks with the same content;
// ignores how Tollmark writes what Markdown cannot express.
import { basename } from 'node:path'
import { convertHtml } from '../packages/notion-markdown/src/index.ts'
import { pagesOf } from '../test/corpus/pages.ts'
import { readMarkdown } from '../test/fidelity/actual.ts'
import { compareWords } from '../test/fidelity/compare.ts'
import { readExport } from '../test/fidelity/expected.ts'
import {
  IMAGE,
  cellTex,
  plainTex,
  plainText,
  splitWords,
  type Block,
  type Outline,
  type Run,
} from '../test/fidelity/outline.ts'
import { installRivals, RIVALS, type Convert } from './rivals/load.ts'

/** TABLE of what is counted, and how its text is read from a page. */
const COUNTED: Readonly<Record<string, (page: Outline) => string[]>> = {
  tables: ({ blocks }) => blocks.filter((block) => block.kind === 'table').map(tableText),
  equations: ({ blocks }) =>
    blocks.flatMap((block) =>
      block.kind === 'math'
        ? [cellTex(block.tex)]
        : runsIn(block)
            .filter((run) => run.math)
            .map((run) => cellTex(run.text)),
    ),
  'code blocks': ({ blocks }) =>
    blocks.filter((block) => block.kind === 'code').map((block) => block.text.trimEnd()),
}

/**
 * A table's words, without pictures (converters differ on icons beside names) and without trailing
 * empty rows and cells.
 */
function tableText(table: Extract<Block, { kind: 'table' }>): string {
  const rows = table.rows.map((row) =>
    row
      .map((cell) => plainTex(plainText(cell).replaceAll(IMAGE, '')))
      .join(' | ')
      .replace(/[ |]+$/, ''),
  )
  return rows.filter((row) => row !== '').join('\n')
}

function runsIn(block: Block): Run[] {
  if (block.kind === 'table') return block.rows.flat(2)
  // A toggle's summary is raw HTML, which cannot contain equations.
  return 'runs' in block && block.kind !== 'toggle' ? block.runs : []
}

/** How many of `wanted` are in `found`, counting each once. */
function kept(wanted: readonly string[], found: readonly string[]): number {
  const left = new Map<string, number>()
  for (const text of found) left.set(text, (left.get(text) ?? 0) + 1)
  return wanted.filter((text) => {
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count > 0
  }).length
}

const [folder] = process.argv.slice(2)
if (!folder) {
  console.error('usage: npm run bench -- fidelity FOLDER')
  process.exit(2)
}
installRivals()
const pages = [...pagesOf(folder)].map(({ html, path }) => ({
  html,
  expected: readExport(html, basename(path)),
}))
const contestants: [string, Convert][] = [['Tollmark', (html) => convertHtml(html)]]
for (const [name, load] of Object.entries(RIVALS)) contestants.push([name, await load()])

const totals = Object.entries(COUNTED).map(
  ([what, read]) =>
    `${pages.reduce((sum, { expected }) => sum + read(expected).length, 0)} ${what}`,
)
const words = pages.reduce((sum, { expected }) => sum + expected.words.length, 0)
console.log(
  `${pages.length} pages with ${words} words, ${totals.join(', ')}; Node ${process.versions.node}\n`,
)
const share = (count: number, of: number) => `${((100 * count) / of).toFixed(1)} %`
const row = (cells: string[]) =>
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(14))).join(''))
row(['kept by', 'words lost', 'words added', ...Object.keys(COUNTED), 'crashes'])
for (const [name, convert] of contestants) {
  let lost = 0
  let added = 0
  let crashes = 0
  const counts = Object.keys(COUNTED).map(() => [0, 0])
  for (const { html, expected } of pages) {
    const actual = readOrNothing(() => readMarkdown(convert(html)))
    if (actual === null) crashes++
    for (const difference of compareWords('words', expected.words, actual?.words ?? [])) {
      lost += splitWords(difference.expected).length
      added += splitWords(difference.actual).length
    }
    for (const [at, read] of Object.values(COUNTED).entries()) {
      counts[at]![0]! += actual === null ? 0 : kept(read(expected), read(actual))
      counts[at]![1]! += read(expected).length
    }
  }
  row([
    name,
    share(lost, words),
    share(added, words),
    ...counts.map(([count, of]) => share(count!, of!)),
    String(crashes),
  ])
}

function readOrNothing(read: () => Outline): Outline | null {
  try {
    return read()
  } catch {
    return null
  }
}
