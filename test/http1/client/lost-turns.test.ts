// Hundreds of responses that end or break off at the same moment end a few per turn of the event
// loop, and so do hundreds of unused connections; their sockets are closed a few per turn, too.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, Socket, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'
import { createHttpClient, destinationOf } from '../../../server/http1/client/client.ts'
import { openCounter, type TurnCounter } from '../../support/turn-counter.ts'
import { until } from '../../support/until.ts'

const REQUESTS = 200
/** Ended in one turn; what ends in one is at times the end of two. */
const ENDS = 2 * 8
/** Read in one turn, and likewise. */
const READS = 2 * 32
/** Closed in one turn, because their response was read or the upstream has closed them. */
const CLOSES = 2 * (32 + 16)
const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** What an upstream does to all responses at once. */
interface Cause {
  what: string
  act(socket: Socket): void
  /** How many responses end in one turn. */
  most: number
  /** The limit of the upstream's silence. */
  idle?: number
}

/** TABLE of causes. */
const CAUSES: readonly Cause[] = [
  { what: 'resets all', act: (socket) => socket.resetAndDestroy(), most: ENDS },
  { what: 'ends all too early', act: (socket) => socket.end(), most: ENDS },
  {
    what: 'sends what is no chunk',
    act: (socket) => socket.write('HTTP?\r\n'),
    most: ENDS,
  },
  { what: 'falls silent', act: () => {}, most: ENDS, idle: 1_000 },
  { what: 'completes all', act: (socket) => socket.write('0\r\n\r\n'), most: READS },
  {
    what: 'sends the end of all in pieces',
    act: (socket) => ['1\r\n', 'a\r\n0\r', '\n\r\n'].forEach((piece) => socket.write(piece)),
    most: READS,
  },
  {
    what: 'completes all and closes',
    act: (socket) => socket.end('0\r\n\r\n'),
    most: READS,
  },
]

/** Counts the sockets that are closed in each turn. @param others that are not counted */
function countCloses(t: TestContext, others: readonly Socket[]): TurnCounter {
  const closed = openCounter(t)
  const { _destroy: close } = Socket.prototype
  t.mock.method(
    Socket.prototype,
    '_destroy',
    function closeCounted(this: Socket, ...how: Parameters<Socket['_destroy']>): void {
      if (!others.includes(this)) closed.count()
      close.apply(this, how)
    },
  )
  return closed
}

for (const { what, act, most, idle = 60_000 } of CAUSES)
  test(`the responses of an upstream that ${what} end in turns`, async (t) => {
    const sockets: Socket[] = []
    const upstream = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {}).once('data', () => socket.write(HEAD))
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    t.after(() => (sockets.forEach((socket) => socket.destroy()), upstream.close()))
    let now = 0
    const limits = {
      connect: 60_000,
      firstByte: 60_000,
      idle,
      keepAlive: 4_000,
      maxIdlePerDestination: 2,
    }
    const client = createHttpClient(limits, () => now, createTurns)
    t.after(() => client.close())
    const { port } = upstream.address() as AddressInfo
    const destination = destinationOf(new URL(`http://127.0.0.1:${port}`))
    const ended = openCounter(t)
    const closed = countCloses(t, sockets)
    let heads = 0
    for (let i = 0; i < REQUESTS; i++)
      client.send(
        { destination, method: 'POST', path: '/', headers: [], body: null },
        {
          onInterim() {},
          onHead: () => heads++,
          onBody() {},
          onPause() {},
          onEnd: ended.count,
          onError: ended.count,
        },
      )
    await until(() => heads === REQUESTS)
    for (const socket of sockets) act(socket)
    await until(() => {
      now += idle / 4
      return ended.all() === REQUESTS
    })
    assert.ok(ended.most() <= most, `${ended.most()} ended in one turn`)
    assert.ok(closed.most() <= CLOSES, `${closed.most()} were closed in one turn`)
  })

/** TABLE of what closes all unused connections, and how many in one turn. */
const CLOSED: readonly { what: string; act(socket: Socket): void; late?: number }[] = [
  { what: 'have been unused for too long', act: () => {}, late: 60_000 },
  { what: 'the upstream resets', act: (socket) => socket.resetAndDestroy() },
  { what: 'the upstream closes', act: (socket) => socket.end() },
]

for (const { what, act, late = 0 } of CLOSED)
  test(`unused connections that ${what} are closed in turns, and none is used meanwhile`, async (t) => {
    const sockets: Socket[] = []
    const upstream = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 204 None\r\n\r\n'))
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    t.after(() => (sockets.forEach((socket) => socket.destroy()), upstream.close()))
    let now = 0
    const [connect, firstByte, idle, keepAlive] = [60_000, 60_000, 1_000, 4_000]
    const limits = { connect, firstByte, idle, keepAlive, maxIdlePerDestination: REQUESTS }
    const client = createHttpClient(limits, () => now, createTurns)
    t.after(() => client.close())
    const { port } = upstream.address() as AddressInfo
    const destination = destinationOf(new URL(`http://127.0.0.1:${port}`))
    let responses = 0
    const send = (): unknown =>
      client.send(
        { destination, method: 'POST', path: '/', headers: [], body: null },
        {
          onInterim() {},
          onHead() {},
          onBody() {},
          onPause() {},
          onEnd: () => responses++,
          onError: assert.fail,
        },
      )
    for (let i = 0; i < REQUESTS; i++) send()
    await until(() => responses === REQUESTS)
    const closed = countCloses(t, sockets)
    now += late
    for (const socket of sockets) act(socket)
    // A timer may let all of them close before it looks again.
    while (closed.all() === 0) await nextTurn()
    assert.ok(closed.all() < REQUESTS)
    send()
    await until(() => responses === REQUESTS + 1)
    await until(() => closed.all() === REQUESTS)
    assert.ok(closed.most() <= CLOSES, `${closed.most()} were closed in one turn`)
  })
