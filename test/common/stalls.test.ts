// A process may stand still: it was paused, or the machine was. Then timers run before what has
// arrived meanwhile is read, and no peer that has sent in time may be cut off by them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startRateMonitor } from '../../server/common/body-rate.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { createHttpClient, destinationOf } from '../../server/http1/client/client.ts'
import { bufferBody } from '../../server/proxy/inspect/buffer-body.ts'
import { RequestShares } from '../../server/proxy/admission/request-shares.ts'
import { OpenSockets, type OpenSocket } from '../../server/proxy/socket/open-sockets.ts'

/** Longer than all periods at which the timers of this file look. */
const STALL_MS = 300
const BODY = 'x'.repeat(8 * 1024)
const LONG_MS = 3_600_000
const NEVER = (): never => assert.fail('cut off')

/** A peer in a thread of its own. It sends the body on its last connection when it is told to. */
const PEER = `
  const { createServer } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  let socket
  const server = createServer((one) => {
    socket = one.on('error', () => {})
    one.once('data', () => one.write('HTTP/1.1 200 OK\\r\\nContent-Length: ${BODY.length + 1}\\r\\n\\r\\nx'))
  })
  parentPort.on('message', () => socket.write('${BODY}', () => {
    Atomics.store(workerData, 0, 1)
    Atomics.notify(workerData, 0)
  }))
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

/** A peer, and the function that stands still until it has sent the body, and a while longer. */
async function startPeer(t: TestContext): Promise<{ port: number; stall: () => void }> {
  const hasSent = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(PEER, { eval: true, workerData: hasSent })
  t.after(() => worker.terminate())
  const [port] = (await once(worker, 'message')) as [number]
  const stall = (): void => {
    worker.postMessage('send')
    Atomics.wait(hasSent, 0, 0)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS)
  }
  return { port, stall }
}

/** A connection to the peer, whose first bytes have been read. */
async function connectTo(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('a request')
  await once(socket, 'data')
  return socket
}

test('a response that continued during a stall is read, not timed out', async (t) => {
  const { port, stall } = await startPeer(t)
  let now = 0
  const limits = { connect: 80, firstByte: 80, idle: 80, keepAlive: 80, maxIdlePerDestination: 1 }
  const client = createHttpClient(limits, () => now, createTurns)
  t.after(() => client.close())
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  client.send(
    {
      destination: destinationOf(new URL(`http://127.0.0.1:${port}`)),
      method: 'GET',
      path: '/',
      headers: [],
      body: null,
      onBodyReleased: null,
    },
    {
      onInterim: NEVER,
      onHead: () => {},
      onBody: () => begin(),
      onPause: () => {},
      onEnd: () => resolve(),
      onError: reject,
    },
  )
  await begun
  // Until the limits have been looked at since; timers that are due in a stall run right after it.
  await sleep(50)
  await setImmediate()
  stall()
  now += LONG_MS
  await promise
})

test("a socket's timeout is checked after the bytes that arrived in a stall have been read", async (t) => {
  const { port, stall } = await startPeer(t)
  const socket = await connectTo(t, port)
  await using sockets = new OpenSockets()
  const seen: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const session = {
    check: () => {
      seen.push('check')
      resolve()
    },
  } as unknown as OpenSocket['session']
  sockets.add({ id: 'one', session } as OpenSocket)
  socket.on('data', () => seen.push('data'))
  stall()
  await promise
  assert.equal(seen[0], 'data')
  sockets.remove('one')
})

test('bodies that continued during a stall are not too slow', async (t) => {
  const { port, stall } = await startPeer(t)
  const socket = await connectTo(t, port)
  const monitor = startRateMonitor(STALL_MS / 4, NEVER)
  const shares = new RequestShares({ open: 10, held: 1e6, body: 1e6 })
  const slot = shares.acquire('key', 'account')
  assert.ok(slot)
  const body = {
    length: BODY.length,
    read: (sink: { onData(bytes: Buffer): void; onEnd(trailers: []): void } | null) => {
      socket.on('data', (bytes: Buffer) => {
        monitor.received(bytes.length)
        sink?.onData(bytes)
        if (socket.bytesRead >= BODY.length) sink?.onEnd([])
      })
    },
    pause: () => {},
    resume: () => {},
  }
  const reading = bufferBody(body, 1e6, { still: STALL_MS / 4, grace: LONG_MS }, slot)
  monitor.waiting()
  stall()
  const { ok } = await reading
  monitor.stop()
  assert.ok(ok)
})
