// Some seconds of the fuzzer, from the same seed at each run: a change fails for what it changed.
// New seeds, for hours: `npm run bench -- fuzz --minutes N`.
import { test } from 'node:test'
import { fuzz } from './run.ts'
import { FUZZED } from './targets.ts'

const MILLISECONDS = 1_000
const SEED = 1
/** Fewer would mean nothing, however slow the machine is. */
const LEAST = 20

for (const [name, open] of Object.entries(FUZZED)) {
  test(`any input: ${name}, from seed ${SEED}`, async (t) => {
    const cases = await fuzz(name, open, SEED, MILLISECONDS, LEAST)
    t.diagnostic(`${cases} cases`)
  })
}
