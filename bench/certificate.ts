// What a certificate detects, and what it costs: `npm run bench -- certificate FOLDER`. Converts
// every page below a folder of exports, checks that the certificate reports no difference, then
// damages the Markdown (drops, doubles or moves a block, loses a cell) and checks that it does.
// Only visible damage counts. Finally measures the conversion of all pages as one export, with and
// without a certificate (parts/certificate-cost.ts). --mutants N  how many (default 2000)
// --show N  unnoticed ones that are printed (default 5) --rounds N   conversions of each kind, of
// which the best counts (default 7) Fails below 99 %, if an undamaged document differs, or if
// certified conversions take 15 % longer than others on a machine with a second core.
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'
import { Certifier } from '../packages/notion-markdown/src/certificate/certificate.ts'
import { readExportedPage } from '../packages/notion-markdown/src/certificate/export-reader.ts'
import type { PageReading } from '../packages/notion-markdown/src/certificate/reading.ts'
import { convertHtml } from '../packages/notion-markdown/src/index.ts'
import { pagesOf } from '../test/corpus/pages.ts'
import { seeded } from '../test/support/random.ts'
import { measureCost } from './parts/certificate-cost.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mutants: { type: 'string', default: '2000' },
    show: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '7' },
  },
})
const [folder] = positionals
if (!folder) {
  console.error('usage: npm run bench -- certificate FOLDER [--mutants N] [--show N] [--rounds N]')
  process.exit(2)
}

/** The parts of a tree node that are used here. */
interface Node {
  type: string
  children?: readonly Node[] | undefined
  position?:
    | { start: { offset?: number | undefined }; end: { offset?: number | undefined } }
    | undefined
}

interface Page {
  path: string
  markdown: string
  reading: PageReading
}

function parse(markdown: string): Node {
  return fromMarkdown(markdown, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
}

/** A tree without its positions. */
function shownBy(markdown: string): string {
  return JSON.stringify(parse(markdown), (key, value: unknown) =>
    key === 'position' || key === 'spread' ? undefined : value,
  )
}

function differencesOf({ path, reading }: Page, markdown: string): number {
  const certifier = new Certifier()
  certifier.page({ path, reading, hasMore: false, databases: 0, missingFiles: 0 }, markdown)
  return certifier.found
}

const place = ({ position }: Node): [number, number] => [
  position?.start.offset ?? 0,
  position?.end.offset ?? 0,
]

/** All lists of siblings in a tree. */
function siblingsIn(node: Node, found: Node[][] = []): Node[][] {
  const blocks = (node.children ?? []).filter((child) => !INLINE.has(child.type))
  if (blocks.length > 0 && node.type !== 'table' && node.type !== 'tableRow') found.push(blocks)
  for (const child of blocks) siblingsIn(child, found)
  return found
}
const INLINE = new Set(
  'text emphasis strong delete inlineCode inlineMath break link image html footnoteReference'.split(
    ' ',
  ),
)

function cellsIn(node: Node, found: Node[] = []): Node[] {
  if (node.type === 'tableCell') found.push(node)
  for (const child of node.children ?? []) cellsIn(child, found)
  return found
}

type Mutate = (markdown: string, tree: Node, pick: (n: number) => number) => string | null

/** Includes the line's prefix, so that prefixes stay correct. */
const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1

/** TABLE of ways to damage a document. */
const MUTATIONS: Readonly<Record<string, Mutate>> = {
  'block dropped': (markdown, tree, pick) => {
    const [from, to] = place(chosen(siblingsIn(tree).flat(), pick))
    return markdown.slice(0, from) + markdown.slice(to)
  },
  'block doubled': (markdown, tree, pick) => {
    const [from, to] = place(chosen(siblingsIn(tree).flat(), pick))
    const lines = markdown.slice(lineStart(markdown, from), to)
    return `${markdown.slice(0, to)}\n\n${lines}${markdown.slice(to)}`
  },
  'block moved': (markdown, tree, pick) => {
    const groups = siblingsIn(tree).filter((group) => group.length > 1)
    if (groups.length === 0) return null
    const group = groups[pick(groups.length)] ?? []
    const at = pick(group.length - 1)
    const [[a, b], [c, d]] = [place(group[at] ?? tree), place(group[at + 1] ?? tree)]
    return (
      markdown.slice(0, a) +
      markdown.slice(c, d) +
      markdown.slice(b, c) +
      markdown.slice(a, b) +
      markdown.slice(d)
    )
  },
  'cell lost': (markdown, tree, pick) => {
    const cells = cellsIn(tree).filter(({ children = [] }) => children.length > 0)
    if (cells.length === 0) return null
    const [from, to] = place(chosen(cells, pick))
    const text = markdown.slice(from, to)
    return (
      markdown.slice(0, from) +
      (text.startsWith('|') ? '|' : '') +
      '  ' +
      (text.endsWith('|') ? '|' : '') +
      markdown.slice(to)
    )
  },
}

function chosen(nodes: readonly Node[], pick: (n: number) => number): Node {
  const node = nodes[pick(nodes.length)]
  if (!node) throw new Error('a page without blocks')
  return node
}

const exported = [...pagesOf(folder)].filter(({ path }) => basename(path) !== 'index.html')
const pages: Page[] = []
let wrong = 0
for (const { path, html } of exported) {
  const markdown = convertHtml(html, { fileName: basename(path) })
  const reading = readExportedPage(html, basename(path))
  const page = { path, markdown, reading }
  if (differencesOf(page, markdown) > 0) {
    wrong++
    console.log(`differs although nobody has damaged it: ${path}`)
  } else pages.push(page)
}
console.log(`${pages.length} pages as they are: ${wrong} said to differ`)

const random = seeded(1)
const pick = (n: number) => Math.floor(random() * n)
const small = pages.filter(({ markdown }) => markdown.length < 60_000)
const found = Object.fromEntries(
  Object.keys(MUTATIONS).map((name) => [name, { made: 0, noticed: 0 }]),
)
let shown = 0
const wanted = Number(values.mutants)
for (let made = 0, tried = 0; made < wanted && tried < wanted * 20; tried++) {
  const names = Object.keys(MUTATIONS)
  const name = names[tried % names.length] ?? ''
  const page = small[pick(small.length)]
  if (!page) break
  const mutant = MUTATIONS[name]?.(page.markdown, parse(page.markdown), pick) ?? null
  if (mutant === null || shownBy(mutant) === shownBy(page.markdown)) continue
  made++
  const count = found[name]
  if (!count) continue
  count.made++
  if (differencesOf(page, mutant) > 0) count.noticed++
  else if (shown++ < Number(values.show)) {
    let at = 0
    while (mutant[at] === page.markdown[at]) at++
    console.log(
      `not noticed: ${name}, ${page.path}\n  was ${JSON.stringify(page.markdown.slice(at - 60, at + 100))}\n  is  ${JSON.stringify(mutant.slice(at - 60, at + 100))}`,
    )
  }
}
let [made, noticed] = [0, 0]
for (const [name, count] of Object.entries(found)) {
  made += count.made
  noticed += count.noticed
  console.log(
    `${name.padEnd(16)}${String(count.noticed).padStart(6)} of ${String(count.made).padStart(5)} noticed`,
  )
}
const share = made === 0 ? 1 : noticed / made
console.log(`${(100 * share).toFixed(2)} % of ${made}\n`)

const rounds = Number(values.rounds)
const isCheap = rounds === 0 || (await measureCost(exported, rounds))
process.exitCode = share >= 0.99 && wrong === 0 && isCheap ? 0 : 1
