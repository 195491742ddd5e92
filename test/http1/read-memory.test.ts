// Memory of what was read is freed by collections of young objects.
import assert from 'node:assert/strict'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { test } from 'node:test'
import * as z from 'zod'
import { countRead } from '../../server/http1/read-memory.ts'
import { until } from '../support/until.ts'

const { NODE_PERFORMANCE_GC_MINOR, NODE_PERFORMANCE_GC_FLAGS_FORCED } = constants
/** The entry as https://nodejs.org/api/perf_hooks.html#performanceentrydetail has it. */
const GC = z.object({ detail: z.object({ kind: z.number(), flags: z.number() }) })
const MB = 1024 * 1024

test('reading a fixed number of bytes triggers a young collection and no full one', async () => {
  const kinds: number[] = []
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind, flags } = GC.parse(entry).detail
      if ((flags & NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) kinds.push(kind)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  for (let i = 0; i < 9 * 16; i++) countRead(4 * MB)
  await until(() => kinds.length >= 18)
  assert.deepEqual(
    kinds,
    Array.from({ length: 18 }, () => NODE_PERFORMANCE_GC_MINOR),
  )
  observer.disconnect()
})
