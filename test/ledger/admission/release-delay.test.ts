// By how much stamps on PostgreSQL are ahead, so that no second call has to move them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROMPT_MS } from '../../../server/ledger/admission/postgres-reserve.ts'
import { ReleaseDelay } from '../../../server/ledger/admission/release-delay.ts'

/** TABLE of delays that a process has seen, and the allowance of its next call (milliseconds). */
const CASES: [seen: number[], allowance: number][] = [
  [[], 0],
  [[PROMPT_MS / 2], 0],
  [[30, 35, 30], 44.3],
  [[1000], 250],
  // It forgets, but not at once.
  [[1000, ...Array<number>(100).fill(5)], 250],
  [[1000, ...Array<number>(600).fill(5)], 0],
]

test('the allowance covers calls that take twice as long as the longest recent one', () => {
  for (const [seen, allowance] of CASES) {
    const delay = new ReleaseDelay()
    for (const one of seen) delay.observe(one)
    assert.ok(Math.abs(delay.allowance - allowance) < 0.01, `${seen.join()}: ${delay.allowance}`)
    assert.ok(delay.hold > delay.allowance)
  }
})
