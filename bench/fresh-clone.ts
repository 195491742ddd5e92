// How long `npm start` takes on a fresh clone with an empty npm cache: until it listens, until the
// dashboard is built, and for a second start. `npm run bench -- fresh-clone [--rounds 3]` clones
// the last commit, without uncommitted changes. Bar: the best first start ≤ 15 s, the best second
// one ≤ 1 s. It uses npm's configured registry.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } })
const root = join(import.meta.dirname, '..')
/** Without the Node from this clone's packages, which a new user does not have. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

interface Start {
  /** Seconds. */
  listens: number
  dashboard: number
}

async function start(folder: string, clone: string): Promise<Start> {
  const before = performance.now()
  const seconds = (): number => (performance.now() - before) / 1000
  const child = spawn('npm', ['start'], {
    cwd: clone,
    // Ends with all its processes.
    detached: true,
    env: { ...process.env, PATH, PORT: '0', npm_config_cache: join(folder, 'cache') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    let said = ''
    for await (const piece of child.stderr.setEncoding('utf8').iterator({
      destroyOnReturn: false,
    })) {
      said += piece as string
      const url = /http:\/\/localhost:\d+/.exec(said)?.[0]
      if (url === undefined) continue
      child.stderr.resume()
      const listens = seconds()
      const page = await fetch(url)
      if (!page.ok) throw new Error(`the dashboard gave ${page.status}`)
      return { listens, dashboard: seconds() }
    }
    throw new Error(`npm start ended: ${said}`)
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await once(child, 'exit')
  }
}

const first: Start[] = []
const second: Start[] = []
const all = mkdtempSync(join(tmpdir(), 'tollmark-fresh-'))
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    const folder = join(all, String(round))
    const clone = join(folder, 'clone')
    execFileSync('git', ['clone', '--quiet', root, clone])
    first.push(await start(folder, clone))
    second.push(await start(folder, clone))
  }
} finally {
  // Not after each round: ext4 creates files up to 20 times slower for minutes after thousands were
  // deleted.
  rmSync(all, { recursive: true, force: true })
}

/** Prints the best and the median; the best counts, because other load only adds time. */
function told(name: string, of: readonly number[]): number {
  const sorted = of.toSorted((a, b) => a - b)
  const best = sorted[0] ?? NaN
  const median = sorted[Math.floor(sorted.length / 2)] ?? NaN
  console.log(`${name.padEnd(28)} best ${best.toFixed(2)} s   median ${median.toFixed(2)} s`)
  return best
}
const listens = told(
  'listens, empty npm cache',
  first.map((one) => one.listens),
)
told(
  'its dashboard is built',
  first.map((one) => one.dashboard),
)
const again = told(
  'listens, second start',
  second.map((one) => one.listens),
)
process.exitCode = listens <= 15 && again <= 1 ? 0 : 1
