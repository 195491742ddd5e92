// Sockets that are full of frames are read in turns: a little between two rounds of the event loop,
// by owner.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { frameOf, OPCODE } from '../../../server/http1/websocket/frames.ts'
import { FramePump } from '../../../server/proxy/socket/frame-pump.ts'

const FRAMES = 200
const FRAME = frameOf(OPCODE.ping, Buffer.from('x'), false)

function openPump(key_id: string) {
  const read = { frames: 0, isPaused: false, resumed: 0 }
  const source = {
    pause: () => void (read.isPaused = true),
    resume: () => void ((read.isPaused = false), read.resumed++),
    discard() {},
  }
  const sink = {
    onFrame() {
      read.frames++
    },
    onPayload() {},
    onFrameEnd() {},
    onPause() {},
    onError: (error: Error) => assert.fail(error),
  }
  return { read, pump: new FramePump(source, sink, false, () => ({ account_id: key_id, key_id })) }
}

test('many sockets of one key are read a little at a time, in turns with another key’s', async () => {
  const busy = Array.from({ length: 30 }, () => openPump('key_busy'))
  const other = openPump('key_other')
  const all = Buffer.concat(Array.from({ length: FRAMES }, () => FRAME))
  const total = (): number => busy.reduce((sum, { read }) => sum + read.frames, 0)
  for (const { pump } of busy) pump.push(all)
  const first = total()
  assert.ok(first > 0 && first < 400, `${first} frames at once`)
  assert.ok(busy.at(-1)!.read.isPaused, 'one that waits is not read')
  const small = openPump('key_busy')
  small.pump.push(FRAME)
  assert.equal(small.read.frames, 1, 'one small frame is read at once')
  other.pump.push(Buffer.concat([FRAME, FRAME]))
  for (let rounds = 0; other.read.frames < 2; rounds++) {
    assert.ok(rounds < 5, 'the other key waits for its turn only')
    await nextRound()
  }
  assert.ok(total() < busy.length * FRAMES)
  while (total() < busy.length * FRAMES) await nextRound()
  assert.ok(busy.every(({ read }) => read.frames === FRAMES && !read.isPaused))
})

test('the end of a side is reported after all that it sent has been read', async () => {
  const { read, pump } = openPump('key_ends')
  let ended: number | null = null
  pump.block()
  pump.push(Buffer.concat([FRAME, FRAME]))
  pump.whenRead(() => (ended = read.frames))
  await nextRound()
  assert.equal(ended, null)
  pump.unblock()
  await nextRound()
  assert.equal(ended, 2)
  // … or when nobody reads it any more.
  pump.block()
  pump.whenRead(() => (ended = -1))
  pump.stop()
  await nextRound()
  assert.equal(ended, -1)
})
