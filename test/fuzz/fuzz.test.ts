// Some seconds of the fuzzer, with another seed at each run, which a failure names. Hours: `npm run bench -- fuzz --minutes N`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz } from './run.ts'
import { FUZZED } from './targets.ts'

const MILLISECONDS = 1_000
const seed = Date.now() % 1_000_000_000

for (const [name, open] of Object.entries(FUZZED)) {
  test(`whatever comes: ${name}, from seed ${seed}`, async (t) => {
    const cases = await fuzz(name, open, seed, MILLISECONDS)
    t.diagnostic(`${cases} cases`)
    assert.ok(cases > 20, `${cases} cases are too few to mean anything`)
  })
}
