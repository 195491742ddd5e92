// Many writes of one turn of the event loop go out in several: a thousand streams must not hold up everything else for as long as all their writes take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinBurst } from '../server/http/burst.ts'
import { until } from './until.ts'

test('a long burst is cut into turns of the event loop, in its order', async () => {
  const written: { i: number; turn: number }[] = []
  let turn = 0
  const count = (): void => void (turn++, written.length < 41 && setImmediate(count))
  setImmediate(count)
  const slow = (i: number) => ({
    writeNow() {
      for (const end = performance.now() + 0.2; performance.now() < end; );
      written.push({ i, turn })
      // One that joins while others wait comes behind them.
      if (i === 0) joinBurst({ writeNow: () => void written.push({ i: 40, turn }) })
    },
  })
  for (let i = 0; i < 40; i++) joinBurst(slow(i))
  await until(() => written.length === 41)
  assert.deepEqual(written.map(({ i }) => i), Array.from({ length: 41 }, (_, i) => i))
  const most = Math.max(...[...Map.groupBy(written, ({ turn }) => turn).values()].map((all) => all.length))
  assert.ok(most <= 9, `${most} in a turn`)
})

test('a short burst goes out in one turn', async () => {
  const written: number[] = []
  let turn = 0
  for (let i = 0; i < 8; i++) joinBurst({ writeNow: () => void written.push(turn) })
  setImmediate(() => turn++)
  await until(() => written.length === 8)
  assert.equal(new Set(written).size, 1)
})
