// A caller that has only closed its sending side is told from one that has gone, over real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { whenGone } from '../../server/api/document-response.ts'

/**
 * A server that does not answer by itself; `send` sends a request, and gives its response and
 * whether its caller is gone.
 */
async function open(t: TestContext) {
  const server = Object.assign(createServer(), { httpAllowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const send = async (leave: (socket: Socket) => void, version = '1.1') => {
    const socket = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    }).on('error', () => {})
    socket.write(`POST / HTTP/${version}\r\nHost: x\r\nContent-Length: 0\r\n\r\n`)
    const [incoming, outgoing] = (await once(server, 'request')) as Parameters<typeof whenGone>
    const gone = whenGone(incoming, outgoing)
    leave(socket)
    return { socket, gone, outgoing }
  }
  return { send }
}

test('a vanished caller is noticed when a write fails, in less than a second', async (t) => {
  const { send } = await open(t)
  const noticed: number[] = []
  for (let i = 0; i < 3; i++) {
    const { gone } = await send((socket) => socket.destroy())
    const left = performance.now()
    await once(gone, 'abort')
    noticed.push(performance.now() - left)
    assert.match(String(gone.reason), /The connection was closed before the response was complete/)
  }
  // A busy machine may delay one.
  assert.ok(Math.min(...noticed) < 1000, `noticed after ${noticed.map(Math.round).join(', ')} ms`)
})

test('a half-closed caller gets its response, however long that takes', async (t) => {
  const { send } = await open(t)
  for (const version of ['1.1', '1.0']) {
    const { socket, gone, outgoing } = await send((socket) => socket.end(), version)
    // It is asked a second time only where it has heard the first: then it is there.
    let asked = ''
    if (version === '1.1')
      while (asked.length < 50) asked += String(((await once(socket, 'data')) as [Buffer])[0])
    assert.equal(asked, version === '1.1' ? 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2) : '')
    assert.equal(gone.aborted, false)
    outgoing.end('done')
    const rest = (await socket.toArray()) as Buffer[]
    assert.match(String(Buffer.concat(rest)), /^HTTP\/1\.1 200 OK\r\n[^]*done/)
    assert.equal(gone.aborted, false)
  }
})
