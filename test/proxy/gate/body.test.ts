// A body that has to be read whole takes no more memory than its bytes, however small the pieces are in which it comes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BodySink, CallerBody } from '../../../server/http/caller.ts'
import { readWhole, release } from '../../../server/proxy/body.ts'
import { heldBytes } from './memory.ts'

/** A body that comes as the test says. */
function bodyInHand(): { body: CallerBody; sink: () => BodySink } {
  let taker: BodySink | null = null
  const body: CallerBody = { length: null, read: (sink) => void (taker = sink), pause() {}, resume() {} }
  return { body, sink: () => taker! }
}

test('pieces of one byte keep nothing alive that came with them', async () => {
  const { body, sink } = bodyInHand()
  const reading = readWhole(body, 1_000_000, 60_000)
  const before = heldBytes()
  for (let i = 0; i < 20_000; i++) sink().onData(Buffer.alloc(8_192, 97 + (i % 26)).subarray(0, 1))
  assert.ok(heldBytes() - before < 20_000_000)
  sink().onEnd([])
  const result = await reading
  assert.ok(result.ok)
  assert.equal(result.body.toString(), 'abcdefghijklmnopqrstuvwxyz'.repeat(770).slice(0, 20_000))
  release(20_000)
})
