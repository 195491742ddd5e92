// Callers' connections over real sockets: what our own reader must do as Node's server does it, and
// how the two share a connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import type { RawHeaders } from '../../server/http1/header-fields.ts'
import type { ConnectionRouter } from '../../server/http1/connection-router.ts'
import { openRouter } from '../support/router.ts'
import { NodeExchange } from '../../server/http1/node-exchange.ts'
import { until } from '../support/until.ts'

/** What happened to a caller, in order. */
type Seen = { caller: HttpExchange; body: string; ended: boolean; gone: boolean; taken: boolean }

type Handle = (caller: HttpExchange, seen: Seen) => void

interface Rig {
  port: number
  front: ConnectionRouter
  seen: Seen[]
  /** Targets that Node's own server has served. */
  rest: string[]
  closed: Promise<unknown>
  close(): void
}

async function start(
  t: TestContext,
  handle: Handle,
  limits = { head: 10_000, keepAlive: 10_000 },
): Promise<Rig> {
  const seen: Seen[] = []
  const rest: string[] = []
  const take = (caller: HttpExchange): void => {
    const one: Seen = { caller, body: '', ended: false, gone: false, taken: false }
    seen.push(one)
    caller.watch({
      onDrain() {},
      onClose: () => (one.gone = true),
      onFinish: () => (one.taken = true),
    })
    handle(caller, one)
  }
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith('/proxy')) return take(new NodeExchange(incoming, outgoing))
    let body = ''
    incoming.on('data', (bytes) => (body += bytes))
    incoming.on('end', () => {
      rest.push(incoming.url!)
      outgoing.end(`node ${incoming.method} ${body}`)
    })
  })
  server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  const front = openRouter(server, take, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const closed = once(server, 'close')
  t.after(() => {
    front.destroyBusy()
    server.closeAllConnections()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    front,
    seen,
    rest,
    closed,
    close: () => void server.close(),
  }
}

/** Reads the whole body, then responds with it. */
const echo: Handle = (caller, seen) => {
  if (caller.body === null) return respond(caller, `${caller.method} ${caller.target}`)
  caller.writeContinue()
  read(caller, seen, () => respond(caller, seen.body))
}

function read(caller: HttpExchange, seen: Seen, end: () => void = () => {}): void {
  caller.body?.read({
    onData: (bytes) => (seen.body += bytes.toString('latin1')),
    onEnd() {
      seen.ended = true
      end()
    },
    onAborted: () => (seen.gone = true),
  })
}

function respond(
  caller: HttpExchange,
  body: string,
  headers: RawHeaders = ['Content-Length', String(body.length)],
  status = 200,
): void {
  caller.writeHead(status, 'OK', headers)
  caller.write(Buffer.from(body))
  caller.end()
  caller.flush()
}

/** A bare client that keeps all it receives. */
function dial(t: TestContext, port: number): Socket & { text: string } {
  const socket = Object.assign(connect({ port, host: '127.0.0.1', allowHalfOpen: true }), {
    text: '',
  })
  socket.on('error', () => {})
  socket.on('data', (bytes) => (socket.text += bytes.toString('latin1')))
  t.after(() => socket.destroy())
  return socket
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const get = (target: string, headers = ''): string =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const post = (
  target: string,
  body: string,
  headers = `Content-Length: ${body.length}\r\n`,
): string => `POST ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`

/** The responses in a text, all with a length. */
function responses(text: string): string[] {
  const found: string[] = []
  for (let rest = text; rest !== '';) {
    const [, head = '', length = ''] =
      /^([^]*?Content-Length: (\d+)[^]*?\r\n\r\n)/i.exec(rest) ?? []
    if (head === '' || rest.length < head.length + Number(length)) break
    found.push(rest.slice(head.length, head.length + Number(length)))
    rest = rest.slice(head.length + Number(length))
  }
  return found
}

test('pipelined requests are answered in order, however late each response is', async (t) => {
  const { port, seen } = await start(
    t,
    (caller) =>
      void setTimeout(() => respond(caller, caller.target), caller.target.endsWith('0') ? 30 : 1),
  )
  const socket = dial(t, port)
  socket.write([0, 1, 2, 3].map((i) => get(`/proxy?${i}`)).join(''))
  await until(() => responses(socket.text).length === 4)
  assert.deepEqual(responses(socket.text), ['/proxy?0', '/proxy?1', '/proxy?2', '/proxy?3'])
  assert.ok(seen.every(({ taken }) => taken))
})

test('a thousand requests in one piece are all answered', async (t) => {
  const { port } = await start(t, echo)
  const socket = dial(t, port)
  socket.write(Array.from({ length: 1_000 }, (_, i) => post('/proxy', `<${i}>`)).join(''))
  await until(() => responses(socket.text).length === 1_000)
  assert.deepEqual(
    responses(socket.text),
    Array.from({ length: 1_000 }, (_, i) => `<${i}>`),
  )
})

test('concurrent large bodies are read in turns, a few pieces in each turn of the event loop', async (t) => {
  const [size, callers, piece] = [8 * 1024 * 1024, 12, 64 * 1024]
  const inTurns: Map<HttpExchange, number>[] = [new Map()]
  const { port, seen } = await start(t, (caller, one) => {
    caller.body?.read({
      onData: (bytes) =>
        void inTurns.at(-1)!.set(caller, (inTurns.at(-1)!.get(caller) ?? 0) + bytes.length),
      onEnd() {
        one.ended = true
        respond(caller, 'read')
      },
      onAborted() {},
    })
  })
  const sockets = Array.from({ length: callers }, () => dial(t, port))
  for (const socket of sockets) socket.write(post('/proxy', '', `Content-Length: ${size}\r\n`))
  await until(() => seen.length === callers)
  let counting = true
  const count = (): void => {
    inTurns.push(new Map())
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  for (const socket of sockets) socket.write(Buffer.alloc(size))
  await until(() => sockets.every(({ text }) => responses(text)[0] === 'read'))
  counting = false
  const sums = inTurns.map((turn) => [...turn.values()].reduce((sum, bytes) => sum + bytes, 0))
  assert.equal(
    sums.reduce((sum, bytes) => sum + bytes, 0),
    callers * size,
  )
  // Each reads one piece before it waits, and what it had read when it was paused once it goes on.
  const most = Math.max(...sums) / piece
  assert.ok(most <= 2 * (callers + 8), `${most} pieces in one turn`)
  assert.ok(Math.max(...inTurns.flatMap((turn) => [...turn.values()])) <= 10 * piece, 'of one body')
})

test("connections are handed to Node's server a few in each turn of the event loop, and closed ones are not", async (t) => {
  const { port, rest } = await start(t, echo)
  const sockets = Array.from({ length: 60 }, () => dial(t, port))
  for (const socket of sockets) socket.write(get('/proxy'))
  await until(() => sockets.every(({ text }) => responses(text).length === 1))
  const inTurns: number[] = []
  let counted = 0
  const count = (): void => {
    inTurns.push(rest.length - counted)
    counted = rest.length
    if (counted < 60) setImmediate(count)
  }
  setImmediate(count)
  for (const socket of sockets) socket.write(get('/rest'))
  const lost = dial(t, port)
  lost.write(get('/lost'), () => lost.resetAndDestroy())
  await until(() => counted >= 60 && sockets.every(({ text }) => text.includes('node GET')))
  assert.ok(Math.max(...inTurns) <= 8, `${Math.max(...inTurns)} in one turn`)
})

test("a connection is handed from our reader to Node's server, wherever the bytes are split", async (t) => {
  const { port, rest, seen } = await start(t, echo)
  const text =
    post('/proxy?1', 'abc') +
    get('/proxy?2') +
    post('/other', 'defg') +
    post('/proxy?3', 'hi') +
    get('/last') +
    get('/proxy?4', 'Connection: close\r\n')
  const expected = ['abc', 'GET /proxy?2', 'node POST defg', 'hi', 'node GET ', 'GET /proxy?4']
  for (const size of [text.length, 1, 7, 50, 91]) {
    const socket = dial(t, port)
    socket.setNoDelay(true)
    for (let at = 0; at < text.length; at += size) {
      socket.write(text.slice(at, at + size))
      if (size < 50) await new Promise((resolve) => setImmediate(resolve))
    }
    await once(socket, 'end')
    assert.deepEqual(responses(socket.text), expected, `in pieces of ${size}`)
    socket.destroy()
  }
  assert.deepEqual([rest.length, seen.length], [10, 20])
})

test("a long body follows a connection to Node's server", async (t) => {
  const { port } = await start(t, echo)
  const socket = dial(t, port)
  const body = 'x'.repeat(3_000_000)
  socket.write(get('/proxy') + post('/other', body))
  await until(() => responses(socket.text).length === 2)
  assert.ok(responses(socket.text)[1] === `node POST ${body}`)
})

/**
 * TABLE of bytes that end a connection: what comes first, the bytes, the status and the code, and
 * whether they were for the proxy.
 */
const BAD: [name: string, bytes: string, status: number, code: string, proxied?: true][] = [
  [
    'two lengths',
    'POST /proxy HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
    'malformed_request',
    true,
  ],
  ['a bare line feed', 'GET /proxy HTTP/1.1\nHost: x\n\n', 400, 'malformed_request', true],
  [
    'a head without end',
    `GET /proxy HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(4_000)}`,
    431,
    'headers_too_large',
    true,
  ],
  [
    'an address that is too long',
    get(`/proxy?url=https://api.openai.com/v1/files?after=${'x'.repeat(20_000)}`),
    431,
    'headers_too_large',
    true,
  ],
  [
    'an address with a raw letter beyond ASCII',
    get('/proxy?url=https://api.openai.com/v1/files?after=\u00e9'),
    400,
    'malformed_request',
    true,
  ],
  [
    'a bad chunk',
    post('/proxy', '5\r\nhello\r\nzz\r\n', 'Transfer-Encoding: chunked\r\n'),
    400,
    'malformed_request',
    true,
  ],
  ['no HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
  ['no HTTP, behind a request', `${get('/proxy')}hello\r\n\r\n`, 400, 'malformed_request'],
  [
    "a bad request behind one of Node's",
    `${get('/other')}GET /proxy HTTP/1.1\r\nHost : x\r\n\r\n`,
    400,
    'malformed_request',
  ],
  [
    'a tunnel',
    'CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\n\r\n',
    405,
    'method_not_allowed',
  ],
  [
    'a head without end for Node',
    `GET /other HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(4_000)}`,
    431,
    'headers_too_large',
  ],
]

test('bytes that are not a request get a problem, and the connection is closed', async (t) => {
  const { port } = await start(t, echo)
  for (const [name, bytes, status, code, proxied] of BAD) {
    const socket = dial(t, port)
    socket.write(bytes, 'latin1')
    await once(socket, 'end')
    const last = socket.text.slice(socket.text.lastIndexOf('HTTP/1.1 4'))
    const [head = '', body = ''] = last.split('\r\n\r\n')
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `), name)
    assert.match(head, /\r\ncontent-type: application\/problem\+json\r\n/, name)
    assert.match(head, /\r\nconnection: close\r\n/, name)
    assert.equal(/\r\nx-proxy-error: (\S+)/.exec(head)?.[1], proxied && code, name)
    const problem = JSON.parse(body) as { code: string; request_id: string }
    assert.equal(problem.code, code, name)
    assert.equal(/\r\nx-request-id: (\S+)/.exec(head)?.[1], problem.request_id, name)
    socket.destroy()
  }
})

test('a CONNECT whose caller leaves at once affects nobody else', async (t) => {
  const { port } = await start(t, echo)
  const leavers = Array.from({ length: 50 }, () => dial(t, port).on('error', () => {}))
  await Promise.all(leavers.map((socket) => once(socket, 'connect')))
  for (const socket of leavers)
    socket.write('CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\n\r\n', () =>
      socket.resetAndDestroy(),
    )
  await until(() => leavers.every((socket) => socket.closed))
  const socket = dial(t, port)
  socket.write(get('/proxy', 'Connection: close\r\n'))
  await once(socket, 'end')
  assert.deepEqual(responses(socket.text), ['GET /proxy'])
})

test('a body that turns out to be malformed ends the request in progress', async (t) => {
  const { port, seen } = await start(t, (caller, one) => read(caller, one))
  const socket = dial(t, port)
  socket.write(post('/proxy', '5\r\nhello\r\n', 'Transfer-Encoding: chunked\r\n'))
  await until(() => seen[0]?.body === 'hello')
  socket.write('nonsense\r\n')
  await until(() => seen[0]!.gone)
  assert.equal(seen[0]!.caller.closed, true)
})

test('a slow head gets 408, and an unused connection may still be used', async (t) => {
  const { port } = await start(t, echo, { head: 100, keepAlive: 10_000 })
  const unused = dial(t, port)
  const slow = dial(t, port)
  slow.write('GET /proxy HTTP/1.1\r\nHost: x\r\nA: ')
  const timer = setInterval(() => slow.write('a'), 10)
  t.after(() => clearInterval(timer))
  await once(slow, 'end')
  assert.match(slow.text, /^HTTP\/1\.1 408 [^]*request_timeout/)
  unused.write(get('/proxy'))
  await until(() => unused.text !== '')
  assert.match(unused.text, /^HTTP\/1\.1 200 /)
  // The clock starts again with each request, and does not run while one is under way.
  const later = dial(t, port)
  later.write(get('/proxy'))
  await until(() => later.text !== '')
  later.write('GET /proxy HTTP')
  await once(later, 'end')
  assert.match(later.text, /HTTP\/1\.1 408 /)
})

test('an idle connection is closed after its announced keep-alive time', async (t) => {
  const { port } = await start(t, echo, { head: 10_000, keepAlive: 1_000 })
  const socket = dial(t, port)
  const unused = dial(t, port)
  socket.write(get('/proxy'))
  await Promise.all([once(socket, 'end'), once(unused, 'end')])
  assert.match(socket.text, /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\n/)
  assert.equal(unused.text, '')
})

test('a request in progress is not bound by the head and idle timeouts', async (t) => {
  const { port } = await start(t, (caller) => void setTimeout(() => respond(caller, 'late'), 500), {
    head: 100,
    keepAlive: 100,
  })
  const socket = dial(t, port)
  socket.write(get('/proxy'))
  await until(() => socket.text.endsWith('late'))
})

/**
 * TABLE of how a response is framed: request, status, headers of the response, what arrives, and
 * whether the connection lives on.
 */
const FRAMED: [
  name: string,
  request: string,
  status: number,
  headers: RawHeaders,
  arrives: RegExp,
  lives: boolean,
][] = [
  [
    'a length',
    get('/proxy'),
    200,
    ['Content-Length', '4'],
    /\r\nContent-Length: 4\r\nConnection: keep-alive\r\nKeep-Alive: timeout=10\r\n\r\nbody$/,
    true,
  ],
  [
    'chunks',
    get('/proxy'),
    200,
    [],
    /\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n[^]*\r\n\r\n4\r\nbody\r\n0\r\n\r\n$/,
    true,
  ],
  [
    'HEAD',
    'HEAD /proxy HTTP/1.1\r\nHost: x\r\n\r\n',
    200,
    ['Content-Length', '4'],
    /\r\nContent-Length: 4\r\nConnection: keep-alive\r\n[^]*\r\n\r\n$/,
    true,
  ],
  [
    'HEAD without a length',
    'HEAD /proxy HTTP/1.1\r\nHost: x\r\n\r\n',
    200,
    [],
    /^HTTP\/1\.1 200 OK\r\nConnection: keep-alive\r\n[^]*\r\n\r\n$/,
    true,
  ],
  [
    '204',
    get('/proxy'),
    204,
    [],
    /^HTTP\/1\.1 204 OK\r\nConnection: keep-alive\r\n[^]*\r\n\r\n$/,
    true,
  ],
  [
    '304',
    get('/proxy'),
    304,
    ['Content-Length', '4'],
    /\r\nContent-Length: 4\r\nConnection: keep-alive\r\n[^]*\r\n\r\n$/,
    true,
  ],
  [
    'Connection: close',
    get('/proxy', 'Connection: Close\r\n'),
    200,
    ['Content-Length', '4'],
    /\r\nConnection: close\r\n\r\nbody$/,
    false,
  ],
  [
    'HTTP/1.0',
    'GET /proxy HTTP/1.0\r\n\r\n',
    200,
    ['Content-Length', '4'],
    /\r\nConnection: close\r\n\r\nbody$/,
    false,
  ],
  [
    'HTTP/1.0 without a length',
    'GET /proxy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    200,
    [],
    /^HTTP\/1\.1 200 OK\r\nConnection: close\r\n\r\nbody$/,
    false,
  ],
  [
    'HTTP/1.0 that lives on',
    'GET /proxy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    200,
    ['Content-Length', '4'],
    /\r\nConnection: keep-alive\r\n[^]*\r\n\r\nbody$/,
    true,
  ],
]

test("a response is framed for its caller's HTTP version", async (t) => {
  let status = 200
  let headers: RawHeaders = []
  const { port, seen } = await start(t, (caller) => respond(caller, 'body', headers, status))
  for (const [name, request, code, fields, arrives, lives] of FRAMED) {
    status = code
    headers = fields
    const socket = dial(t, port)
    let ended = false
    socket.on('end', () => (ended = true))
    socket.write(request)
    await until(() => arrives.test(socket.text))
    const before = seen.length
    socket.write(request)
    if (lives) await until(() => seen.length === before + 1)
    else await until(() => ended)
    assert.equal(seen.length, lives ? before + 1 : before, name)
    socket.destroy()
  }
})

test('the head and body of a response are sent in one write', async (t) => {
  const { port } = await start(t, echo)
  const socket = dial(t, port)
  let pieces = 0
  socket.on('data', () => pieces++)
  for (let i = 1; i <= 20; i++) {
    socket.write(post('/proxy', 'x'.repeat(1_500)))
    await until(() => responses(socket.text).length === i)
  }
  assert.equal(pieces, 20)
})

test('responses of one turn of the event loop are written at its end, in order', async (t) => {
  const { port, seen } = await start(t, () => {})
  const sockets = [dial(t, port), dial(t, port), dial(t, port)]
  for (const [i, socket] of sockets.entries()) socket.write(get(`/proxy?${i}`))
  await until(() => seen.length === 3)
  for (const { caller } of seen) respond(caller, caller.target)
  assert.ok(seen.every(({ taken }) => !taken))
  const order: string[] = []
  for (const { caller } of seen)
    caller.watch({ onDrain() {}, onClose() {}, onFinish: () => order.push(caller.target) })
  await new Promise(setImmediate)
  assert.deepEqual(
    order,
    seen.map(({ caller }) => caller.target),
  )
  await until(() => sockets.every(({ text }, i) => text.endsWith(`/proxy?${i}`)))
})

test('a written response arrives although its request fails in the same turn', async (t) => {
  const { port } = await start(t, (caller) => respond(caller, 'early'))
  const socket = dial(t, port)
  // More than one read of the socket, and what is wrong stands in the last.
  socket.write(
    post(
      '/proxy',
      `${(150_000).toString(16)}\r\n${'x'.repeat(150_000)}\r\nnonsense\r\n`,
      'Transfer-Encoding: chunked\r\n',
    ),
  )
  await until(() => socket.readableEnded || socket.destroyed)
  assert.match(socket.text, /early$/)
})

test('a written response arrives although its caller half-closes in the same turn', async (t) => {
  const { port, seen } = await start(t, (caller) => {
    if (caller.target.endsWith('now')) respond(seen[0]!.caller, 'late')
  })
  const [waiting, trigger] = [dial(t, port), dial(t, port)]
  waiting.write(get('/proxy?wait'))
  await until(() => seen.length === 1 && !trigger.connecting)
  // Both are there when the server looks, in this order.
  trigger.write(get('/proxy?now'))
  waiting.end()
  await until(() => waiting.readableEnded || waiting.destroyed)
  assert.match(waiting.text, /late$/)
  assert.ok(seen[0]!.taken)
})

test('a caller that stops reading is noticed within a turn', async (t) => {
  let written = 0
  const { port } = await start(t, (caller) => {
    caller.writeHead(200, 'OK', [])
    do {
      caller.write(Buffer.alloc(64 * 1024))
      written++
    } while (caller.flush() && written < 1_000)
  })
  const socket = dial(t, port)
  socket.pause()
  socket.write(get('/proxy'))
  await until(() => written > 0)
  assert.ok(written < 1_000, `${written} pieces of 64 KB`)
})

test('100 Continue is sent when the body is wanted; a response without it closes the connection', async (t) => {
  const { port } = await start(t, (caller, seen) =>
    caller.target.endsWith('no') ? respond(caller, 'no') : echo(caller, seen),
  )
  const wanted = dial(t, port)
  wanted.write(post('/proxy', '', 'Expect: 100-continue\r\nContent-Length: 2\r\n'))
  await until(() => wanted.text === 'HTTP/1.1 100 Continue\r\n\r\n')
  wanted.write('ok')
  await until(() => wanted.text.endsWith('ok'))
  const refused = dial(t, port)
  refused.write(post('/proxy?no', '', 'Expect: 100-continue\r\nContent-Length: 2\r\n'))
  await once(refused, 'end')
  assert.match(
    refused.text,
    /^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno$/,
  )
})

test('an early response arrives during the upload, and the connection stays usable', async (t) => {
  const { port } = await start(t, (caller, seen) =>
    caller.target.endsWith('early') ? respond(caller, 'early') : echo(caller, seen),
  )
  const socket = dial(t, port)
  socket.write(post('/proxy?early', 'x', 'Content-Length: 3000000\r\n'))
  await until(() => socket.text.endsWith('early'))
  socket.write('x'.repeat(2_999_999))
  socket.write(get('/proxy?next'))
  await until(() => socket.text.endsWith('GET /proxy?next'))
})

test('an unread body exerts back-pressure on its caller', async (t) => {
  const { port, seen } = await start(t, () => {})
  const socket = dial(t, port)
  const length = 20_000_000
  socket.write(post('/proxy', '', `Content-Length: ${length}\r\n`))
  socket.write('y'.repeat(length))
  await until(() => seen.length === 1)
  let before = -1
  // The buffers between us fill up, and then nothing moves.
  while (before !== socket.bytesWritten - socket.writableLength) {
    before = socket.bytesWritten - socket.writableLength
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(socket.writableLength > 5_000_000, `${socket.writableLength} bytes wait`)
  read(seen[0]!.caller, seen[0]!)
  await until(() => seen[0]!.ended)
  assert.equal(seen[0]!.body.length, length)
})

const HALF = 'closing the sending side'
/** TABLE of ways to leave. */
const LEAVES: [name: string, leave: (socket: Socket) => void][] = [
  ['a reset', (socket) => void socket.resetAndDestroy()],
  ['a close', (socket) => void socket.destroy()],
  [HALF, (socket) => void socket.end()],
]

test('a disconnect is noticed while waiting, during the body and during the response', async (t) => {
  const { port, seen } = await start(t, (caller, one) => {
    if (caller.target.endsWith('body')) return read(caller, one)
    if (!caller.target.endsWith('response')) return
    caller.writeHead(200, 'OK', [])
    caller.write(Buffer.from('first'))
    caller.flush()
  })
  for (const [name, leave] of LEAVES) {
    for (const request of [
      get('/proxy?wait'),
      post('/proxy?body', 'x', 'Content-Length: 5\r\n'),
      get('/proxy?response'),
    ]) {
      // That is how a caller waits for its response, too.
      if (name === HALF && request.includes('wait')) continue
      const before = seen.length
      const socket = dial(t, port)
      socket.write(request)
      await until(() => seen.length === before + 1)
      if (request.includes('response')) await until(() => socket.text.includes('first'))
      leave(socket)
      await until(() => seen[before]!.gone)
      assert.equal(seen[before]!.caller.closed, true, name)
    }
  }
})

test('a half-closed caller gets all its responses, then the end of the connection', async (t) => {
  const { port, seen, front } = await start(t, (caller, one) => {
    if (caller.target.endsWith('later')) setImmediate(() => setImmediate(() => echo(caller, one)))
    else echo(caller, one)
  })
  /** TABLE of what is sent before the end, and the bodies of the responses. */
  const cases: [sent: string, bodies: string[]][] = [
    [get('/proxy?later'), ['GET /proxy?later']],
    [post('/proxy?later', 'body'), ['body']],
    [
      get('/proxy?later') + post('/proxy', 'b') + get('/proxy'),
      ['GET /proxy?later', 'b', 'GET /proxy'],
    ],
    [post('/proxy?later', '', 'Transfer-Encoding: chunked\r\n') + '1\r\na\r\n0\r\n\r\n', ['a']],
    // What is no whole request behind it, or for Node's server, gets no response.
    [`${get('/proxy?later')}GET /pro`, ['GET /proxy?later']],
    [get('/proxy?later') + get('/other'), ['GET /proxy?later']],
  ]
  for (const [sent, bodies] of cases) {
    const socket = dial(t, port)
    socket.end(sent)
    await once(socket, 'end')
    assert.deepEqual(responses(socket.text.replaceAll(CONTINUE, '')), bodies, sent)
  }
  // A request that ends within its body is none.
  const cut = dial(t, port)
  cut.end(post('/proxy?later', 'x', 'Content-Length: 5\r\n'))
  await once(cut, 'close')
  assert.equal(cut.text.replaceAll(CONTINUE, ''), '')
  assert.ok(seen.at(-1)!.caller.closed)
  front.closeAfterResponses(0)
})

test('an aborted response arrives as far as it was written and ends in a reset', async (t) => {
  const { port } = await start(t, (caller) => {
    caller.writeHead(200, 'OK', [])
    caller.write(Buffer.from('first'))
    caller.reset()
  })
  const socket = dial(t, port)
  socket.write(get('/proxy'))
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNRESET')
  assert.match(socket.text, /first\r\n$/)
})

test('on close, idle connections end immediately and others after their responses', async (t) => {
  const callers: HttpExchange[] = []
  const { port, front, closed, close } = await start(t, (caller, seen) =>
    caller.target.endsWith('slow') ? void callers.push(caller) : echo(caller, seen),
  )
  const idle = dial(t, port)
  const busy = dial(t, port)
  const silent = dial(t, port)
  idle.write(get('/proxy'))
  await until(() => idle.text !== '')
  busy.write(get('/proxy?slow') + get('/proxy?never'))
  await until(() => callers.length === 1)
  await until(() => !silent.connecting)
  close()
  front.closeAfterResponses(0)
  await Promise.all([once(idle, 'end'), once(silent, 'end')])
  assert.equal(busy.text, '')
  respond(callers[0]!, 'last')
  await once(busy, 'end')
  assert.match(busy.text, /Connection: close\r\n\r\nlast$/)
  for (const socket of [idle, busy, silent]) socket.end()
  await closed
})

test('both readers reset a truncated response, because HTTP/1.0 takes a normal close for its end', async (t) => {
  const { port, front } = await start(t, (caller) => {
    caller.writeHead(200, 'OK', [])
    caller.write(Buffer.from('a part'))
    caller.flush()
  })
  const cut = ['', 'GET /other HTTP/1.1\r\nHost: x\r\n\r\n'].map(async (before) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
    const ended = once(socket, 'close').catch((error: NodeJS.ErrnoException) => error.code)
    socket.write(`${before}GET /proxy HTTP/1.0\r\n\r\n`)
    await until(() => text.endsWith('a part'))
    return () => ended
  })
  const ends = await Promise.all(cut)
  front.destroyBusy()
  assert.deepEqual(await Promise.all(ends.map((end) => end())), ['ECONNRESET', 'ECONNRESET'])
})

test('100 Continue is sent before the response that it belongs to', async (t) => {
  const earlier: HttpExchange[] = []
  const { port } = await start(t, (caller, seen) =>
    caller.target.endsWith('first') ? void earlier.push(caller) : echo(caller, seen),
  )
  const socket = connect({ port, host: '127.0.0.1' })
  t.after(() => socket.destroy())
  let text = ''
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
  // The first request makes the connection one of Node's server.
  socket.write(
    'GET /other HTTP/1.1\r\nHost: x\r\n\r\nGET /proxy/first HTTP/1.1\r\nHost: x\r\n\r\n' +
      'POST /proxy/second HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
  )
  await until(() => earlier.length === 1 && text.includes('node GET'))
  // The second response is complete before the first has begun.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  respond(earlier[0]!, 'first')
  await until(() => text.endsWith('hello'))
  const [, behind = ''] = text.split(/(?<=\r\n\r\n)first/)
  assert.match(behind, /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 (?:(?!HTTP)[^])*hello$/)
})
