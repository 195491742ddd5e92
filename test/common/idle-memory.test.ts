// Memory that V8 gives back once a process is idle, without any call of its collector.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { NODE_FLAGS } from '../support/node.ts'

const MODULE = join(import.meta.dirname, '../../server/common/idle-memory.ts')

/** V8 does the same by itself after 100 s. */
const PATIENCE_MS = 60_000

/**
 * Makes 60 MB of objects that grow old, lets them go, and waits until the heap is half as large.
 * Then prints both sizes.
 */
const PROGRAM = `
  import { getHeapStatistics } from 'node:v8'
  import { freeMemoryWhenIdle } from ${JSON.stringify(MODULE)}
  freeMemoryWhenIdle()
  const size = () => getHeapStatistics().total_physical_size
  let kept = []
  for (let i = 0; i < 1_000_000; i++) kept.push({ i })
  gc() // Or a collection under way could free them.
  const before = size()
  kept = []
  setInterval(() => {
    if (size() > before / 2) return
    console.log(JSON.stringify([before, size()]))
    process.exit()
  }, 100)
`

test('an idle process gives the memory of a burst back', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...NODE_FLAGS,
      '--expose-gc',
      '--max-semi-space-size=16',
      '--input-type=module',
      '--eval',
      PROGRAM,
    ],
    { timeout: PATIENCE_MS },
  )
  const [before, after] = JSON.parse(stdout) as [number, number]
  assert.ok(after <= before / 2, stdout)
})
