// What `tollmark convert --layout pages --sync` costs: from scratch, without changes, and with some
// changed pages. `npm run bench -- sync [--pages 10000] [--changed 50]`. Fails if a run without
// changes is less than 5 times as fast as from scratch, or if more files are written than pages
// changed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MAIN, NODE_FLAGS } from '../test/support/node.ts'
import { zip } from '../test/support/zip.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '10000' },
    changed: { type: 'string', default: '50' },
  },
})
const [pages, changed] = [Number(values.pages), Number(values.changed)]
const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const id = (n: number): string => n.toString(16).padStart(32, '0')

/** A page of 20 paragraphs, one with a link to another page. */
function page(n: number, more: string): string {
  const other = ((n + 49) % pages) + 1
  const link = ` <a href="../S${other % 50}/P${other}%20${id(other)}.html">there</a>`
  const paragraphs = Array.from(
    { length: 20 },
    (_, i) =>
      `<p id="${id(n * 100 + i)}">Paragraph ${i} of page ${n}, <strong>with</strong> words and <em>marks</em>.${i === 3 ? link : ''}</p>`,
  )
  return `<html><body><article id="${id(n)}" class="page sans"><header><h1 class="page-title">P${n}</h1></header><div class="page-body">${paragraphs.join('')}${more}</div></article></body></html>`
}

function exportWith(changes: number): Buffer {
  const entries: Record<string, string> = {}
  for (let n = 1; n <= pages; n++)
    entries[`S${n % 50}/P${n} ${id(n)}.html`] = page(n, n <= changes ? '<p>changed</p>' : '')
  return zip(entries)
}

/** CPU seconds of ended children (proc_pid_stat(5)); NaN except on Linux. */
function childrenCpu(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return Number.NaN
  }
}

/** Converts into the folder. @returns milliseconds, CPU seconds, and the output */
function sync(): { ms: number; cpu: number; said: string; written: number } {
  const args = ['convert', 'Export.zip', '--layout', 'pages', '--sync', '-o', 'out']
  const [began, before] = [performance.now(), childrenCpu()]
  const { status, stderr } = spawnSync(process.execPath, [...NODE_FLAGS, MAIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  const ms = performance.now() - began
  const cpu = childrenCpu() - before
  const written = Number(/out: (\d+) written/.exec(stderr)?.[1] ?? Number.NaN)
  if (status !== 0 || Number.isNaN(written)) throw new Error(stderr)
  return { ms, cpu, said: stderr.split('\n')[0] ?? '', written }
}

writeFileSync(join(folder, 'Export.zip'), exportWith(0))
const scratch = sync()
const same = sync()
writeFileSync(join(folder, 'Export.zip'), exportWith(changed))
const some = sync()
for (const [what, { ms, cpu, said }] of Object.entries({ scratch, same, some }))
  console.log(
    `${what.padEnd(8)} ${(ms / 1000).toFixed(1).padStart(6)} s ${cpu.toFixed(1).padStart(6)} s of CPU  ${said}`,
  )
const times = scratch.ms / same.ms
console.log(`with nothing changed ${times.toFixed(1)} times as fast as from scratch`)
process.exitCode = times >= 5 && same.written === 0 && some.written === changed ? 0 : 1
