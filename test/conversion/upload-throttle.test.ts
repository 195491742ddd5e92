import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThrottle } from '../../server/conversion/upload/throttle.ts'

test('uploads take turns in order of arrival, one in each turn of the event loop', async () => {
  let busy = false
  const turns = createThrottle(() => busy)
  const taken: number[] = []
  let loop = 0
  const loops = new Set<number>()
  const count = (): void => {
    loop++
    if (taken.length < 40) setImmediate(count)
  }
  await new Promise<void>((resolve) => {
    const ask = (n: number): void =>
      turns(() => {
        taken.push(n)
        busy = n % 7 < 3
        loops.add(loop)
        // Who has had a turn asks for the next one, as an upload does.
        if (n < 30) ask(n + 10)
        if (taken.length === 40) resolve()
      })
    count()
    for (let n = 0; n < 10; n++) ask(n)
  })
  assert.deepEqual(
    taken,
    Array.from({ length: 40 }, (_, n) => n),
  )
  assert.equal(loops.size, 40)
})
