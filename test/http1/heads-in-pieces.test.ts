// A head that comes byte by byte is read slowly: whoever opens many connections cannot make each
// byte cost as much as a request.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { openRouter } from '../support/router.ts'

const CONNECTIONS = 50
const ROUNDS = 60

test('many callers that trickle bytes are read in turns and finally get their responses', async (t) => {
  const server = createServer()
  t.after(() => server.close())
  openRouter(
    server,
    (caller) => (caller.writeHead(204, 'No Content', []), caller.end(), caller.flush()),
    { head: 60_000, keepAlive: 60_000 },
  )
  let reads = 0
  server.on('connection', (socket: Socket) => socket.on('data', () => reads++))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: CONNECTIONS }, () =>
    connect({ port, host: '127.0.0.1', noDelay: true }),
  )
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  for (const socket of sockets) socket.write('GET /proxy HTTP/1.1\r\nHost: x\r\nX-Long: ')
  let ticks = 0
  for (; ticks < ROUNDS; ticks++) {
    for (const socket of sockets) socket.write('x')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.ok(reads < (CONNECTIONS * ROUNDS) / 2, `${reads} reads of ${CONNECTIONS * ROUNDS} pieces`)
  const responses = sockets.map(async (socket) => String((await once(socket, 'data'))[0]))
  for (const socket of sockets) socket.write('\r\n\r\n')
  for (const response of await Promise.all(responses)) assert.match(response, /^HTTP\/1\.1 204 /)
})
