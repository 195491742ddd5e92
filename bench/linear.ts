// Whether every reader and list that a caller's input reaches is linear: CPU time at 4n compared
// with n, with n chosen so that it takes 20 ms (heads, which have at most 16 KB, are repeated
// instead). The best of five; each row in its own process, two at a time, with a deadline. `npm run
// bench -- linear [TEXT …]` (parts of rows' names; `--at-once N`). Exits with 1 if a row takes more
// than five times as long, or does not end. Tables: bench/linear/.
import { parseArgs } from 'node:util'
import { BODIES } from './linear/bodies.ts'
import { HEADS } from './linear/heads.ts'
import { INSPECTIONS } from './linear/inspections.ts'
import type { Row } from './linear/row.ts'
import { ROWS } from './linear/rows.ts'
import { runChild } from './parts/child.ts'
import { openThreadClock } from './parts/thread-clock.ts'

/** Milliseconds. */
interface Measure {
  size: number
  small: number
  large: number
  /** Repetitions. */
  times: number
}

const MOST = 5
const ENOUGH_MS = 20
const BEST_OF = 5
/** So far below the bar that one run is enough. */
const CLEARLY = 4.5
/**
 * Nanoseconds per byte or row. Anything faster is a native search, whose speed depends on the CPU
 * caches.
 */
const LEAST_NS = 1
/** A call that takes less than a few nanoseconds does not read its input. */
const MOST_TIMES = 2 ** 20
const clock = openThreadClock()
const all: readonly Row[] = [...HEADS, ...BODIES, ...INSPECTIONS, ...ROWS]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    deadline: { type: 'string', default: '90' },
    'at-once': { type: 'string', default: '2' },
    child: { type: 'string' },
  },
})
if (values.child === undefined) process.exitCode = await compareAll()
else {
  const row = all.find(({ name }) => name === values.child)
  if (!row) throw new Error(`no row is named ${values.child}`)
  console.log(JSON.stringify(await measure(row)))
}

/** Processor time of the thread, in milliseconds. */
async function time(read: () => unknown, times: number): Promise<number> {
  const begun = clock()
  for (let i = 0; i < times; i++) {
    const result = read()
    if (result instanceof Promise) await result
  }
  return clock() - begun
}

async function measure(row: Row): Promise<Measure> {
  let size = row.from
  let read = row.make(size)
  // The first run is for the compiler; the second is measured.
  await time(read, 1)
  while ((await time(read, 1)) < ENOUGH_MS && size * 8 <= row.most) {
    size *= 2
    read = row.make(size)
  }
  let times = 1
  while ((await time(read, times)) < ENOUGH_MS && times < MOST_TIMES) times *= 2
  const larger = row.make(size * 4)
  await time(larger, 1)
  let [small, large] = [Infinity, Infinity]
  for (let run = 0; run < BEST_OF && (run === 0 || large > CLEARLY * small); run++) {
    globalThis.gc?.()
    small = Math.min(small, await time(read, times))
    globalThis.gc?.()
    large = Math.min(large, await time(larger, times))
  }
  return { size, small, large, times }
}

async function compareAll(): Promise<number> {
  const chosen = all.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  )
  console.log(
    `${'reader'.padEnd(52)}${'n'.padStart(10)}${'n ms'.padStart(9)}${'4n ms'.padStart(9)}${'ratio'.padStart(7)}`,
  )
  let bad = 0
  const measureRow = async (name: string): Promise<string> => {
    const result = await runChild<Measure>(
      ['--max-old-space-size=2000', import.meta.filename, '--child', name],
      values.deadline,
    )
    const ratio = typeof result === 'string' ? Infinity : result.large / Math.max(result.small, 0.1)
    const isSlow =
      typeof result === 'string' ||
      (ratio > MOST && (result.large * 1e6) / (result.times * result.size * 4) > LEAST_NS)
    if (isSlow) bad++
    if (typeof result === 'string') return result
    const columns = [
      String(result.size).padStart(10),
      result.small.toFixed(1).padStart(9),
      result.large.toFixed(1).padStart(9),
      ratio.toFixed(1).padStart(7),
    ]
    return `${columns.join('')}${isSlow ? '  NOT LINEAR' : ''}`
  }
  const rows = chosen.values()
  const measureSome = async (): Promise<void> => {
    for (const { name } of rows) console.log(name.padEnd(52) + (await measureRow(name)))
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, measureSome))
  console.log(`\n${chosen.length - bad} of ${chosen.length} are linear`)
  return bad > 0 ? 1 : 0
}
