// Hundreds of callers that send a request, leave, or time out at the same moment are served a few
// per turn of the event loop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import type { ServerExchange } from '../../server/http1/server-exchange.ts'
import { openRouter } from '../support/router.ts'
import { openCounter } from '../support/turn-counter.ts'
import { until } from '../support/until.ts'

const CALLERS = 300
/** Parsed, ended, and closed in one turn; what ends in one is at times the end of two. */
const HEADS = 2 * 32
const ENDS = 2 * 8
const CLOSES = 2 * 16
/** Timeouts of a router that checks its connections ten times a second. */
const CHECKED_MS = 200
const REQUEST = 'GET /proxy/a HTTP/1.1\r\nHost: h\r\n\r\n'
const LAST = 'POST /proxy/last HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}'

/** Connects many callers to a router. */
async function connectCallers(
  t: TestContext,
  handle: (exchange: HttpExchange) => void,
  timeout: number,
  onClose = (): void => {},
) {
  const server = createServer()
  const router = openRouter(server, handle, { head: CHECKED_MS, keepAlive: CHECKED_MS })
  router.timeouts = { head: timeout, keepAlive: timeout }
  t.after(() => router.destroyBusy())
  let accepted = 0
  server.on('connection', (socket) => (accepted++, socket.on('close', onClose)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const callers = Array.from({ length: CALLERS }, () =>
    connect({ port, host: '127.0.0.1' }).on('error', () => {}),
  )
  t.after(() => callers.forEach((caller) => caller.destroy()))
  await until(() => accepted === CALLERS)
  return callers
}

test('many callers that send several requests in advance take turns', async (t) => {
  const heads = openCounter(t)
  const callers = await connectCallers(
    t,
    (exchange) => {
      heads.count()
      exchange.writeHead(200, 'OK', ['Content-Length', '0'])
      exchange.end()
      exchange.flush()
    },
    10_000,
  )
  for (const caller of callers) caller.resume().write(REQUEST.repeat(10))
  await until(() => heads.all() === CALLERS * 10)
  assert.ok(heads.most() <= HEADS, `${heads.most()} heads in one turn`)
})

test('of long heads, fewer are served in a turn', async (t) => {
  const heads = openCounter(t)
  const callers = await connectCallers(t, heads.count, 10_000)
  const long = REQUEST.replace('\r\n\r\n', `\r\nX-Long: ${'x'.repeat(12_000)}\r\n\r\n`)
  for (const caller of callers) caller.resume().write(long)
  await until(() => heads.all() === CALLERS)
  assert.ok(heads.most() <= HEADS / 5, `${heads.most()} heads in one turn`)
})

test('many callers that time out at once take turns', async (t) => {
  const closed = openCounter(t)
  await connectCallers(t, () => {}, 200, closed.count)
  await until(() => closed.all() === CALLERS)
  assert.ok(closed.most() <= ENDS, `${closed.most()} timed out in one turn`)
})

test('many half-closed callers are probed in turns', async (t) => {
  const probes = openCounter(t)
  const exchanges: HttpExchange[] = []
  const callers = await connectCallers(t, (exchange) => void exchanges.push(exchange), 60_000)
  for (const caller of callers) caller.end(REQUEST)
  let continues = 0
  for (const caller of callers)
    caller.on('data', (bytes) => (continues += bytes.toString('latin1').split('100').length - 1))
  await until(() => exchanges.length === CALLERS && continues >= CALLERS)
  for (const exchange of exchanges) {
    const { probe } = exchange as ServerExchange
    ;(exchange as ServerExchange).probe = () => (probes.count(), probe.call(exchange))
  }
  await until(() => probes.all() >= CALLERS)
  assert.ok(probes.most() <= ENDS, `${probes.most()} probed in one turn`)
})

test('many heads, and many callers that leave, take turns of the event loop', async (t) => {
  const exchanges: HttpExchange[] = []
  let turn = 0
  const [begun, ended]: number[][] = [[], []]
  const count = (turns: number[]): void => void (turns[turn] = (turns[turn] ?? 0) + 1)
  const server = createServer()
  const router = openRouter(
    server,
    (exchange) => {
      count(begun!)
      exchanges.push(exchange)
      const ignore = (): void => {}
      exchange.watch({
        onDrain: ignore,
        onFinish: ignore,
        onClose: () => count(ended!),
      })
    },
    { head: 10_000, keepAlive: 10_000 },
  )
  t.after(() => router.destroyBusy())
  const accepted: Socket[] = []
  server.on('connection', (socket) => accepted.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: CALLERS }, () =>
    connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {}),
  )
  await until(() => accepted.length === CALLERS)
  let isOver = false
  t.after(() => (isOver = true))
  const next = (): void => void (turn++, isOver || setImmediate(next))
  next()

  const sum = (turns: readonly number[] = []): number => turns.reduce((all, one) => all + one, 0)
  const most = (turns: readonly number[] = []): number => Math.max(...turns.filter(Boolean))
  for (const socket of sockets.slice(1)) socket.write(REQUEST)
  // A caller that ends its sending side while its head waits still gets its response.
  sockets[0]!.end(LAST)
  await until(() => sum(begun) === CALLERS)
  assert.ok(most(begun) <= HEADS, `${most(begun)} heads in one turn`)
  const last = exchanges.find(({ target }) => target === '/proxy/last')
  let answer = ''
  sockets[0]!.setEncoding('latin1').on('data', (text: string) => (answer += text))
  last?.writeHead(200, 'OK', ['Content-Length', '2'])
  last?.write(Buffer.from('ok'))
  last?.end()
  last?.flush()
  await until(() => answer.endsWith('\r\n\r\nok'))

  const closed: number[] = []
  for (const socket of accepted) socket.on('close', () => count(closed))
  for (const socket of sockets.slice(1)) socket.resetAndDestroy()
  await until(() => sum(ended) === CALLERS - 1)
  assert.ok(most(ended) <= ENDS, `${most(ended)} ended in one turn`)
  assert.ok(most(closed) <= CLOSES, `${most(closed)} closed in one turn`)
  assert.ok(exchanges.every(({ target, closed }) => closed || target === '/proxy/last'))
})
