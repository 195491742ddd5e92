// Runs the fuzzer: `--minutes N` for each target (0: one case), `--target NAME`, `--seed N`. Exits
// with 1 at the first failure and prints its seed.
import { parseArgs } from 'node:util'
import { fuzz } from '../test/fuzz/run.ts'
import { FUZZED } from '../test/fuzz/targets.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    target: { type: 'string' },
    seed: { type: 'string' },
  },
})
const first = Number(values.seed ?? Date.now() % 1_000_000_000)
for (const [name, open] of Object.entries(FUZZED)) {
  if (values.target !== undefined && values.target !== name) continue
  try {
    const cases = await fuzz(name, open, first, Number(values.minutes) * 60_000)
    console.log(`${name}: ${cases} cases from seed ${first}, nothing wrong`)
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
}
