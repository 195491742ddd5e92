// A key whose sockets are closed for what their clients sent opens the next ones at a pace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../../server/proxy/gateway-error.ts'
import { HandshakePace } from '../../../server/proxy/socket/handshake-pace.ts'

/** A pace whose clock stands still, and the delays that it asked for. */
function openPace() {
  const clock = { now: 1_000 }
  const delays: number[] = []
  const pace = new HandshakePace(
    () => clock.now,
    async (ms) => void delays.push(ms),
  )
  const fault = (keyId: string, times: number): void => {
    for (let i = 0; i < times; i++) pace.countFault(keyId)
  }
  return { clock, delays, pace, fault }
}

test('a hundred faults delay nothing; after more, handshakes are paced', async () => {
  const { delays, pace, fault } = openPace()
  fault('key_a', 100)
  for (let i = 0; i < 3; i++) await pace.waitFor('key_a')
  assert.deepEqual(delays, [])
  fault('key_a', 1)
  for (let i = 0; i < 3; i++) await pace.waitFor('key_a')
  await pace.waitFor('key_other')
  assert.deepEqual(delays, [0, 50, 100])
})

test('when too many wait, the next one is refused, and another key’s is not', async () => {
  const { delays, pace, fault } = openPace()
  fault('key_a', 1_000)
  for (let i = 0; i <= 100; i++) await pace.waitFor('key_a')
  assert.equal(delays.at(-1), 5_000)
  await assert.rejects(pace.waitFor('key_a'), (error) => {
    assert.ok(error instanceof GatewayError)
    assert.equal(error.code, 'service_unavailable')
    assert.ok(error.headers.includes('Retry-After'))
    return true
  })
  await pace.waitFor('key_other')
  assert.equal(delays.length, 101)
})

test('faults are forgotten, however many there were', async () => {
  const { clock, delays, pace, fault } = openPace()
  fault('key_a', 100_000)
  clock.now += 5_001
  await pace.waitFor('key_a')
  assert.deepEqual(delays, [])
})
