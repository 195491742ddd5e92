// Hundreds of connections that switch protocols at the same moment are handed over a few per turn
// of the event loop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'
import { createHttpClient, destinationOf } from '../../../server/http1/client/client.ts'
import { openCounter } from '../../support/turn-counter.ts'
import { until } from '../../support/until.ts'

const REQUESTS = 200
/** Handed over in one turn; what is handed over in one is at times that of two. */
const SWITCHES = 2 * 8
const LIMITS = {
  connect: 60_000,
  firstByte: 60_000,
  idle: 60_000,
  keepAlive: 4_000,
  maxIdlePerDestination: 2,
}

test('connections that switch at once are handed over in turns, but not if aborted', async (t) => {
  const asking: Socket[] = []
  let closed = 0
  const upstream = createServer((socket) => {
    socket.on('error', () => {}).on('close', () => closed++)
    socket.once('data', () => asking.push(socket))
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  t.after(() => (asking.forEach((socket) => socket.destroy()), upstream.close()))
  const client = createHttpClient(LIMITS, () => 0, createTurns)
  t.after(() => client.close())
  const { port } = upstream.address() as AddressInfo
  const destination = destinationOf(new URL(`http://127.0.0.1:${port}`))
  const switched = openCounter(t)
  const requests = Array.from({ length: REQUESTS }, () => {
    let isAborted = false
    const request = client.send(
      { destination, method: 'GET', path: '/', headers: [], body: null, upgrade: true },
      {
        onInterim() {},
        onHead: () => assert.fail(),
        onBody: () => assert.fail(),
        onPause() {},
        onEnd: () => assert.fail(),
        onError: assert.fail,
        onSwitch: (_, connection) => {
          assert.ok(!isAborted)
          switched.count()
          connection.destroy()
          // The last one has not had its turn.
          requests.at(-1)?.abort()
        },
      },
    )
    return { abort: () => ((isAborted = true), request.abort()) }
  })
  await until(() => asking.length === REQUESTS)
  for (const socket of asking)
    socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  await until(() => closed === REQUESTS)
  assert.equal(switched.all(), REQUESTS - 1)
  assert.ok(switched.most() <= SWITCHES, `${switched.most()} handed over in one turn`)
})
