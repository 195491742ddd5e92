// Sockets that are full of frames are read in turns: a little between two rounds of the event loop,
// by owner.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { GatewayError } from '../../../server/proxy/gateway-error.ts'
import { CLOSE, FrameError, frameOf, OPCODE } from '../../../server/http1/websocket/frames.ts'
import type { HeldMessage } from '../../../server/proxy/socket/client-message.ts'
import { ClientSide } from '../../../server/proxy/socket/client-side.ts'
import { FramePump } from '../../../server/proxy/socket/frame-pump.ts'
import { OpenSockets, type OpenSocket } from '../../../server/proxy/socket/open-sockets.ts'
import { SocketSession } from '../../../server/proxy/socket/session.ts'
import { until } from '../../support/until.ts'

const MB = 1024 * 1024
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

test('many sockets that end at once end a few at a time, in turns with another key’s', async () => {
  let ended = 0
  let otherEndedAfter: number | null = null
  for (let i = 0; i < 100; i++) openPump('key_leaves').pump.whenRead(() => ended++)
  openPump('key_stays').pump.whenRead(() => (otherEndedAfter = ended))
  for (let turn = 1; turn <= 13; turn++) {
    await nextRound()
    assert.ok(ended <= 8 * turn, `${ended} in ${turn} turns`)
  }
  assert.equal(ended, 100)
  assert.ok(otherEndedAfter !== null && otherEndedAfter < 8)
})

test('many sockets that break the protocol at once are closed a few at a time', async () => {
  let [turn, isOver] = [0, false]
  const next = (): void => void (turn++, isOver || setImmediate(next))
  next()
  const closed: number[] = []
  let faults = 0
  const upstream = { write: () => true, end() {}, pause() {}, resume() {}, discard() {} }
  const client = { ...upstream, write: () => closed.push(turn) > 0, destroy() {} }
  const parts = {
    client,
    upstream: { ...upstream, destroy() {} },
    provider: { usage: 'openai' },
    row: { begins: [], ends: [], fails: [] },
    rows: { close() {}, bytes: { up: 0, down: 0 } },
    inspector: { owner: { account_id: 'breaks', key_id: 'breaks' } },
    slot: { releaseBytes() {} },
    onFault: () => faults++,
    limits: { idle: 1_000 },
  }
  for (let i = 0; i < 100; i++) {
    const session = Reflect.construct(SocketSession, [parts]) as SocketSession
    session.onBroken(new FrameError(CLOSE.protocolError, 'broken'))
    session.onRefused(new GatewayError('malformed_request', 'refused'))
  }
  assert.equal(faults, 100, 'each counts against its key once')
  await until(() => closed.length === 100)
  isOver = true
  for (const [at, some] of Map.groupBy(closed, (one) => one))
    assert.ok(some.length <= 16, `${some.length} in turn ${at}`)
})

test('the sockets of a key that has been revoked are ended a few at a time', async () => {
  let [turn, isOver] = [0, false]
  const next = (): void => void (turn++, isOver || setImmediate(next))
  next()
  const ends: number[] = []
  await using sockets = new OpenSockets()
  for (let i = 0; i < 100; i++) {
    const session = { check: () => ends.push(turn) > 0 } as unknown as OpenSocket['session']
    sockets.add({ id: String(i), session } as OpenSocket)
  }
  await until(() => ends.length >= 100)
  isOver = true
  for (const [at, ended] of Map.groupBy(ends, (one) => one))
    assert.ok(ended.length <= 8, `${ended.length} in turn ${at}`)
  for (const { id } of sockets) sockets.remove(id)
})

test('a large message is sent a little at a time, even if the provider takes all of it', async () => {
  let turn = 0
  const next = (): void => void (turn++, setImmediate(next).unref())
  next()
  const sent: { turn: number; bytes: Buffer }[] = []
  const upstream = { writeLast: (bytes: Buffer) => (sent.push({ turn, bytes }), true) }
  const client = { pause() {}, resume() {}, discard() {} }
  const inspector = {
    owner: { account_id: 'sender', key_id: 'sender' },
    inspect: () => 'no',
    runSliced: (message: HeldMessage) => {
      while (message.step() === 'more');
      return Promise.resolve(true)
    },
  }
  const rows = { countUp() {} }
  const slot = { holdBytes: () => true, releaseBytes() {}, allowEviction() {}, forbidEviction() {} }
  const limits = { message: 24 * MB, grace: 1_000 }
  const fakes = [client, upstream, inspector, rows, slot, limits, {}]
  const side = Reflect.construct(ClientSide, fakes) as ClientSide
  const frame = frameOf(OPCODE.text, Buffer.alloc(8 * MB, 'x'), true)
  for (let at = 0; at < frame.length; at += 64 * 1024)
    side.onData(Buffer.from(frame.subarray(at, at + 64 * 1024)))
  await until(() => sent.reduce((bytes, one) => bytes + one.bytes.length, 0) === frame.length)
  assert.ok(Buffer.concat(sent.map(({ bytes }) => bytes)).equals(frame))
  for (const [, pieces = []] of Map.groupBy(sent, (one) => one.turn))
    assert.ok(pieces.length <= 6, `${pieces.length} pieces of 64 KB in a turn`)
})
