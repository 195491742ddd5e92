// The rest of a request that has got an early response: it is read slowly, and all such rests
// together have one small share of the loop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { mock, test, type TestContext } from 'node:test'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { openRouter } from '../support/router.ts'
import { NodeExchange } from '../../server/http1/node-exchange.ts'

// For all of the file: the drain of the process has one timer.
mock.timers.enable({ apis: ['setTimeout'] })

const PIECE = 64 * 1024
/** What is read at once, with what the socket takes in before and after it is paused. */
const AT_ONCE = 128 * 1024 + 3 * PIECE
const TICK_MS = 20
const CALLERS = 24

/** TABLE of who reads a request, and how its response begins. */
const DOORS = [
  { name: 'our reader', target: '/proxy', framing: 'length' },
  { name: 'our reader, in chunks', target: '/proxy', framing: 'chunks' },
  { name: "Node's server", target: '/other', framing: 'length' },
  { name: "Node's server, in chunks", target: '/other', framing: 'chunks' },
] as const

/**
 * Responds to every request at once. @returns the sockets of the server's side, which count what
 * they have read
 */
async function start(t: TestContext): Promise<{ port: number; sockets: Socket[] }> {
  const refuse = (caller: HttpExchange): void => {
    caller.writeHead(401, 'Unauthorized', ['Content-Length', '2'])
    caller.write(Buffer.from('no'))
    caller.end()
    caller.flush()
  }
  const sockets: Socket[] = []
  const server = createServer((incoming, outgoing) => refuse(new NodeExchange(incoming, outgoing)))
  const front = openRouter(server, refuse, { head: 10_000, keepAlive: 10_000 })
  server.on('connection', (socket: Socket) => void sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    front.destroyBusy()
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

/** A client that sends a large body, whatever it hears. */
function upload(
  t: TestContext,
  port: number,
  target: string,
  framing: 'length' | 'chunks',
  size: number,
): Socket & { text: string } {
  const socket = Object.assign(connect(port, '127.0.0.1'), { text: '' })
  t.after(() => socket.destroy())
  socket.on('error', () => {}).on('data', (bytes) => (socket.text += bytes.toString('latin1')))
  const head = framing === 'length' ? `Content-Length: ${size}` : 'Transfer-Encoding: chunked'
  socket.write(`POST ${target} HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
  if (framing === 'chunks') socket.write(`${size.toString(16)}\r\n`)
  socket.write(Buffer.alloc(size))
  if (framing === 'chunks') socket.write('\r\n0\r\n\r\n')
  return socket
}

/** Lets the sockets of both sides do what they can. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate)
}

const sum = (sockets: readonly Socket[]): number =>
  sockets.reduce((all, { bytesRead }) => all + bytesRead, 0)
const hasResponse = ({ text }: { text: string }): boolean =>
  text.includes(' 401 ') && text.endsWith('no')

for (const { name, target, framing } of DOORS) {
  test(`refused bodies are drained a little immediately, then slowly in turns: ${name}`, async (t) => {
    const { port, sockets } = await start(t)
    const clients = Array.from({ length: CALLERS }, () =>
      upload(t, port, target, framing, 60 * 1024 * 1024),
    )
    while (!clients.every(hasResponse)) await turns(1)
    await turns(200)
    assert.equal(sockets.length, CALLERS)
    for (const { bytesRead } of sockets)
      assert.ok(bytesRead <= AT_ONCE, `${bytesRead} bytes at once`)
    const before = sum(sockets)
    for (let i = 0; i < 10; i++) {
      mock.timers.tick(TICK_MS)
      await turns(20)
    }
    const pieces = (sum(sockets) - before) / PIECE
    assert.ok(pieces > 80 && pieces <= 10 * 16 + CALLERS, `${pieces} pieces in ten ticks`)
    // Who has left is forgotten, also while nobody reads its rest.
    for (const client of clients) client.destroy()
    while (!sockets.every(({ destroyed }) => destroyed)) {
      mock.timers.tick(TICK_MS)
      await turns(1)
    }
  })

  test(`a connection stays usable once a refused body is drained: ${name}`, async (t) => {
    const { port, sockets } = await start(t)
    const client = upload(t, port, target, framing, 4 * 1024 * 1024)
    client.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    while (client.text.split(' 401 ').length < 3) {
      mock.timers.tick(TICK_MS)
      await turns(2)
    }
    assert.equal(sockets.length, 1)
  })
}

test('data after an invalid request is drained slowly', async (t) => {
  const { port, sockets } = await start(t)
  const client = upload(t, port, '/proxy HTTP/1.1\r\nbad line\r\nx:', 'length', 60 * 1024 * 1024)
  while (!client.text.includes(' 400 ')) await turns(1)
  await turns(200)
  assert.ok(sum(sockets) <= AT_ONCE, `${sum(sockets)} bytes`)
})
