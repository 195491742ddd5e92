// A server that starts resets no connection. One that shuts down takes each connection that it has
// accepted, also one that still waits in the kernel's queue, and closes none under a request: a
// balancer may be sending the next one on an idle connection at that very moment.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { test, type TestContext } from 'node:test'
import { ConnectionProblems } from '../../server/common/connection-errors.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { openLog } from '../../server/common/log.ts'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { listen, type RequestListeners, type RunningServer } from '../../server/http1/listen.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

const OURS = 'GET /proxy/a.example/ HTTP/1.1\r\nHost: h\r\n\r\n'
const OTHER = 'GET /other HTTP/1.1\r\nHost: h\r\n\r\n'

type Handle = NonNullable<RequestListeners['direct']>['handle']

const listenOn = (handle: Handle, port = 0): Promise<RunningServer> =>
  listen(
    {
      direct: { path: '/proxy', handle },
      other: (_incoming, outgoing) => void outgoing.end('other'),
    },
    {
      host: '127.0.0.1',
      port,
      headersTimeout: 10_000,
      maxConnections: 0,
      trustProxy: false,
      errors: new ConnectionProblems(openLog('silent'), Date.now),
      turns: createTurns,
      clock: Date.now,
    },
  )

function answer(exchange: HttpExchange): void {
  exchange.writeHead(200, 'OK', [])
  exchange.end()
  exchange.flush()
}

/** A connection, with what it has received since it was last emptied. */
function dial(t: TestContext, { port }: RunningServer) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  const dialled = { socket, received: '', closed: once(socket, 'close') }
  socket.on('data', (text: string) => (dialled.received += text))
  t.after(() => socket.destroy())
  return dialled
}

test('a response that began before the end of accepting is followed by one more on its connection', async (t) => {
  const exchanges: HttpExchange[] = []
  const server = await listenOn((exchange) => {
    exchanges.push(exchange)
    exchange.writeHead(200, 'OK', [])
    exchange.write(Buffer.from('part'))
    exchange.flush()
  })
  const caller = dial(t, server)
  const end = (at: number): void => {
    exchanges[at]?.end()
    exchanges[at]?.flush()
  }
  caller.socket.write(OURS)
  await until(() => caller.received.includes('part'))
  assert.match(caller.received, /^Connection: keep-alive\r$/m)
  const ended = server.close({ graceMs: 60_000, idleMs: 30_000 })
  await until(() => refuses(server))
  end(0)
  await until(() => caller.received.endsWith('0\r\n\r\n'))
  caller.received = ''
  caller.socket.write(OURS)
  await until(() => caller.received.includes('part'))
  assert.match(caller.received, /^Connection: close\r$/m)
  end(1)
  await Promise.all([caller.closed, ended])
  assert.ok(caller.received.endsWith('0\r\n\r\n'))
})

test('idle connections of both readers serve one more request, and close when none comes', async (t) => {
  const server = await listenOn(answer)
  const callers = [OURS, OTHER, OURS, OTHER].map((request) => {
    const caller = dial(t, server)
    caller.socket.write(request)
    return { ...caller, caller, request }
  })
  await until(() => callers.every(({ caller }) => caller.received !== ''))
  for (const { caller } of callers) caller.received = ''
  const idleMs = 1_000
  const start = performance.now()
  const ended = server.close({ graceMs: 60_000, idleMs })
  await until(() => refuses(server))
  const [used, unused] = [callers.slice(0, 2), callers.slice(2)]
  for (const { socket, request } of used) socket.write(request)
  await Promise.all([...callers.map(({ closed }) => closed), ended])
  assert.ok(performance.now() - start >= idleMs)
  for (const { caller } of used) assert.match(caller.received, /^Connection: close\r$/m)
  for (const { caller } of unused) assert.equal(caller.received, '')
})

test('connections that wait to be accepted when accepting ends are served', async (t) => {
  // More than one for each listening socket, of which a turn of the event loop accepts one.
  const COUNT = 60
  const server = await listenOn(answer)
  const callers = Array.from({ length: COUNT }, () => dial(t, server))
  for (const { socket } of callers) socket.write(OURS)
  // All of them are queued by the kernel before the event loop polls again.
  const ended = server.close({ graceMs: 60_000, idleMs: 30_000 })
  await until(() => callers.every(({ received }) => received.startsWith('HTTP/1.1 200')))
  for (const { socket } of callers) socket.destroy()
  await ended
})

test('a start on a given port closes no listening socket, and shares none with another server', async (t) => {
  const port = await freePort()
  const close = t.mock.method(Server.prototype, 'close')
  const server = await listenOn(answer, port)
  assert.equal(close.mock.callCount(), 0)
  await assert.rejects(listenOn(answer, port), { code: 'EADDRINUSE' })
  await server.close({ graceMs: 0 })
})

const refuses = ({ port }: RunningServer): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(true))
    socket.once('connect', () => socket.destroy() && resolve(false))
  })

test('an event loop that is never quiet delays the end of accepting by a second at most', async (t) => {
  const server = await listenOn(answer)
  let isBusy = true
  t.after(() => (isBusy = false))
  const work = (): void => {
    for (const start = performance.now(); performance.now() < start + 1;);
    if (isBusy) setImmediate(work)
  }
  work()
  const start = performance.now()
  await server.close({ graceMs: 0 })
  await server.close({ graceMs: 0 })
  // Each of the sockets would have waited for a thousand turns: eight seconds in all.
  assert.ok(performance.now() - start < 4_000)
})
