// Buffers that come and go do not make V8 mark its whole heap.
import assert from 'node:assert/strict'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { countBuffersTowardHeapLimit } from '../../server/common/external-memory.ts'

const GC = z.object({ detail: z.object({ kind: z.number() }) })
/** The bodies and messages that are in memory at a time: 60 MB. */
const HELD = 120
const HELD_BYTES = 512 * 1024

/** Lets 1 GB of buffers come and go. @returns the number of full collections meanwhile */
async function collections(): Promise<number> {
  const kinds: number[] = []
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) kinds.push(GC.parse(entry).detail.kind)
  })
  observer.observe({ entryTypes: ['gc'] })
  const held: Buffer[] = []
  for (let i = 0; i < 2_000; i++) {
    held[i % HELD] = Buffer.allocUnsafeSlow(HELD_BYTES)
    if (i % 10 === 0) await nextTurn()
  }
  await nextTurn()
  observer.disconnect()
  return kinds.filter((kind) => kind !== constants.NODE_PERFORMANCE_GC_MINOR).length
}

test('1 GB of buffers, 60 MB of them in memory at a time, cause few full collections', async () => {
  const before = await collections()
  countBuffersTowardHeapLimit()
  const after = await collections()
  assert.ok(after * 2 <= before, `${before} before, ${after} after`)
})
