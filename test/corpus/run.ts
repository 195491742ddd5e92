// `npm run test:corpus -- FOLDER`: converts every page below a folder of Notion exports and
// judges each by the independent reading in ../fidelity, and the positions of its tree. Prints
// every difference, a summary by kind, and the count; fails if any page differs. Then converts each
// export to a folder of pages in every flavor; fails if a link, an anchor or an asset in it is not
// there, or its certificate finds something lost.
//   --limit N    differences printed for a page (default 12)
//   --only TEXT  pages whose path contains TEXT
//   --write DIR  keeps the Markdown of every page that differs
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { judge, type Difference } from '../fidelity/compare.ts'
import { positionFaults } from '../../packages/notion-markdown/test/position-faults.ts'
import { reportPages } from './exports.ts'
import { pagesOf } from './pages.ts'

/**
 * A difference that a broken page explains: every difference of this kind on this page, and why.
 */
interface Known {
  page: string
  kind: string
  reason: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: 'string', default: '12' },
    only: { type: 'string', default: '' },
    write: { type: 'string' },
  },
})
const [folder] = positionals
if (!folder) {
  console.error('usage: npm run test:corpus -- FOLDER [--limit N] [--only TEXT] [--write DIR]')
  process.exit(2)
}
const limit = Number(values.limit)
const known: Known[] = JSON.parse(readFileSync(join(import.meta.dirname, 'known.json'), 'utf8'))
const used = new Set<Known>()

let passed = 0
let failed = 0
let explained = 0
let milliseconds = 0
let bytes = 0
const kinds = new Map<string, { differences: number; pages: number }>()

for (const { path, html } of pagesOf(folder)) {
  if (!path.includes(values.only)) continue
  bytes += html.length
  const { markdown, differences } = check(html, path)
  const open = differences.filter((difference) => {
    const reason = known.find((row) => path.endsWith(row.page) && row.kind === difference.kind)
    if (reason) used.add(reason)
    return !reason
  })
  explained += differences.length - open.length
  if (open.length === 0) {
    passed++
    continue
  }
  failed++
  console.log(`\n${path}  (${open.length})`)
  for (const { kind, where, expected, actual } of open.slice(0, limit)) {
    console.log(
      `  ${kind}${where ? ` · ${where}` : ''}\n    expected: ${clip(expected)}\n    actual:   ${clip(actual)}`,
    )
  }
  if (open.length > limit) console.log(`  … and ${open.length - limit} more`)
  for (const kind of new Set(open.map((difference) => difference.kind))) {
    const count = kinds.get(kind) ?? { differences: 0, pages: 0 }
    count.differences += open.filter((difference) => difference.kind === kind).length
    count.pages++
    kinds.set(kind, count)
  }
  if (values.write) {
    mkdirSync(values.write, { recursive: true })
    writeFileSync(join(values.write, `${path.replaceAll('/', '__').slice(-200)}.md`), markdown)
  }
}

console.log('')
for (const [kind, { differences, pages }] of [...kinds].sort(
  (a, b) => b[1].differences - a[1].differences,
)) {
  console.log(`${kind.padEnd(10)} ${String(differences).padStart(6)} differences on ${pages} pages`)
}
for (const row of used) console.log(`explained: ${row.page} (${row.kind}): ${row.reason}`)
if (explained > 0) console.log(`${explained} differences explained by broken pages`)
console.log(
  `converted ${(bytes / 1e6).toFixed(1)} million characters in ${(milliseconds / 1000).toFixed(2)} s`,
)
console.log(`${passed} passed, ${failed} failed`)

let dead = 0
if (values.only === '')
  for await (const { path, flavor, pages, faults } of reportPages(folder)) {
    console.log(`${flavor.padEnd(10)} ${pages} pages, ${faults.length} faults: ${path || '.'}`)
    for (const fault of faults.slice(0, limit)) console.log(`  ${fault}`)
    dead += faults.length
  }
process.exitCode = failed > 0 || passed === 0 || dead > 0 ? 1 : 0

function check(html: string, path: string): { markdown: string; differences: Difference[] } {
  const fileName = basename(path)
  try {
    const started = performance.now()
    const markdown = convertHtml(html, { fileName })
    milliseconds += performance.now() - started
    const positions = positionFaults(html).map((actual) => ({
      kind: 'position',
      where: '',
      expected: 'a position in the page',
      actual,
    }))
    return { markdown, differences: [...judge(html, markdown, fileName), ...positions] }
  } catch (error) {
    return {
      markdown: '',
      differences: [
        {
          kind: 'crash',
          where: '',
          expected: 'Markdown',
          actual: error instanceof Error ? String(error.stack) : String(error),
        },
      ],
    }
  }
}

function clip(text: string): string {
  const line = text.replaceAll('\n', '⏎')
  return line.length > 400 ? `${line.slice(0, 400)}…` : line
}
