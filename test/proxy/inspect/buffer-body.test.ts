// A body that has to be read whole is held as pieces, and takes no more memory than its bytes,
// however small the pieces are in which it comes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BodySink, RequestBody } from '../../../server/http1/exchange.ts'
import { bufferBody, PieceList } from '../../../server/proxy/inspect/buffer-body.ts'
import { RequestShares } from '../../../server/proxy/admission/request-shares.ts'
import { seeded } from '../../support/random.ts'
import { heldBytes } from './memory.ts'

/** A body that comes as the test says. */
function bodyInHand(): { body: RequestBody; sink: () => BodySink } {
  let taker: BodySink | null = null
  const body: RequestBody = {
    length: null,
    read: (sink) => void (taker = sink),
    pause() {},
    resume() {},
  }
  return { body, sink: () => taker! }
}

test('one-byte pieces do not keep their buffer alive', async () => {
  const { body, sink } = bodyInHand()
  const shares = new RequestShares({ open: 1, held: 1_000_000, body: 1_000_000 })
  const place = shares.acquire('key', 'account')!
  const reading = bufferBody(body, 1_000_000, { still: 60_000, grace: 60_000 }, place)
  const before = heldBytes()
  for (let i = 0; i < 20_000; i++) sink().onData(Buffer.alloc(8_192, 97 + (i % 26)).subarray(0, 1))
  assert.ok(heldBytes() - before < 200_000)
  sink().onEnd([])
  const result = await reading
  assert.ok(result.ok)
  assert.equal(
    Buffer.concat(result.pieces).toString(),
    'abcdefghijklmnopqrstuvwxyz'.repeat(770).slice(0, 20_000),
  )
  assert.ok(result.pieces.length < 10)
  assert.equal(shares.held, 20_000)
  place.release()
  assert.equal(shares.held, 0)
})

test('pieces of any size keep their bytes and order, in at most twice their memory', () => {
  const next = seeded(7)
  const upTo = (most: number) => 1 + Math.floor(next() * most)
  for (let round = 0; round < 200; round++) {
    const list = new PieceList()
    const whole: Buffer[] = []
    for (let i = upTo(60); i > 0; i--) {
      const size = upTo([1, 300, 20_000, 65_536][upTo(4) - 1]!)
      // As it comes from a socket: a part of what was read at once.
      const read = Buffer.alloc(Math.min(65_536, size * upTo(3)), upTo(255))
      whole.push(read.subarray(0, size))
      list.add(read.subarray(0, size))
      if (upTo(10) === 1) list.all()
    }
    const pieces = list.all()
    assert.equal(
      list.length,
      whole.reduce((sum, piece) => sum + piece.length, 0),
    )
    assert.ok(Buffer.concat(pieces).equals(Buffer.concat(whole)))
    const kept = [...new Set(pieces.map((piece) => piece.buffer))].reduce(
      (sum, { byteLength }) => sum + byteLength,
      0,
    )
    assert.ok(
      whole.length === 1 || kept <= 2 * list.length + 1_024,
      `${kept} bytes for ${list.length}`,
    )
  }
})
