// Hundreds of responses that end or break off at the same moment end a few per turn of the event
// loop, and so do hundreds of unused connections.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'
import { createHttpClient, destinationOf } from '../../../server/http1/client/client.ts'
import { until } from '../../support/until.ts'

const REQUESTS = 200
/** Ended in one turn; what ends in one is at times the end of two. */
const ENDS = 2 * 8
/** Read in one turn, and likewise. */
const READS = 2 * 32
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
  { what: 'sends what is no chunk', act: (socket) => socket.write('HTTP?\r\n'), most: ENDS },
  { what: 'falls silent', act: () => {}, most: ENDS, idle: 1_000 },
  { what: 'completes all', act: (socket) => socket.write('0\r\n\r\n'), most: READS },
  {
    what: 'sends the end of all in pieces',
    act: (socket) => ['1\r\n', 'a\r\n0\r', '\n\r\n'].forEach((piece) => socket.write(piece)),
    most: READS,
  },
  { what: 'completes all and closes', act: (socket) => socket.end('0\r\n\r\n'), most: READS },
]

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
    const ended: number[] = []
    let [turn, heads, isOver] = [0, 0, false]
    t.after(() => (isOver = true))
    const count = (): void => void (ended[turn] = (ended[turn] ?? 0) + 1)
    for (let i = 0; i < REQUESTS; i++)
      client.send(
        { destination, method: 'POST', path: '/', headers: [], body: null },
        {
          onInterim() {},
          onHead: () => heads++,
          onBody() {},
          onPause() {},
          onEnd: count,
          onError: count,
        },
      )
    await until(() => heads === REQUESTS)
    const next = (): void => void (turn++, isOver || setImmediate(next))
    next()
    for (const socket of sockets) act(socket)
    await until(() => {
      now += idle / 4
      return ended.reduce((all, one) => all + one, 0) === REQUESTS
    })
    const found = Math.max(...ended.filter(Boolean))
    assert.ok(found <= most, `${found} ended in one turn`)
  })

test('connections that have been unused for too long are closed in turns', async (t) => {
  const closed: number[] = []
  let [turn, responses, isOver] = [0, 0, false]
  t.after(() => (isOver = true))
  const next = (): void => void (turn++, isOver || setImmediate(next))
  next()
  const upstream = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 204 None\r\n\r\n'))
    socket.on('end', () => (closed[turn] = (closed[turn] ?? 0) + 1))
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  t.after(() => upstream.close())
  let now = 0
  const [connect, firstByte, idle, keepAlive] = [60_000, 60_000, 1_000, 4_000]
  const limits = { connect, firstByte, idle, keepAlive, maxIdlePerDestination: REQUESTS }
  const client = createHttpClient(limits, () => now, createTurns)
  t.after(() => client.close())
  const { port } = upstream.address() as AddressInfo
  const destination = destinationOf(new URL(`http://127.0.0.1:${port}`))
  const ignore = (): void => {}
  const handler = { onInterim: ignore, onHead: ignore, onBody: ignore, onPause: ignore }
  for (let i = 0; i < REQUESTS; i++)
    client.send(
      { destination, method: 'POST', path: '/', headers: [], body: null },
      { ...handler, onEnd: () => responses++, onError: assert.fail },
    )
  await until(() => responses === REQUESTS)
  now += 60_000
  await until(() => closed.reduce((all, one) => all + one, 0) === REQUESTS)
  const most = Math.max(...closed.filter(Boolean))
  assert.ok(most <= ENDS, `${most} closed in one turn`)
})
