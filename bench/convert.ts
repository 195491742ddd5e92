// How fast a page is converted, compared with only parsing it and with other converters: `npm run
// bench -- convert FOLDER`. All take turns on the same pages in one process, so that noise affects
// all alike. --rounds N  rounds counted (default 9); one more warms up      --only NAME[,NAME]
// contestants to run Fails when a bar is missed.
import { Parser } from 'htmlparser2'
import { parseArgs } from 'node:util'
import { convertHtml } from '../packages/notion-markdown/src/index.ts'
import { pagesOf } from '../test/corpus/pages.ts'
import { installRivals, RIVALS, type Convert } from './rivals/load.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '9' }, only: { type: 'string', default: '' } },
})
const [folder] = positionals
if (!folder) {
  console.error('usage: npm run bench -- convert FOLDER [--rounds N] [--only NAME[,NAME]]')
  process.exit(2)
}

const nothing = () => {}
const handlers = {
  onopentag: nothing,
  onclosetag: nothing,
  ontext: nothing,
  oncomment: nothing,
  onprocessinginstruction: nothing,
}

/** Only parses a page, with the parser that most tools use. */
const parseOnly: Convert = (html) => {
  const parser = new Parser(handlers)
  parser.end(html)
  return ''
}

installRivals()

/** TABLE of bars: how many times as fast as each contestant ours must be. */
const BARS: Readonly<Record<string, number>> = {
  'htmlparser2, reading only': 0.6,
  'mdream (JavaScript)': 1.4,
  turndown: 7,
}

const contestants: { name: string; convert: Convert }[] = [
  { name: 'ours', convert: (html) => convertHtml(html) },
  { name: 'htmlparser2, reading only', convert: parseOnly },
]
for (const [name, load] of Object.entries(RIVALS)) contestants.push({ name, convert: await load() })
const chosen = contestants.filter(
  ({ name }) => values.only === '' || name === 'ours' || values.only.split(',').includes(name),
)

const pages = [...pagesOf(folder)].map((page) => page.html)
const bytes = pages.reduce((sum, html) => sum + Buffer.byteLength(html), 0)
if (pages.length === 0) {
  console.error(`${folder} holds no .html file and no .zip with one`)
  process.exit(2)
}
const rounds = Number(values.rounds)
const times = new Map(chosen.map(({ name }) => [name, [] as number[]]))
const failures = new Map<string, number>()
for (let round = 0; round <= rounds; round++) {
  // Each round starts with another contestant.
  for (let turn = 0; turn < chosen.length; turn++) {
    const { name, convert } = chosen[(round + turn) % chosen.length]!
    let failed = 0
    const started = performance.now()
    for (const html of pages) {
      try {
        convert(html)
      } catch {
        failed++
      }
    }
    const time = performance.now() - started
    if (round > 0) times.get(name)!.push(time)
    failures.set(name, failed)
  }
}

const median = (list: readonly number[]) =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!
const speed = (name: string) => bytes / 1e6 / (median(times.get(name)!) / 1000)
const ours = speed('ours')
let missed = 0
console.log(
  `${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB, median of ${rounds} rounds, Node ${process.versions.node}\n`,
)
console.log(
  `${'contestant'.padEnd(34)}${'MB/s'.padStart(8)}${'best'.padStart(8)}${'worst'.padStart(8)}${'ours is'.padStart(10)}${'bar'.padStart(7)}`,
)
for (const { name } of chosen) {
  const bar = BARS[name]
  const list = times.get(name)!
  const ratio = ours / speed(name)
  const fails = bar !== undefined && ratio < bar
  if (fails) missed++
  const columns = [speed(name), bytes / 1e3 / Math.min(...list), bytes / 1e3 / Math.max(...list)]
    .map((value) => value.toFixed(1).padStart(8))
    .join('')
  const verdict =
    name === 'ours'
      ? ''
      : `${`${ratio.toFixed(2)} ×`.padStart(10)}${String(bar ?? '').padStart(7)}${fails ? '  MISSED' : ''}`
  console.log(
    `${name.padEnd(34)}${columns}${verdict}${failures.get(name) ? `  (failed on ${failures.get(name)} pages)` : ''}`,
  )
}
process.exitCode = missed > 0 ? 1 : 0
