// Opens every hostile archive, and the largest valid ones, each in its own process: measures the
// time until it is refused (or read), and peak memory. Fails if a hostile one is not refused within
// two seconds and 300 MB, or a valid one takes more memory.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  fileSource,
  InvalidArchive,
  openExport,
} from '../packages/notion-markdown/src/archive/index.ts'

const MOST_MS = 2000
const MOST_MB = 300

interface Outcome {
  said: string | null
  ms: number
  mb: number
}

const [flag, target] = process.argv.slice(2)
if (flag === '--open' && target) console.log(JSON.stringify(await open(target)))
else await measureAll()

/** Opens an export and reads every page, as a conversion does. */
async function open(path: string): Promise<Outcome> {
  const started = performance.now()
  let said = null
  const source = await fileSource(path)
  try {
    await using opened = await openExport(source, { scratch: join(path, '..') })
    for (const page of opened.pages) await page.read()
  } catch (error) {
    if (!(error instanceof InvalidArchive)) throw error
    said = error.detail
  }
  await source.close()
  return { said, ms: performance.now() - started, mb: peakMemory() }
}

/**
 * Peak resident memory. (`resourceUsage().maxRSS` would include the parent's memory before this
 * program started.)
 */
function peakMemory(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}

async function measureAll(): Promise<void> {
  const { HOSTILE } = await import('../test/support/archives/hostile.ts')
  const { LARGE } = await import('../test/support/archives/large.ts')
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-archives-'))
  const file = join(folder, 'export.zip')
  const measure = (bytes: Uint8Array): Outcome => {
    writeFileSync(file, bytes)
    const child = spawnSync(
      process.execPath,
      [...process.execArgv, import.meta.filename, '--open', file],
      { timeout: 60_000 },
    )
    if (child.status !== 0)
      return {
        said: `no response: ${child.stderr.toString().slice(0, 200)}`,
        ms: Infinity,
        mb: Infinity,
      }
    return JSON.parse(child.stdout.toString()) as Outcome
  }
  let failed = 0
  const print = (isGood: boolean, name: string, size: number, { ms, mb, said }: Outcome) => {
    if (!isGood) failed++
    const numbers = [
      `${(size / 1e6).toFixed(1)} MB`.padStart(8),
      `${ms.toFixed(0)} ms`.padStart(8),
      `${mb.toFixed(0)} MB`.padStart(7),
    ]
    console.log(`${isGood ? ' ' : '!'} ${numbers.join(' ')}  ${name}: ${said ?? 'read'}`)
  }
  try {
    console.log('  size     time      memory')
    for (const { name, says, build } of HOSTILE) {
      const bytes = build()
      const outcome = measure(bytes)
      print(
        says.test(outcome.said ?? '') && outcome.ms < MOST_MS && outcome.mb < MOST_MB,
        name,
        bytes.length,
        outcome,
      )
    }
    for (const { name, build } of LARGE) {
      const bytes = build()
      const outcome = measure(bytes)
      print(outcome.said === null && outcome.mb < MOST_MB, name, bytes.length, outcome)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  console.log(
    failed === 0 ? `all ${HOSTILE.length} refused, all ${LARGE.length} read` : `${failed} failed`,
  )
  process.exitCode = failed === 0 ? 0 : 1
}
