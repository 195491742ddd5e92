// One address cannot take all connections; behind a trusted proxy, one client of it cannot.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { networkPrefix, readClient } from '../../server/common/client-info.ts'
import { AddressLimiter } from '../../server/http1/address-limits.ts'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { listen, type RequestListeners, type RunningServer } from '../../server/http1/listen.ts'
import { NodeExchange } from '../../server/http1/node-exchange.ts'
import { ConnectionProblems } from '../../server/common/connection-errors.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { openLog } from '../../server/common/log.ts'
import { startServer } from '../support/harness.ts'
import { until } from '../support/until.ts'

interface Caller {
  readonly socket: Socket
  text(): string
}

function dial(t: TestContext, port: number, bytes = '', localAddress = '127.0.0.1'): Caller {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  let text = ''
  socket.on('data', (piece: Buffer) => (text += piece.toString('latin1'))).on('error', () => {})
  if (bytes !== '') socket.write(bytes)
  t.after(() => socket.destroy())
  return { socket, text: () => text }
}

const LIVE = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
const TURNED_AWAY = /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*"code":"too_many_connections"/i

test('connections per address are limited, whatever they send', async (t) => {
  const server = await startServer(t, {
    HOST: '127.0.0.1',
    TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '5',
  })
  // Those that Node's server has taken over count too.
  const served = [0, 1].map(() => dial(t, server.port, LIVE))
  await until(() => served.every((caller) => caller.text().includes(' 200 ')))
  const silent = [0, 1, 2].map(() => dial(t, server.port))
  await Promise.all(silent.map(({ socket }) => once(socket, 'connect')))
  // The port has several listening sockets, so the sixth may be accepted before the silent ones.
  await until(async () => {
    const sixth = dial(t, server.port, LIVE)
    await until(() => sixth.text() !== '')
    if (sixth.text().startsWith('HTTP/1.1 503 ')) await until(() => sixth.socket.closed)
    else sixth.socket.destroy()
    return TURNED_AWAY.test(sixth.text())
  })
  // The limit is of one address, and no longer than its connections.
  const elsewhere = dial(t, server.port, LIVE, '127.0.0.2')
  await until(() => elsewhere.text().includes(' 200 '))
  assert.match(elsewhere.text(), /^HTTP\/1\.1 200 /)
  served[0]!.socket.destroy()
  silent[0]!.socket.destroy()
  await until(async () => {
    const next = dial(t, server.port, LIVE)
    await until(() => next.text() !== '')
    return next.text().startsWith('HTTP/1.1 200 ')
  })
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  assert.match(metrics, /^tollmark_connections_turned_away_total [1-9]/m)
})

/** Listens; behind a trusted proxy, an address may have two requests at the same time. */
async function startListening(
  t: TestContext,
  listeners: RequestListeners,
  trustProxy: boolean,
): Promise<RunningServer> {
  const listening = await listen(listeners, {
    host: '127.0.0.1',
    port: 0,
    headersTimeout: 10_000,
    maxConnections: trustProxy ? 2 : 0,
    trustProxy,
    errors: new ConnectionProblems(openLog('silent'), Date.now),
    turns: createTurns,
    clock: Date.now,
  })
  t.after(() => listening.close({ graceMs: 0 }))
  return listening
}

/** 200 connections of one address, and then one of another. */
const DIAL_ALL = `
  const { connect } = require('node:net')
  const { port, bytes, sent } = require('node:worker_threads').workerData
  let left = 201
  const written = () => --left === 0 && Atomics.store(sent, 0, 1) && Atomics.notify(sent, 0)
  for (let i = 0; i < 201; i++) connect({ port, localAddress: i < 200 ? '127.0.0.1' : '127.0.0.2' }).on('error', () => {}).write(bytes, written)
`

test('a connection is served before a flood of connections from another address', async (t) => {
  const served: string[] = []
  const doors = {
    direct: { path: '/proxy', handle: () => {} },
    other: (incoming: IncomingMessage, outgoing: ServerResponse) => {
      served.push(incoming.socket.remoteAddress ?? '')
      outgoing.end()
    },
  }
  const { port } = await startListening(t, doors, false)
  // All of them have been sent before the first is accepted.
  const sent = new Int32Array(new SharedArrayBuffer(4))
  const callers = new Worker(DIAL_ALL, { eval: true, workerData: { port, bytes: LIVE, sent } })
  t.after(() => callers.terminate())
  Atomics.wait(sent, 0, 0, 10_000)
  await until(() => served.length === 201)
  const place = served.indexOf('127.0.0.2')
  // In the order of arrival it would be served after about 190.
  assert.ok(place < 175, `it was served after ${place} others`)
})

test('behind a trusted proxy requests are counted, by X-Forwarded-For', async (t) => {
  const server = await startServer(t, {
    HOST: '127.0.0.1',
    TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '2',
    TOLLMARK_TRUST_PROXY: 'true',
  })
  const upload = (path: string, from: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1, ${from}\r\nContent-Length: 10\r\n\r\n{`
  // Connections do not count: all of them are the proxy's.
  const idle = Array.from({ length: 10 }, () => dial(t, server.port, LIVE))
  await until(() => idle.every((caller) => caller.text().includes(' 200 ')))
  // Requests of one client that are under way, at either door.
  const first = [0, 1].map(() => dial(t, server.port, upload('/api/v1/session', '192.0.2.7')))
  await until(async () => {
    const third = dial(t, server.port, `${LIVE.slice(0, -2)}X-Forwarded-For: 192.0.2.7\r\n\r\n`)
    await until(() => third.text() !== '')
    return TURNED_AWAY.test(third.text())
  })
  const proxied = dial(
    t,
    server.port,
    upload('/proxy?url=https://api.openai.com/v1/models', '192.0.2.7'),
  )
  await until(() => proxied.text() !== '')
  assert.match(proxied.text(), TURNED_AWAY)
  const other = dial(t, server.port, `${LIVE.slice(0, -2)}X-Forwarded-For: 192.0.2.8\r\n\r\n`)
  await until(() => other.text() !== '')
  assert.match(other.text(), /^HTTP\/1\.1 200 /)
  for (const { socket } of first) socket.destroy()
  await until(async () => {
    const again = dial(t, server.port, `${LIVE.slice(0, -2)}X-Forwarded-For: 192.0.2.7\r\n\r\n`)
    await until(() => again.text() !== '')
    return again.text().startsWith('HTTP/1.1 200 ')
  })
})

test('a finished request frees its slot for the next one on its connection', async (t) => {
  const server = await startServer(t, {
    HOST: '127.0.0.1',
    TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '1',
    TOLLMARK_TRUST_PROXY: 'true',
  })
  const request = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n`
  const proxied = request('/proxy?url=https://api.openai.com/v1/models')
  const caller = dial(t, server.port)
  const statuses = () =>
    [...caller.text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
  const all = [proxied, proxied, request('/livez'), proxied, request('/livez')]
  for (const [i, bytes] of all.entries()) {
    caller.socket.write(bytes)
    await until(() => statuses().length > i)
  }
  assert.deepEqual(statuses(), [401, 401, 200, 401, 200])
})

test('a request frees its slot however its connection is released', async (t) => {
  const handle = (exchange: HttpExchange): void => {
    exchange.watch({ onDrain() {}, onFinish() {}, onClose() {} })
    if (exchange.target.endsWith('large')) {
      exchange.writeHead(200, 'OK', ['Content-Length', '300000'])
      exchange.write(Buffer.alloc(300_000))
      exchange.end()
      return void exchange.flush()
    }
    if (exchange.body !== null)
      return exchange.body.read({ onData() {}, onEnd() {}, onAborted() {} })
    const raw = exchange.target.endsWith('open')
      ? exchange.switchProtocols(['Connection', 'Upgrade', 'Upgrade', 'websocket'])
      : null
    if (raw !== null)
      return raw.read({
        onData() {},
        onDrain() {},
        onEnd: () => raw.end(),
        onShutdown() {},
        onClose() {},
      })
    exchange.writeHead(400, 'No', ['Content-Length', '0'])
    exchange.end()
    exchange.flush()
  }
  const other = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (incoming.url?.startsWith('/proxy') === true)
      return handle(new NodeExchange(incoming, outgoing))
    if (incoming.url !== '/never') outgoing.end()
  }
  const { port } = await startListening(t, { direct: { path: '/proxy', handle }, other }, true)
  const asks = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\n${more}\r\n`
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  for (const [after, bytes, response] of [
    [true, asks('/proxy/refused', upgrade), / 400 /],
    [true, asks('/proxy/open', upgrade), / 101 /],
    // Node's parser reports no errors behind a request that asks for another protocol.
    [
      true,
      asks('/proxy/body', 'Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n') +
        '2\r\nhe\r\n0\r\nContent-Length: 3\r\n\r\n',
      / 200 /,
    ],
    // The response has begun when the body turns out to be malformed.
    [false, asks('/proxy/large', 'Transfer-Encoding: chunked\r\n') + '2\r\nab\r\nzz\r\n', /^$/],
    // Nothing tells the second request that its connection is closed but we.
    [false, asks('/never') + asks('/never') + 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', /^$/],
  ] as const)
    for (let i = 0; i < 3; i++) {
      const caller = dial(t, port, after ? asks('/live') : bytes)
      if (after) {
        await until(() => caller.text().includes(' 200 '))
        caller.socket.write(bytes)
        await until(() => response.test(caller.text()))
        caller.socket.end()
      }
      await until(() => caller.socket.closed)
      const next = dial(t, port, asks('/live'))
      await until(() => next.text().includes(' 200 '))
      next.socket.destroy()
    }
})

test('X-Forwarded-For counts only from a trusted proxy, and only the address that proxy added', () => {
  const client = (trusted: boolean, forwarded: string) =>
    readClient(
      {
        headers: {
          host: 'a.test',
          'x-forwarded-for': forwarded,
          'x-forwarded-proto': 'https',
          'x-forwarded-host': 'b.test',
        },
        socket: { remoteAddress: '192.0.2.1' },
      } as unknown as IncomingMessage,
      trusted,
    )
  for (const forwarded of ['', '127.0.0.1', '203.0.113.9, 198.51.100.7', '[2001:db8::1]:5'])
    assert.deepEqual(
      client(false, forwarded),
      { origin: 'http://a.test', secure: false, address: '192.0.2.1' },
      forwarded,
    )
  assert.deepEqual(client(true, '127.0.0.1, 198.51.100.7'), {
    origin: 'https://b.test',
    secure: true,
    address: '198.51.100.7',
  })
  assert.equal(client(true, '').address, '192.0.2.1')
  assert.equal(new AddressLimiter(1, false).countsRequests, false)
})

test('an IPv4 address counts as one in each of its IPv6 spellings', () => {
  for (const written of [
    '::ffff:198.51.100.7',
    '::FFFF:c633:6407',
    '0:0:0:0:0:ffff:c633:6407',
    '0000:0000:0000:0000:0000:ffff:198.51.100.7',
    '[::ffff:c633:6407]:443',
  ])
    assert.equal(networkPrefix(written), '198.51.100.7', written)
  assert.equal(networkPrefix('::fffe:c633:6407'), '0:0:0:0::/64')
})

test('IPv6 addresses count by /64 network', () => {
  const addresses = new AddressLimiter(1, true)
  const accept = (address: string) => addresses.acceptRequest(['X-Forwarded-For', address])
  const leave = accept('2001:db8:1:2::1')
  assert.ok(leave)
  assert.equal(accept('[2001:DB8:1:2:ffff::9]:443'), null)
  assert.ok(accept('2001:db8:1:3::1'))
  leave()
  leave()
  assert.ok(accept('2001:db8:1:2::2'))
  assert.equal(addresses.rejected, 1)
  assert.equal(new AddressLimiter(0, true).countsRequests, false)
})
