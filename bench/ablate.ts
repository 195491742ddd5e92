// What each optimisation of the data path saves: compares the server with one that has it switched
// off, under the same load, in turns. `--seconds N`, `--rounds N`, `--mode requests|large|events`,
// `--only TEXT` (part of a row's name). Linux only: it reads /proc.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SWAPS } from './ablate/swaps.ts'
import { startOurs, startUpstream, stopAll, type Contender } from './proxy/contenders.ts'
import { cpu, load, median, MODES, RUN_IN_SECONDS, type Mode } from './proxy/measure.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '9' },
    mode: { type: 'string', default: 'requests' },
    only: { type: 'string', default: '' },
  },
})
const mode = Object.keys(MODES).find((name): name is Mode => name === options.mode)
if (mode === undefined) throw new Error(`--mode is one of ${Object.keys(MODES).join(', ')}`)
const { connections, warm, name: what } = MODES[mode]
const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
const register = ['--import', join(import.meta.dirname, 'ablate/register.ts')]

/** Microseconds of CPU of one request or event. */
async function cost(contender: Contender): Promise<number> {
  await load(mode!, contender, connections, RUN_IN_SECONDS).found
  const before = cpu(contender.pid)
  const { done, events } = await load(mode!, contender, connections, Number(options.seconds)).found
  return (cpu(contender.pid) - before) / (mode === 'events' ? events : done)
}

try {
  console.log(`CPU of ${what}; median of ${options.rounds} × ${options.seconds} s, in turns`)
  console.log(`${'with'.padStart(9)}${'without'.padStart(9)}${'saves'.padStart(9)}`)
  const upstream = mode === 'large' ? await startUpstream(5, 20) : await startUpstream()
  for (const [index, { name }] of SWAPS.entries()) {
    if (!name.includes(options.only)) continue
    const place = (side: string): string => {
      const made = join(folder, `${index}-${side}`)
      mkdirSync(made)
      return made
    }
    const on = await startOurs(place('on'), upstream)
    const off = await startOurs(place('off'), upstream, register, { BENCH_SWAP: name })
    for (const one of [on, off]) await load(mode, one, connections, ...warm).found
    const costs: [on: number, off: number][] = []
    for (let round = 0; round < Number(options.rounds); round++) {
      // Alternate the order, so that neither always runs on the hotter machine.
      if (round % 2 === 0) costs.push([await cost(on), await cost(off)])
      else {
        const second = await cost(off)
        costs.push([await cost(on), second])
      }
    }
    const [withIt, without] = [median(costs.map(([a]) => a)), median(costs.map(([, b]) => b))]
    const saves = median(costs.map(([a, b]) => 1 - a / b))
    console.log(
      `${withIt.toFixed(1).padStart(6)} µs${without.toFixed(1).padStart(6)} µs${(saves * 100).toFixed(1).padStart(7)} %  ${name}`,
    )
    for (const one of [on, off]) process.kill(one.pid, 'SIGTERM')
  }
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}
